package ownerid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestObtainMakesOneIDAndKeepsIt(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a file: %v", err)
	}
	first, made, err := Obtain(dir)
	if err != nil || !made {
		t.Fatalf("made %v, error %v", made, err)
	}
	again, made, err := Obtain(dir)
	if err != nil || made || again != first {
		t.Errorf("again: %q (made %v, error %v), want %q", again, made, err, first)
	}
	other, _, err := Obtain(t.TempDir())
	if err != nil || other == first {
		t.Errorf("another cluster got %q, error %v", other, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, error %v", entries, err)
	}
}

// linkers are what file systems do when they are asked for a hard link.
var linkers = map[string]linker{
	"with links": os.Link,
	"vfat":       func(_, to string) error { return &os.LinkError{Op: "link", New: to, Err: syscall.EPERM} },
	"a share":    func(_, to string) error { return &os.LinkError{Op: "link", New: to, Err: syscall.EOPNOTSUPP} },
}

func TestObtainAtOnceGivesOneID(t *testing.T) {
	for name, link := range linkers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var wg sync.WaitGroup
			ids, made := make([]string, 16), atomic.Int64{}
			for i := range ids {
				wg.Go(func() {
					id, first, err := obtain(dir, link)
					if err != nil {
						t.Error(err)
					}
					if ids[i] = id; first {
						made.Add(1)
					}
				})
			}
			wg.Wait()
			for _, id := range ids {
				if id != ids[0] {
					t.Fatalf("several ids: %v", ids)
				}
			}
			if kept, err := Load(dir); kept != ids[0] || err != nil || made.Load() != 1 {
				t.Errorf("made %d times, kept %q, error %v", made.Load(), kept, err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("the directory has %v, error %v", entries, err)
			}
		})
	}
}

// Another that has made the file and not yet written it is waited for.
func TestObtainWaitsForWhoWrites(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "0123456789abcdef"
	time.AfterFunc(100*time.Millisecond, func() {
		if err := fill(f, theirs+"\n"); err != nil {
			t.Error(err)
		}
	})
	if id, made, err := Obtain(dir); id != theirs || made || err != nil {
		t.Errorf("%q, made %v, error %v", id, made, err)
	}
}

func TestLoadRefusesWhatIsNoID(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"only comment": "# nothing\n",
		"upper case":   "0123456789ABCDEF\n",
		"short":        "0123456789abcde\n",
		"two":          "0123456789abcdef\n0123456789abcdee\n",
		"conflict":     "<<<<<<< ours\n0123456789abcdef\n=======\n",
		"huge":         "0123456789abcdef\n" + strings.Repeat("#", mostBytes),
		"escape":       "0123456789abcdef\x1b[2J\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			id, err := Load(dir)
			if err == nil || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got %q, error %v", id, err)
			}
			if _, _, err := Obtain(dir); err == nil {
				t.Error("Obtain took or replaced it")
			}
		})
	}
}
