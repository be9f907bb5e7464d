package allocation_test

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/netplan"
)

func made() netplan.Allocation {
	return netplan.Allocation{
		Cluster: "edge", Owner: "4f1d0c77a2b95e63",
		KubeAPI: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("192.0.2.5"), Floating: netip.MustParseAddr("203.0.113.81")},
		Ingress: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("192.0.2.10"), Floating: netip.MustParseAddr("203.0.113.80")},
	}
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", allocation.FileName)
	if err := allocation.Save(path, made()); err != nil {
		t.Fatal(err)
	}
	got, err := allocation.Load(path)
	if err != nil || got != made() {
		t.Fatalf("got %+v, %v", got, err)
	}
	text, _ := os.ReadFile(path)
	if !strings.Contains(string(text), `"fixed": "192.0.2.10"`) {
		t.Errorf("the file is\n%s", text)
	}
	t.Run("the same again changes nothing", func(t *testing.T) {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if err := allocation.Save(path, made()); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(path); time.Since(info.ModTime()) < time.Minute {
			t.Error("the file was written again")
		}
	})
	t.Run("another one replaces it", func(t *testing.T) {
		other := made()
		other.Ingress.Floating = netip.MustParseAddr("203.0.113.99")
		if err := allocation.Save(path, other); err != nil {
			t.Fatal(err)
		}
		if got, err := allocation.Load(path); err != nil || got != other {
			t.Errorf("got %+v, %v", got, err)
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
			t.Errorf("%d files are left", len(names))
		}
	})
}

func TestLoadFaults(t *testing.T) {
	if _, err := allocation.Load(filepath.Join(t.TempDir(), "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := allocation.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Errorf("a directory: %v", err)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"a list":          "[]",
		"cut off":         `{"cluster": "edge", "own`,
		"another file":    `{"name": "edge", "machines": []}`,
		"a wrong address": `{"cluster": "edge", "kubeapi": {"fixed": "192.0.2"}}`,
		"endless":         `{"cluster": "` + strings.Repeat("a", 2<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), allocation.FileName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := allocation.Load(path); err == nil || !strings.Contains(err.Error(), "reserve again") || got != (netplan.Allocation{}) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
