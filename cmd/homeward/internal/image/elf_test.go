package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elfFile is a test's ELF file: a header, program headers, and what they point to.
type elfFile struct {
	machine elf.Machine
	kind    elf.Type
	abi     elf.OSABI
	interp  bool
	needed  string // a library in the dynamic section
	info    string // the text of the Go tool's build information
	payload string
}

// tiny is an agent of a few bytes for a platform.
func tiny(p Platform) elfFile { return elfFile{machine: p.machine(), kind: elf.ET_EXEC} }

// bytes lays the file out: header, two program headers, three section headers,
// then data.
func (e elfFile) bytes(t testing.TB) []byte {
	t.Helper()
	const head, ph, sh = 64, 56, 64
	data := uint64(head + 2*ph + 3*sh)
	var body []byte
	loadAt := data
	body = append(body, e.buildInfo()...)
	loadSize := uint64(len(body))
	strAt := data + uint64(len(body))
	strings := "\x00" + e.needed + "\x00"
	body = append(body, strings...)
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	dynAt := data + uint64(len(body))
	if e.needed != "" {
		body = binary.LittleEndian.AppendUint64(body, uint64(elf.DT_NEEDED))
		body = binary.LittleEndian.AppendUint64(body, 1)
	}
	body = append(body, make([]byte, 16)...)
	dynSize := data + uint64(len(body)) - dynAt
	body = append(body, e.payload...)

	second := elf.Prog64{Type: uint32(elf.PT_NOTE)}
	if e.interp {
		second.Type = uint32(elf.PT_INTERP)
	}
	var out bytes.Buffer
	ident := [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1, byte(e.abi)}
	for _, part := range []any{
		elf.Header64{Ident: ident, Type: uint16(e.kind), Machine: uint16(e.machine), Version: 1, Phoff: head, Shoff: head + 2*ph,
			Ehsize: head, Phentsize: ph, Phnum: 2, Shentsize: sh, Shnum: 3, Shstrndx: 1},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: loadAt, Vaddr: 0x10000, Filesz: loadSize, Memsz: loadSize},
		second,
		elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: strAt, Size: uint64(len(strings))},
		elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Off: dynAt, Size: dynSize, Link: 1},
	} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return append(out.Bytes(), body...)
}

// buildInfo is what the Go linker writes, in the form of Go 1.18 and later.
func (e elfFile) buildInfo() []byte {
	if e.info == "" {
		return nil
	}
	text := "\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6" + e.info + "\n\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"
	text = strings.ReplaceAll(text, "\n\n", "\n")
	out := append([]byte("\xff Go buildinf:\x08\x02"), make([]byte, 16)...)
	for _, s := range []string{"go1.26.6", text} {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	return out
}

// agentInfo is the build information of an agent.
func agentInfo(revision, modified string) string {
	return "path\thomeward/cmd/homeward-agent\nmod\thomeward\tv0.1.0\t\nbuild\tvcs.revision=" + revision + "\nbuild\tvcs.modified=" + modified + "\n"
}

// put writes a file of the test.
func put(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// built is the image of two tiny agents.
func built(t testing.TB) *Image {
	t.Helper()
	return builtOf(t, tiny(AMD64), tiny(ARM64))
}

func builtOf(t testing.TB, files ...elfFile) *Image {
	t.Helper()
	var sources []Source
	for _, f := range files {
		sources = append(sources, Source{Path: put(t, "agent", f.bytes(t))})
	}
	binaries, err := ReadBinaries(sources)
	if err != nil {
		t.Fatal(err)
	}
	img, err := Build(binaries)
	if err != nil {
		t.Fatal(err)
	}
	return img
}
