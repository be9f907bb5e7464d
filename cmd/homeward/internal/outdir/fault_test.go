package outdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// faulty is a disk on which one operation fails.
type faulty struct {
	rooted
	// creates and renames that succeed before the first failure.
	creates, renames int
	// failMkdir fails making directories.
	failMkdir bool
	// killed leaves everything as it is after the failure, like a lost process.
	killed bool
	failed bool
}

func (f *faulty) Create(name string, perm fs.FileMode, content []byte) error {
	if f.creates--; f.creates < 0 {
		f.failed = true
		// A full disk: the file is there, half of it.
		_ = f.rooted.Create(name, perm, content[:len(content)/2])
		return &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return f.rooted.Create(name, perm, content)
}

func (f *faulty) Rename(from, to string) error {
	if f.renames--; f.renames < 0 {
		f.failed = true
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.EIO}
	}
	return f.rooted.Rename(from, to)
}

func (f *faulty) Mkdir(name string, perm fs.FileMode) error {
	if f.failMkdir {
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EROFS}
	}
	return f.rooted.Mkdir(name, perm)
}

func (f *faulty) Remove(name string) error {
	if f.killed && f.failed {
		return nil
	}
	return f.rooted.Remove(name)
}

const many = 1 << 20

func small(hash byte, content string, extra ...string) Tree {
	t := Tree{PlanHash: strings.Repeat(string(hash), 64), Owned: []string{"talos"}}
	for _, name := range append([]string{"README.md", "talos/a.yaml", "talos/b.yaml"}, extra...) {
		t.Files = append(t.Files, File{Path: name, Content: []byte(content)})
	}
	return t
}

func writeOn(t *testing.T, tr Tree, dir string, d *faulty) (Report, error) {
	t.Helper()
	targets, err := tr.targets()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d.rooted = rooted{root}
	return tr.write(d, dir, targets, false, true)
}

// snapshot gives all files and directories below dir.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		if entry.IsDir() {
			out[name] = "directory"
			return nil
		}
		text, err := os.ReadFile(file)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStagingFailureLeavesEverything(t *testing.T) {
	next := small('b', "new: 1\n", "kubernetes/new.yaml")
	next.Files = next.Files[:4:4]
	next.Files = append(next.Files[:2], next.Files[3]) // b.yaml leaves the plan
	for name, d := range map[string]func() *faulty{
		"unwritable":              func() *faulty { return &faulty{creates: many, renames: many, failMkdir: true} },
		"full at the first file":  func() *faulty { return &faulty{creates: 0, renames: many} },
		"full at the second file": func() *faulty { return &faulty{creates: 1, renames: many} },
		"full at the last file":   func() *faulty { return &faulty{creates: 2, renames: many} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := small('a', "old: 1\n").Write(dir, false); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			report, err := writeOn(t, next, dir, d())
			if err == nil || !strings.Contains(err.Error(), "nothing was changed") || report.Changed() {
				t.Errorf("report %+v, error %v", report, err)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("the disk changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailureWhileReplacing(t *testing.T) {
	for renames := range 3 {
		dir := t.TempDir()
		if _, err := small('a', "old: 1\n").Write(dir, false); err != nil {
			t.Fatal(err)
		}
		old, next := snapshot(t, dir), small('b', "new: 1\n")
		_, err := writeOn(t, next, dir, &faulty{creates: many, renames: renames})
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), fmt.Sprintf("%d of 3 changes were made", renames)) {
			t.Errorf("error %v", err)
		}
		clean := t.TempDir()
		if _, err := next.Write(clean, false); err != nil {
			t.Fatal(err)
		}
		want, replaced := snapshot(t, clean), 0
		for name, text := range snapshot(t, dir) {
			switch {
			case text == "directory" || text == old[name]:
			case text == want[name]:
				replaced++
			default:
				t.Errorf("%s is neither old nor new: %q", name, text)
			}
		}
		if replaced != renames {
			t.Errorf("%d files replaced, want %d", replaced, renames)
		}
	}
}

func TestNextWriteSweepsUpAfterAKill(t *testing.T) {
	dir := t.TempDir()
	if _, err := small('a', "old: 1\n").Write(dir, false); err != nil {
		t.Fatal(err)
	}
	old, next := snapshot(t, dir), small('b', "new: 1\n")
	if _, err := writeOn(t, next, dir, &faulty{creates: many, renames: 1, killed: true}); err == nil {
		t.Fatal("no error")
	}
	temps := 0
	for name := range snapshot(t, dir) {
		if isTemp(filepath.Base(name)) {
			temps++
		} else if _, ok := old[name]; !ok {
			t.Errorf("unexpected %s", name)
		}
	}
	if temps != 2 {
		t.Fatalf("%d temporary files, want the 2 of the killed writer", temps)
	}
	if _, err := next.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	clean := t.TempDir()
	if _, err := next.Write(clean, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(snapshot(t, clean), snapshot(t, dir)); diff != "" {
		t.Errorf("after the next write (-want +got):\n%s", diff)
	}
}

func TestTwoWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	trees := []Tree{small('a', "old: 1\n", "talos/only-a.yaml"), small('b', "new: 1\n")}
	want := make([]map[string]string, len(trees))
	for i, tr := range trees {
		clean := t.TempDir()
		if _, err := tr.Write(clean, false); err != nil {
			t.Fatal(err)
		}
		want[i] = snapshot(t, clean)
	}
	for range 20 {
		var group sync.WaitGroup
		for _, tr := range trees {
			group.Go(func() {
				if _, err := tr.Write(dir, false); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		got := snapshot(t, dir)
		if !cmp.Equal(want[0], got) && !cmp.Equal(want[1], got) {
			t.Fatalf("a mixture of both writers (-first +got):\n%s", cmp.Diff(want[0], got))
		}
	}
}

func BenchmarkWriteAThousandMachines(b *testing.B) {
	tr := Tree{PlanHash: strings.Repeat("a", 64)}
	content := bytes.Repeat([]byte("key: value value value value\n"), 200)
	for i := range 1000 {
		tr.Files = append(tr.Files, File{Path: fmt.Sprintf("talos/edge-worker-%04d.yaml", i), Content: content})
	}
	for b.Loop() {
		if _, err := tr.Write(b.TempDir(), false); err != nil {
			b.Fatal(err)
		}
	}
}
