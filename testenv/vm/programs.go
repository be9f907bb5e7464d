package vm

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// insideBin is where every command lies inside.
const insideBin = "/usr/bin"

// libraries finds shared libraries.
type libraries struct {
	// dirs are searched in order. The first has the multi-arch name of Debian.
	dirs []string
	// inside is the directory for libraries in the initramfs: one that the
	// loader searches by itself.
	inside string
}

// hostLibraries searches as this machine's loader does on Debian and on systems
// without multi-arch directories.
func hostLibraries() libraries {
	return libraries{
		dirs: []string{
			"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
			"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
			// systemd's own, which its programs name themselves
			"/usr/lib/x86_64-linux-gnu/systemd", "/usr/lib/systemd",
		},
		inside: "/usr/lib/x86_64-linux-gnu",
	}
}

// addCommand puts a command of this machine into the archive, with its loader and
// all libraries. A script is an error: its interpreter would be missing.
func (a archive) addCommand(name string, from libraries) error {
	file, err := lookPath(name)
	if err != nil {
		return err
	}
	if err := a.addProgram(path.Join(insideBin, name), file, from); err != nil {
		return fmt.Errorf("command %s: %w", name, err)
	}
	return nil
}

// lookPath also finds what only root has in PATH.
func lookPath(name string) (string, error) {
	file, err := exec.LookPath(name)
	if err == nil {
		return file, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if file, second := exec.LookPath(filepath.Join(dir, name)); second == nil {
			return file, nil
		}
	}
	return "", err
}

// addProgram puts an ELF file into the archive under that name, and what it is
// linked with.
func (a archive) addProgram(inside, file string, from libraries) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	a.add(File{Name: inside, Mode: 0o755, Content: content})
	loader, needs, err := linked(file)
	if err != nil {
		return err
	}
	if loader != "" {
		content, err := os.ReadFile(loader)
		if err != nil {
			return err
		}
		a.add(File{Name: loader, Mode: 0o755, Content: content})
	}
	for _, library := range needs {
		name := path.Join(from.inside, library)
		if _, ok := a[name]; ok {
			continue
		}
		found, err := from.find(library)
		if err != nil {
			return err
		}
		if err := a.addProgram(name, found, from); err != nil {
			return err
		}
	}
	return nil
}

// linked gives the loader and the libraries that an ELF file asks for, by name;
// none for a static one.
func linked(file string) (loader string, needs []string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", nil, fmt.Errorf("%s is no program: %w", file, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		text := make([]byte, p.Filesz)
		if _, err := p.ReadAt(text, 0); err != nil {
			return "", nil, fmt.Errorf("reading the loader of %s: %w", file, err)
		}
		loader = string(text[:len(text)-1])
	}
	needs, err = f.ImportedLibraries()
	return loader, needs, err
}

// find gives the file of a library.
func (l libraries) find(name string) (string, error) {
	for _, dir := range l.dirs {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("library %s is in none of %v", name, l.dirs)
}
