package image

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// maxBinary is far above any agent, and keeps a wrong path (a disk, a database)
// from being read into memory.
const maxBinary = 256 << 20

// Binary is an agent that has been looked at: a static Linux program for its
// platform.
type Binary struct {
	Platform Platform
	// Version and Revision are what the Go tool stamped into it; empty when it
	// was built outside a repository. A revision with local changes ends in
	// -dirty.
	Version, Revision string
	content           []byte
}

// ReadBinaries reads one binary for each platform, in the order of the index. It
// refuses all that are unfit at once, two for one platform, and two that were not
// built from one revision.
func ReadBinaries(sources []Source) ([]Binary, error) {
	var faults []error
	found := map[Platform]Binary{}
	from := map[Platform]string{}
	for _, s := range sources {
		b, err := readBinary(s)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if other, twice := from[b.Platform]; twice {
			faults = append(faults, argument("%s and %s are both for %s: give one", other, s.Path, b.Platform))
			continue
		}
		found[b.Platform], from[b.Platform] = b, s.Path
	}
	var list []Binary
	for _, p := range Platforms() {
		if b, ok := found[p]; ok {
			list = append(list, b)
		}
	}
	if len(faults) == 0 && len(list) == 0 {
		return nil, argument("no binary was given")
	}
	for _, b := range list[min(1, len(list)):] {
		if b.Version != list[0].Version || b.Revision != list[0].Revision {
			faults = append(faults, fmt.Errorf("%s was built from %s, but %s from %s: build both again with `make build`",
				from[list[0].Platform], list[0].origin(), from[b.Platform], b.origin()))
		}
	}
	return list, errors.Join(faults...)
}

// origin names what the binary was built from.
func (b Binary) origin() string {
	switch {
	case b.Revision != "":
		return b.Revision
	case b.Version != "":
		return b.Version
	}
	return "no known revision"
}

func readBinary(s Source) (Binary, error) {
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Binary{}, fmt.Errorf("there is no %s: make it with `make build`, or name another with --binary", s.Path)
	case err != nil:
		return Binary{}, fmt.Errorf("looking at the agent: %w", err)
	case !info.Mode().IsRegular():
		return Binary{}, fmt.Errorf("%s is no plain file: name the agent's binary", s.Path)
	case info.Size() > maxBinary:
		return Binary{}, fmt.Errorf("%s has %d MiB: that is no agent", s.Path, info.Size()>>20)
	}
	content, err := os.ReadFile(s.Path)
	if err != nil {
		return Binary{}, fmt.Errorf("reading the agent: %w", err)
	}
	b, err := inspect(content, s.Platform)
	if err != nil {
		return Binary{}, fmt.Errorf("%s: %w", s.Path, err)
	}
	return b, nil
}

// inspect checks that content runs in an empty image on the platform; an empty
// platform is read from the header.
func inspect(content []byte, want Platform) (Binary, error) {
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return Binary{}, fmt.Errorf("not a Linux program (no whole ELF header): make the agent with `make build`")
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN || f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX {
		return Binary{}, fmt.Errorf("not a Linux program (ELF %v for %v): make the agent with `make build`", f.Type, f.OSABI)
	}
	got, known := platformOf(f.Machine)
	switch {
	case !known || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB:
		return Binary{}, fmt.Errorf("built for %v, and the agent runs on %s and %s only: make it with `make build`", f.Machine, AMD64, ARM64)
	case want != "" && got != want:
		return Binary{}, fmt.Errorf("built for %s, not %s: make both with `make build`", got, want)
	}
	if err := static(f); err != nil {
		return Binary{}, err
	}
	b := Binary{Platform: got, content: content}
	return b, b.stamp()
}

// static refuses a program that needs a loader or a library: the image has none.
func static(f *elf.File) error {
	const remedy = "the image has no libraries: build it with CGO_ENABLED=0, as `make build` does"
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("linked dynamically, and %s", remedy)
		}
	}
	if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
		return fmt.Errorf("it needs %s, and %s", libraries[0], remedy)
	}
	return nil
}

// stamp reads what the Go tool wrote into the program. A program without such
// words (another linker, stripped of them) is taken as it is; another Go program
// than the agent is not.
func (b *Binary) stamp() error {
	info, err := buildinfo.Read(bytes.NewReader(b.content))
	if err != nil {
		return nil
	}
	if path.Base(info.Path) != title {
		return fmt.Errorf("this is %s, not %s: name the agent's binary", info.Path, title)
	}
	if info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			dirty = map[string]string{"true": "-dirty"}[s.Value]
		}
	}
	if b.Revision != "" {
		b.Revision += dirty
	}
	return nil
}
