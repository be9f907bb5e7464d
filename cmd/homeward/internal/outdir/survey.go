package outdir

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// largestStale is the size in bytes over which a file that is not a target is not
// looked at: none of ours comes near it.
const largestStale = 64 << 20

// change is one file that differs: a target, or a stale file to remove.
type change struct {
	target
	stale bool
	// exists says that there is an old file; old is its content, oldMode its mode.
	exists  bool
	old     []byte
	oldMode fs.FileMode
	was     header
}

// survey is what a look at the disk gave: what to do, and what stands in the way.
type survey struct {
	changes  []change
	refusals []Refusal
	report   Report
	// missing are directories to make, parents first.
	missing []string
	// present are the directories of the tree that exist, the top included.
	present []string
}

// look compares the disk with the tree. It changes nothing.
func (t Tree) look(d disk, targets []target, force bool) (survey, error) {
	s := survey{present: []string{"."}}
	dirs, err := t.ownedDirs()
	if err != nil {
		return s, err
	}
	blocked := map[string]bool{}
	for _, dir := range dirs {
		s.lookAtDir(d, dir, blocked)
	}
	wanted := make(map[string]bool, len(targets))
	for _, target := range targets {
		wanted[target.Path] = true
		if dir := path.Dir(target.Path); !blocked[dir] {
			s.lookAtTarget(d, target, force)
		}
	}
	for _, name := range t.Kept {
		wanted[name] = true
		s.lookAtKept(d, name, t.PlanHash)
	}
	for _, dir := range dirs {
		if !blocked[dir] {
			if err := s.lookForStale(d, dir, wanted); err != nil {
				return s, err
			}
		}
	}
	s.settle(targets)
	return s, nil
}

// lookAtDir follows dir from the top and notes what is missing or no directory.
func (s *survey) lookAtDir(d disk, dir string, blocked map[string]bool) {
	at := ""
	for _, part := range strings.Split(dir, "/") {
		at = path.Join(at, part)
		info, err := d.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.missing = append(s.missing, at)
			continue
		case err != nil:
			s.refuse(at, err.Error())
		case !info.IsDir():
			s.refuse(at, kindOf(info)+" stands where a directory should be: move it away")
		default:
			s.present = append(s.present, at)
			continue
		}
		blocked[dir] = true
		return
	}
}

func (s *survey) lookAtTarget(d disk, t target, force bool) {
	c := change{target: t}
	info, err := d.Lstat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.add(c)
		return
	case err != nil:
		s.refuse(t.Path, err.Error())
		return
	case !info.Mode().IsRegular():
		s.refuse(t.Path, kindOf(info)+" stands where a file should be: move it away")
		return
	}
	c.exists, c.oldMode = true, info.Mode()
	if c.old, err = d.ReadFile(t.Path); err != nil {
		s.refuse(t.Path, err.Error())
		return
	}
	if bytes.Equal(c.old, t.stamped) && t.fits(c.oldMode) {
		s.report.Unchanged = append(s.report.Unchanged, t.Path)
		return
	}
	if c.was = readHeader(t.Path, c.old); !c.was.ours && !force {
		s.refuse(t.Path, "has no header of homeward, so it is not ours to overwrite: move it away, or give --force")
		return
	}
	s.add(c)
}

// lookAtKept notes a file of ours that was made for another plan.
func (s *survey) lookAtKept(d disk, name, planHash string) {
	old, err := d.ReadFile(name)
	if err != nil {
		return // not there
	}
	line, _, _ := bytes.Cut(old, []byte("\n"))
	if readHeader(name, old).ours && !bytes.Contains(line, []byte(planHash)) {
		s.report.Outdated = append(s.report.Outdated, name)
	}
}

// lookForStale finds files of ours in dir that no plan asks for any more.
func (s *survey) lookForStale(d disk, dir string, wanted map[string]bool) error {
	entries, err := d.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for stale files: %w", err)
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		_, known := syntaxOf(name)
		if wanted[name] || !known || !entry.Type().IsRegular() || isTemp(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err != nil || info.Size() > largestStale {
			continue
		}
		old, err := d.ReadFile(name)
		if err != nil {
			continue // unreadable, so not known to be ours
		}
		if was := readHeader(name, old); was.ours {
			s.changes = append(s.changes, change{target: target{File: File{Path: name}}, stale: true,
				exists: true, old: old, oldMode: info.Mode(), was: was})
			s.report.Removed = append(s.report.Removed, name)
		}
	}
	return nil
}

func (s *survey) add(c change) {
	s.changes = append(s.changes, c)
	s.report.Written = append(s.report.Written, c.Path)
	if c.restamps() {
		s.report.Restamped = append(s.report.Restamped, c.Path)
	}
}

func (s *survey) refuse(name, reason string) {
	s.refusals = append(s.refusals, Refusal{name, reason})
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a directory"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case info.Mode().IsRegular():
		return "a file"
	}
	return "a special file"
}

// settle sorts what was found and drops repetitions. Directories of Owned in which
// nothing is to be written are not made.
func (s *survey) settle(targets []target) {
	needed := map[string]bool{}
	for _, t := range targets {
		for dir := path.Dir(t.Path); dir != "."; dir = path.Dir(dir) {
			needed[dir] = true
		}
	}
	s.missing = slices.DeleteFunc(s.missing, func(dir string) bool { return !needed[dir] })
	for _, list := range []*[]string{&s.missing, &s.present, &s.report.Removed, &s.report.Outdated} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(s.refusals, func(a, b Refusal) int { return cmp.Compare(a.Path, b.Path) })
	s.refusals = slices.Compact(s.refusals)
	slices.SortStableFunc(s.changes, func(a, b change) int { return cmp.Compare(a.Path, b.Path) })
}
