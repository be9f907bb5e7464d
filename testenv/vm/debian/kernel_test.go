package debian

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// quiet is for tests that read errors, not the log.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// unpack makes what Fetch leaves of a kernel, as far as Find looks.
func unpack(t *testing.T, cache, version, release string, age time.Duration) {
	t.Helper()
	root := filepath.Join(cache, version)
	for _, file := range []string{
		filepath.Join("boot", "vmlinuz-"+release),
		filepath.Join("lib", "modules", release, "modules.dep.bin"),
	} {
		file = filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-age)
	if err := os.Chtimes(root, then, then); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Run("the kernel that was fetched last", func(t *testing.T) {
		cache := t.TempDir()
		unpack(t, cache, "6.1.9-1", "6.1.0-9-cloud-amd64", time.Hour)
		unpack(t, cache, "6.1.10-1", "6.1.0-10-cloud-amd64", time.Minute)
		if err := os.Mkdir(filepath.Join(cache, ".unpack-1"), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := Find(cache)
		if err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(cache, "6.1.10-1")
		want := Kernel{
			Version: "6.1.10-1", Release: "6.1.0-10-cloud-amd64", Root: root,
			Image: filepath.Join(root, "boot", "vmlinuz-6.1.0-10-cloud-amd64"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kernel (-want +got):\n%s", diff)
		}
	})
	for name, cache := range map[string]string{"empty": t.TempDir(), "missing": filepath.Join(t.TempDir(), "none")} {
		t.Run(name+" cache", func(t *testing.T) {
			if _, err := Find(cache); !errors.Is(err, ErrNoKernel) {
				t.Errorf("error %v, want ErrNoKernel", err)
			}
		})
	}
	t.Run("half a kernel is refused", func(t *testing.T) {
		cache := t.TempDir()
		unpack(t, cache, "6.1.9-1", "6.1.0-9-cloud-amd64", 0)
		if err := os.RemoveAll(filepath.Join(cache, "6.1.9-1", "lib")); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(cache); err == nil || !strings.Contains(err.Error(), "fetch again") {
			t.Errorf("error %v says no remedy", err)
		}
	})
}

func TestFetchWithoutApt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Run("takes what the cache has", func(t *testing.T) {
		cache := t.TempDir()
		unpack(t, cache, "6.1.9-1", "6.1.0-9-cloud-amd64", 0)
		k, err := Fetch(t.Context(), cache, quiet())
		if err != nil || k.Version != "6.1.9-1" {
			t.Errorf("kernel %q, error %v", k.Version, err)
		}
	})
	t.Run("says both when it has nothing", func(t *testing.T) {
		_, err := Fetch(t.Context(), t.TempDir(), quiet())
		if !errors.Is(err, ErrNoKernel) || !strings.Contains(err.Error(), "apt-cache") {
			t.Errorf("error %v", err)
		}
	})
}

func TestParseCandidate(t *testing.T) {
	tests := map[string]struct{ text, name, version string }{
		"security update": {
			"Package: linux-image-cloud-amd64\nVersion: 6.1.192-3\nDepends: linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)\n",
			"linux-image-6.1.0-57-cloud-amd64", "6.1.192-3",
		},
		"no dependency":          {"Package: x\n", "", ""},
		"version with a way out": {"Depends: linux-image-6 (= ../../x)\n", "", ""},
		"version that is one":    {"Depends: linux-image-6 (= ..)\n", "", ""},
		"no exact version":       {"Depends: linux-image-6 (>= 6.1)\n", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			name, version, err := parseCandidate(test.text)
			if name != test.name || version != test.version || (err == nil) != (test.name != "") {
				t.Errorf("got %q %q, error %v", name, version, err)
			}
		})
	}
}

func TestInsmodFiles(t *testing.T) {
	got, err := insmodFiles("insmod /m/llc.ko \ninsmod /m/stp.ko \nbuiltin ipv6\ninsmod /m/llc.ko \ninsmod /m/dummy.ko numdummies=2\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/m/llc.ko", "/m/stp.ko", "/m/dummy.ko"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{
		"compressed": "insmod /m/llc.ko.xz\n", "not understood": "install /bin/true\n",
	} {
		if files, err := insmodFiles(text); err == nil {
			t.Errorf("%s: %v", name, files)
		}
	}
}

func FuzzInsmodFiles(f *testing.F) {
	f.Add("insmod /m/llc.ko \nbuiltin ipv6\n")
	f.Add("insmod \n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := insmodFiles(text)
		if err != nil {
			return
		}
		for i, file := range files {
			if filepath.Ext(file) != ".ko" || slices.Contains(files[:i], file) {
				t.Errorf("%q in %q", file, files)
			}
		}
	})
}

func FuzzParseCandidate(f *testing.F) {
	f.Add("Depends: linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)")
	f.Fuzz(func(t *testing.T, text string) {
		_, version, err := parseCandidate(text)
		// The version names a directory of the cache.
		if err == nil && (strings.ContainsAny(version, "/\x00") || version == "" || version[0] == '.') {
			t.Errorf("version %q", version)
		}
	})
}
