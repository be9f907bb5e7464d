package vm

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entries reads an archive back: "mode name content" in its order.
func entries(t *testing.T, text []byte) []string {
	t.Helper()
	var list []string
	for at := 0; ; {
		header := text[at : at+110]
		if !bytes.HasPrefix(header, []byte("070701")) {
			t.Fatalf("entry at %d begins with %q", at, header[:6])
		}
		var mode, size, length int
		for field, value := range map[int]*int{1: &mode, 6: &size, 11: &length} {
			if _, err := fmt.Sscanf(string(header[6+8*field:14+8*field]), "%08x", value); err != nil {
				t.Fatal(err)
			}
		}
		name := string(text[at+110 : at+110+length-1])
		at = (at + 110 + length + 3) &^ 3
		content := string(text[at : at+size])
		at = (at + size + 3) &^ 3
		if name == "TRAILER!!!" {
			if at != len(text) {
				t.Errorf("%d bytes after the end", len(text)-at)
			}
			return list
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%o %s %s", mode, name, content)))
	}
}

func TestArchive(t *testing.T) {
	tests := map[string]struct {
		files []File
		want  []string
	}{
		"directories above a file are made": {
			[]File{{Name: "/a/b/c", Mode: 0o644, Content: []byte("hello")}},
			[]string{"40755 a", "40755 a/b", "100644 a/b/c hello"},
		},
		"a file below a link comes after what the link points to": {
			[]File{
				{Name: "/lib64/ld.so", Mode: 0o755, Content: []byte("elf")},
				{Name: "/lib64", Mode: fs.ModeSymlink, Content: []byte("usr/lib64")},
				{Name: "/usr/lib64", Mode: fs.ModeDir | 0o755},
			},
			[]string{"40755 usr", "40755 usr/lib64", "120777 lib64 usr/lib64", "100755 lib64/ld.so elf"},
		},
		"a later file replaces an earlier one": {
			[]File{{Name: "/a", Content: []byte("old"), Mode: 0o600}, {Name: "/a", Content: []byte("new"), Mode: 0o644}},
			[]string{"100644 a new"},
		},
		"nothing": {nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := archive{}
			for _, f := range test.files {
				a.add(f)
			}
			var out bytes.Buffer
			if err := a.writeTo(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, entries(t, out.Bytes())); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddCommand(t *testing.T) {
	t.Run("brings its loader and all libraries", func(t *testing.T) {
		a := archive{}
		skeleton(a)
		if err := a.addCommand("ip", hostLibraries()); err != nil {
			t.Fatal(err)
		}
		// Whatever a file asks for must be there under the name it asks for.
		checked := 0
		for name, f := range a {
			if !bytes.HasPrefix(f.Content, []byte("\x7fELF")) {
				continue
			}
			file := filepath.Join(t.TempDir(), "elf")
			if err := os.WriteFile(file, f.Content, 0o600); err != nil {
				t.Fatal(err)
			}
			loader, needs, err := linked(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := a[loader]; !ok && loader != "" {
				t.Errorf("%s lacks its loader %s", name, loader)
			}
			for _, n := range needs {
				if _, ok := a[filepath.Join(hostLibraries().inside, n)]; !ok {
					t.Errorf("%s lacks its library %s", name, n)
				}
			}
			checked++
		}
		if checked < 3 {
			t.Errorf("only %d ELF files: a program, its loader and the C library are three", checked)
		}
	})
	t.Run("missing command", func(t *testing.T) {
		if err := (archive{}).addCommand("no-such-command", hostLibraries()); err == nil {
			t.Error("added")
		}
	})
	t.Run("missing library", func(t *testing.T) {
		from := libraries{dirs: []string{t.TempDir()}, inside: "/usr/lib"}
		if err := (archive{}).addCommand("ip", from); err == nil || !strings.Contains(err.Error(), ".so") {
			t.Errorf("error %v names no library", err)
		}
	})
	t.Run("script", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := (archive{}).addProgram("/script", file, hostLibraries()); err == nil {
			t.Error("added without its interpreter")
		}
	})
}
