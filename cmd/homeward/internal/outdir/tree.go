package outdir

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is one generated file, without its header.
type File struct {
	// Path is relative to the tree, with slashes. Its extension says where the
	// header goes: .yaml, .yml, .sh, .md, .json (an object) or .gitignore.
	Path string
	// Content has LF line ends.
	Content []byte
	// Executable files get mode 0755, others 0644, less the umask.
	Executable bool
	// Secret files get mode 0600, and a difference never shows their content.
	Secret bool
}

// mode is what a new file gets, before the umask.
func (f File) mode() fs.FileMode {
	switch {
	case f.Secret:
		return 0o600
	case f.Executable:
		return 0o755
	}
	return 0o644
}

// fits says whether an existing file's mode serves: an operator's own choice is
// kept, except where a secret lies open or a script cannot run.
func (f File) fits(mode fs.FileMode) bool {
	if f.Secret {
		return mode.Perm()&0o077 == 0
	}
	return !f.Executable || mode.Perm()&0o100 != 0
}

// Tree is everything that one plan generates.
type Tree struct {
	// PlanHash is PlanHash of the plan.
	PlanHash string
	// Files in any order, each path once.
	Files []File
	// Owned are directories besides those of Files in which files of ours that
	// are not in Files are stale: those that an earlier plan may have filled. The
	// top of the tree is the operator's, nothing there is ever stale.
	Owned []string
	// Kept are paths of files that this run does not make anew but that still belong
	// to the plan: they are not stale, though perhaps outdated.
	Kept []string
}

// Report is what a write did or a diff would do; each list is sorted and may be nil.
type Report struct {
	Written, Unchanged, Removed []string
	// Restamped are those of Written in which only the plan's hash is new.
	Restamped []string
	// Outdated are those of Kept that were made for another plan.
	Outdated []string
}

// Changed says whether anything differs.
func (r Report) Changed() bool { return len(r.Written)+len(r.Removed) > 0 }

// Refusal is one file that must not be touched.
type Refusal struct{ Path, Reason string }

// RefusedError lists all that stands in the way. Nothing was written.
type RefusedError struct {
	Dir string
	// Refusals by path, never empty.
	Refusals []Refusal
}

// Error gives one line per file.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "refusing to write %s, nothing was changed:", e.Dir)
	for _, r := range e.Refusals {
		fmt.Fprintf(&b, "\n  %s: %s", r.Path, r.Reason)
	}
	return b.String()
}

// target is a file with its final content.
type target struct {
	File
	stamped []byte
}

// targets gives the files sorted, checked and stamped.
func (t Tree) targets() ([]target, error) {
	out := make([]target, 0, len(t.Files))
	for _, f := range t.Files {
		if !plainPath(f.Path) {
			return nil, fmt.Errorf("generating %q: not a relative path inside the tree", f.Path)
		}
		text, err := stamp(f, t.PlanHash)
		if err != nil {
			return nil, err
		}
		out = append(out, target{f, text})
	}
	slices.SortFunc(out, func(a, b target) int { return cmp.Compare(a.Path, b.Path) })
	for i := 1; i < len(out); i++ {
		if a, b := out[i-1].Path, out[i].Path; a == b || strings.HasPrefix(b, a+"/") {
			return nil, fmt.Errorf("generating %q: %q is generated too", b, a)
		}
	}
	return out, nil
}

// plainPath says that name stays inside the tree and has no odd spelling.
func plainPath(name string) bool {
	return name != "." && path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name))
}

// ownedDirs are the directories in which files of ours may be stale, sorted.
func (t Tree) ownedDirs() ([]string, error) {
	var dirs []string
	for _, f := range t.Files {
		if dir := path.Dir(f.Path); dir != "." {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range t.Owned {
		if !plainPath(dir) {
			return nil, fmt.Errorf("owning %q: not a relative path inside the tree", dir)
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}
