package outdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	udiff "github.com/aymanbagabas/go-udiff"
)

// noFile is how a unified diff names the other side of a new or removed file.
const noFile = "/dev/null"

// Diff prints on w what Write would change, as a unified diff with the paths of
// the tree, and says what would happen. It writes nothing else, and fails where
// Write would refuse.
//
// The content of secret files is never printed, old or new. Files in which only
// the header's plan hash changes are counted in one line at the end.
func (t Tree) Diff(w io.Writer, dir string, force bool) (Report, error) {
	targets, err := t.targets()
	if err != nil {
		return Report{}, err
	}
	d, done, err := openForReading(dir)
	if err != nil {
		return Report{}, err
	}
	defer done()
	s, err := t.look(d, targets, force)
	if err != nil {
		return Report{}, err
	}
	if len(s.refusals) > 0 {
		return Report{}, &RefusedError{Dir: dir, Refusals: s.refusals}
	}
	return s.report, s.print(w)
}

func openForReading(dir string) (disk, func(), error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent{}, func() {}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("opening the output directory: %w", err)
	}
	return rooted{root}, func() { _ = root.Close() }, nil
}

// absent is the disk below a directory that is not there; a diff only reads.
type absent struct{ disk }

func (absent) Lstat(string) (fs.FileInfo, error)     { return nil, fs.ErrNotExist }
func (absent) ReadFile(string) ([]byte, error)       { return nil, fs.ErrNotExist }
func (absent) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

// print writes the differences in the order of the paths.
func (s survey) print(w io.Writer) error {
	hashOnly := 0
	for _, c := range s.changes {
		text := c.diff()
		if text == "" {
			hashOnly++
			continue
		}
		if _, err := io.WriteString(w, text); err != nil {
			return fmt.Errorf("writing the difference: %w", err)
		}
	}
	if hashOnly > 0 {
		if _, err := fmt.Fprintf(w, "Only the plan's hash in the header differs: %d files\n", hashOnly); err != nil {
			return fmt.Errorf("writing the difference: %w", err)
		}
	}
	return nil
}

// diff is the text for one file, empty when only the header differs.
func (c change) diff() string {
	from, to := path.Join("a", c.Path), path.Join("b", c.Path)
	switch {
	case c.stale:
		to = noFile
	case !c.exists:
		from = noFile
	}
	if c.restamps() {
		return ""
	}
	if c.hidden() {
		return fmt.Sprintf("Secret files %s and %s differ\n", from, to)
	}
	if c.exists && !c.stale && bytes.Equal(c.old, c.stamped) {
		return fmt.Sprintf("Mode of %s differs: %04o, wanted %04o\n", c.Path, c.oldMode.Perm(), c.mode())
	}
	return udiff.Unified(from, to, string(c.old), string(c.stamped))
}

// restamps says that the plan's hash in the header is all that differs.
func (c change) restamps() bool {
	return c.exists && !c.stale && c.was.ours && c.was.secret == c.Secret && c.fits(c.oldMode) &&
		!bytes.Equal(c.old, c.stamped) && bytes.Equal(c.was.body, readHeader(c.Path, c.stamped).body)
}

// hidden says that neither side may be printed: the new file is secret, or the old
// one was, by its header or, when it is not ours, by its mode.
func (c change) hidden() bool {
	return c.Secret || c.was.secret || (c.exists && !c.was.ours && c.oldMode.Perm()&0o077 == 0)
}
