package ownerid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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

func TestObtainAtOnceGivesOneID(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	ids := make([]string, 16)
	for i := range ids {
		wg.Go(func() {
			id, _, err := Obtain(dir)
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("several ids: %v", ids)
		}
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
