// Package debian gets Debian's kernel for virtual machines, and keeps it.
//
// The kernel lies in a directory of the user's cache, one for each version of
// the package; nothing is installed. Fetch needs Debian's apt, dpkg-deb and kmod,
// and the network only for a version that is not there yet. Find needs neither.
package debian

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoKernel says that no kernel was fetched yet.
var ErrNoKernel = errors.New("no kernel in the cache: fetch one first (make test-vm does)")

// Kernel is a kernel that was unpacked with its modules.
type Kernel struct {
	// Version is the package's version, for example 6.1.192-3.
	Version string
	// Release is what uname -r says, for example 6.1.0-57-cloud-amd64.
	Release string
	// Image is the file to boot.
	Image string
	// Root is the directory that holds lib/modules.
	Root string
}

// CacheDir is where kernels lie.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "homeward", "vm"), nil
}

// Find gives the kernel that was fetched last, or ErrNoKernel.
func Find(cache string) (Kernel, error) {
	entries, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Kernel{}, err
	}
	type dated struct {
		name    string
		fetched int64
	}
	var versions []dated
	for _, e := range entries {
		// What is being unpacked has a name with a dot in front.
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return Kernel{}, err
		}
		versions = append(versions, dated{e.Name(), info.ModTime().UnixNano()})
	}
	if len(versions) == 0 {
		return Kernel{}, ErrNoKernel
	}
	newest := slices.MaxFunc(versions, func(a, b dated) int { return cmp.Compare(a.fetched, b.fetched) })
	return open(filepath.Join(cache, newest.name))
}

// open reads a kernel's directory.
func open(root string) (Kernel, error) {
	images, err := filepath.Glob(filepath.Join(root, "boot", "vmlinuz-*"))
	if err != nil {
		return Kernel{}, err
	}
	if len(images) != 1 {
		return Kernel{}, fmt.Errorf("%s holds %d kernel images, not one: remove it and fetch again", root, len(images))
	}
	k := Kernel{
		Version: filepath.Base(root),
		Release: strings.TrimPrefix(filepath.Base(images[0]), "vmlinuz-"),
		Image:   images[0],
		Root:    root,
	}
	if _, err := os.Stat(filepath.Join(root, "lib", "modules", k.Release, "modules.dep.bin")); err != nil {
		return Kernel{}, fmt.Errorf("%s has no module index: remove it and fetch again: %w", root, err)
	}
	return k, nil
}

// Modules gives the files of the named modules and of all that they need, each
// after what it needs, none twice. A module that is part of the kernel has no
// file; one that does not exist is an error.
func (k Kernel) Modules(names []string) ([]string, error) {
	modprobe, err := program("modprobe")
	if err != nil {
		return nil, err
	}
	// The machine's own configuration in /etc/modprobe.d says nothing about the
	// virtual one, hence -C.
	args := []string{"-C", os.DevNull, "-d", k.Root, "-S", k.Release, "--show-depends", "-a"}
	cmd := exec.Command(modprobe, append(args, names...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking modprobe for modules: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return insmodFiles(string(out))
}

// insmodFiles reads the lines "insmod PATH" and "builtin NAME" of modprobe.
func insmodFiles(text string) ([]string, error) {
	var files []string
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "", "builtin":
		case "insmod":
			// Options would follow the path.
			file, _, _ := strings.Cut(rest, " ")
			if filepath.Ext(file) != ".ko" {
				return nil, fmt.Errorf("module %s is compressed: the machine's first process cannot load it", file)
			}
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		default:
			return nil, fmt.Errorf("modprobe said %q", line)
		}
	}
	return files, nil
}

// program finds a program, also in the directories that only root has in PATH.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if path, second := exec.LookPath(filepath.Join(dir, name)); second == nil {
			return path, nil
		}
	}
	return "", err
}
