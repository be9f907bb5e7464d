package outdir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Write brings dir to the tree and says what it did. Dir is made when missing and
// may be a symbolic link to a directory. Writing the same tree again changes
// nothing, modification times included.
//
// A *RefusedError, listing every file that is not ours, comes before anything is
// written; force overwrites plain files of others, nothing else. Any other error
// while staging leaves every old file whole. An error of the renames after that
// says how many files were already replaced, each whole.
func (t Tree) Write(dir string, force bool) (Report, error) {
	targets, err := t.targets()
	if err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Report{}, fmt.Errorf("making the output directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("opening the output directory: %w", err)
	}
	defer root.Close()
	unlock, alone := lock(dir)
	defer unlock()
	return t.write(rooted{root}, dir, targets, force, alone)
}

// write is Write on an open directory. Alone says that no other writer can be at
// work, so that a temporary file is one that a killed writer left.
func (t Tree) write(d disk, dir string, targets []target, force, alone bool) (Report, error) {
	s, err := t.look(d, targets, force)
	if err != nil {
		return Report{}, err
	}
	if len(s.refusals) > 0 {
		return Report{}, &RefusedError{Dir: dir, Refusals: s.refusals}
	}
	if alone {
		s.sweep(d)
	}
	if !s.report.Changed() {
		return s.report, nil
	}
	stage := stage{disk: d}
	if err := stage.fill(s); err != nil {
		stage.abandon()
		return Report{}, fmt.Errorf("%w: nothing was changed", err)
	}
	if done, err := stage.commit(s); err != nil {
		stage.abandon()
		return Report{}, fmt.Errorf("%w: %d of %d changes were made, run it again", err, done, len(s.changes))
	}
	return s.report, nil
}

// staged is a temporary file that waits for its rename.
type staged struct{ temp, name string }

// stage is all that one write has put on the disk and not yet made visible.
type stage struct {
	disk  disk
	files []staged
	// dirs were made, parents first.
	dirs []string
}

// fill writes every new content beside its target.
func (st *stage) fill(s survey) error {
	for _, dir := range s.missing {
		if err := st.disk.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("staging: %w", err)
		}
		st.dirs = append(st.dirs, dir)
	}
	for _, c := range s.changes {
		if c.stale {
			continue
		}
		temp := tempFor(c.Path)
		st.files = append(st.files, staged{temp, c.Path})
		if err := st.disk.Create(temp, c.mode(), c.stamped); err != nil {
			return fmt.Errorf("staging %s: %w", c.Path, err)
		}
	}
	return nil
}

// commit renames what is staged, then removes what is stale, and says how many of
// the changes it made.
func (st *stage) commit(s survey) (done int, err error) {
	for len(st.files) > 0 {
		f := st.files[0]
		if err := st.disk.Rename(f.temp, f.name); err != nil {
			return done, fmt.Errorf("replacing %s: %w", f.name, err)
		}
		st.files = st.files[1:]
		done++
	}
	st.dirs = nil
	for _, c := range s.changes {
		if !c.stale {
			continue
		}
		if err := st.disk.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("removing %s: %w", c.Path, err)
		}
		done++
		// Only an empty directory goes, and one that stays is no fault.
		_ = st.disk.Remove(path.Dir(c.Path))
	}
	return done, nil
}

// abandon takes away what is staged. It does what it can: the error that led here
// is the one to report, and the next write sweeps up.
func (st *stage) abandon() {
	for _, f := range st.files {
		_ = st.disk.Remove(f.temp)
	}
	for i := len(st.dirs) - 1; i >= 0; i-- {
		_ = st.disk.Remove(st.dirs[i])
	}
}

// sweep removes the temporary files of a writer that was killed. What it cannot
// remove does no harm.
func (s *survey) sweep(d disk) {
	for _, dir := range s.present {
		entries, err := d.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if isTemp(entry.Name()) && entry.Type().IsRegular() {
				_ = d.Remove(path.Join(dir, entry.Name()))
			}
		}
	}
}

// The name of a temporary file: hidden, ours, unique for each writer.
const (
	tempPrefix = ".homeward-"
	tempSuffix = ".tmp"
)

// tempFor names a temporary file beside name, so that the rename stays on one
// file system. The name does not grow with the target's, which may be as long as
// the file system allows.
func tempFor(name string) string {
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails, see crypto/rand
	return path.Join(path.Dir(name), tempPrefix+hex.EncodeToString(unique[:])+tempSuffix)
}

func isTemp(base string) bool {
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix)
}
