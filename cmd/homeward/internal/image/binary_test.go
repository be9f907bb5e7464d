package image

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadBinariesRefuses(t *testing.T) {
	with := func(change func(*elfFile)) []byte {
		f := tiny(AMD64)
		change(&f)
		return f.bytes(t)
	}
	tests := []struct {
		name    string
		content []byte
		want    Platform
		say     string
	}{
		{"an empty file", nil, "", "make build"},
		{"a script", []byte("#!/bin/sh\nexec homeward-agent\n"), "", "not a Linux program"},
		{"a torn header", tiny(AMD64).bytes(t)[:40], "", "not a Linux program"},
		{"a dynamic program", with(func(f *elfFile) { f.interp = true }), AMD64, "CGO_ENABLED=0"},
		{"a program that needs a library", with(func(f *elfFile) { f.kind, f.needed = elf.ET_DYN, "libc.so.6" }), AMD64, "libc.so.6"},
		{"the other machine", tiny(ARM64).bytes(t), AMD64, "built for linux/arm64, not linux/amd64"},
		{"a machine Talos does not run on", with(func(f *elfFile) { f.machine = elf.EM_RISCV }), "", "EM_RISCV"},
		{"an object file", with(func(f *elfFile) { f.kind = elf.ET_REL }), AMD64, "not a Linux program"},
		{"a FreeBSD program", with(func(f *elfFile) { f.abi = elf.ELFOSABI_FREEBSD }), AMD64, "ELFOSABI_FREEBSD"},
		{"another Go program", with(func(f *elfFile) { f.info = "path\thomeward/cmd/homeward\nmod\thomeward\tv0.1.0\t\n" }), AMD64, "this is homeward/cmd/homeward, not homeward-agent"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, "agent", test.content)
			_, err := ReadBinaries([]Source{{test.want, path}})
			if err == nil || !strings.Contains(err.Error(), test.say) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error that names the file and says %q", err, test.say)
			}
			if errors.Is(err, ErrArgument) {
				t.Errorf("%v is no fault of the command line", err)
			}
		})
	}
}

func TestReadBinariesRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadBinaries(Beside(dir))
	for _, say := range []string{"homeward-agent-linux-amd64", "homeward-agent-linux-arm64", "make build", "--binary"} {
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("missing files: got %v, want all of it to say %q", err, say)
		}
	}
	if _, err := ReadBinaries([]Source{{"", dir}}); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Errorf("a directory: got %v", err)
	}
	huge := filepath.Join(dir, "huge")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxBinary+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBinaries([]Source{{"", huge}}); err == nil || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("a disk's size: got %v", err)
	}
	if _, err := ReadBinaries(nil); !errors.Is(err, ErrArgument) {
		t.Errorf("no binary: got %v", err)
	}
}

func TestReadBinariesTogether(t *testing.T) {
	file := func(p Platform, info string) Source {
		f := tiny(p)
		f.info = info
		return Source{Path: put(t, "agent", f.bytes(t))}
	}
	t.Run("the order of the index, whatever was given", func(t *testing.T) {
		list, err := ReadBinaries([]Source{file(ARM64, ""), file(AMD64, "")})
		if err != nil || len(list) != 2 || list[0].Platform != AMD64 || list[1].Platform != ARM64 {
			t.Errorf("got %v, %v", list, err)
		}
	})
	t.Run("one platform twice", func(t *testing.T) {
		if _, err := ReadBinaries([]Source{file(AMD64, ""), file(AMD64, "")}); !errors.Is(err, ErrArgument) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what the Go tool stamped", func(t *testing.T) {
		list, err := ReadBinaries([]Source{file(AMD64, agentInfo("abc", "true"))})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"v0.1.0", "abc-dirty"}, []string{list[0].Version, list[0].Revision}); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("two revisions", func(t *testing.T) {
		_, err := ReadBinaries([]Source{file(AMD64, agentInfo("abc", "false")), file(ARM64, agentInfo("def", "false"))})
		if err == nil || !strings.Contains(err.Error(), "from abc") || !strings.Contains(err.Error(), "from def") {
			t.Errorf("got %v, want both revisions", err)
		}
	})
}

func TestParseSource(t *testing.T) {
	tests := []struct {
		text string
		want Source
		ok   bool
	}{
		{"bin/agent", Source{Path: "bin/agent"}, true},
		{"linux/amd64=bin/agent", Source{AMD64, "bin/agent"}, true},
		{"linux/arm64=a=b", Source{ARM64, "a=b"}, true},
		{"", Source{}, false},
		{"linux/amd64=", Source{}, false},
		{"linux/riscv64=x", Source{}, false},
		{"amd64=x", Source{}, false},
	}
	for _, test := range tests {
		got, err := ParseSource(test.text)
		if got != test.want || (err == nil) != test.ok || err != nil && !errors.Is(err, ErrArgument) {
			t.Errorf("%q: got %v, %v", test.text, got, err)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	f.Add("linux/amd64=bin/agent")
	f.Add("agent")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text)
		if err == nil && (s.Path == "" || !strings.HasSuffix(text, s.Path)) {
			t.Errorf("%q gave %+v", text, s)
		}
	})
}

func FuzzInspect(f *testing.F) {
	f.Add(tiny(AMD64).bytes(f))
	f.Add(elfFile{machine: elf.EM_AARCH64, kind: elf.ET_DYN, needed: "x", info: agentInfo("a", "false")}.bytes(f))
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := inspect(content, "")
		if _, known := platformOf(b.Platform.machine()); err == nil && (!known || b.Platform == "") {
			t.Errorf("taken without a platform: %+v", b.Platform)
		}
	})
}
