package image

import (
	"debug/elf"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Platform is an architecture that Talos runs on, in the names of Go and OCI; the
// system is always Linux.
type Platform string

// The platforms of the image, as an index names them.
const (
	AMD64 Platform = "amd64"
	ARM64 Platform = "arm64"
)

// Platforms are all there are, in the order of the index.
func Platforms() []Platform { return []Platform{AMD64, ARM64} }

// String is the form of the command line: linux/amd64.
func (p Platform) String() string { return "linux/" + string(p) }

// oci is the platform in an index.
func (p Platform) oci() v1.Platform { return v1.Platform{OS: "linux", Architecture: string(p)} }

// machine is the platform in an ELF header.
func (p Platform) machine() elf.Machine {
	if p == ARM64 {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}

// platformOf is the platform of an ELF header.
func platformOf(m elf.Machine) (Platform, bool) {
	for _, p := range Platforms() {
		if p.machine() == m {
			return p, true
		}
	}
	return "", false
}

// Source is where a platform's binary lies.
type Source struct {
	// Platform may be empty: then the ELF header says it.
	Platform Platform
	Path     string
}

// ParseSource reads the value of --binary: linux/amd64=PATH, or a plain path. A
// path that holds an equals sign needs its platform before it.
func ParseSource(text string) (Source, error) {
	name, path, found := strings.Cut(text, "=")
	if !found {
		path = text
	}
	if path == "" {
		return Source{}, argument("--binary %q: the path is missing", text)
	}
	if !found {
		return Source{Path: path}, nil
	}
	for _, p := range Platforms() {
		if p.String() == name {
			return Source{Platform: p, Path: path}, nil
		}
	}
	return Source{}, argument("--binary %q: the agent has images for %s and %s only", text, AMD64, ARM64)
}

// Beside are the binaries that `make build` puts next to the tool, one for each
// platform, named homeward-agent-linux-amd64 and so on.
func Beside(dir string) []Source {
	var list []Source
	for _, p := range Platforms() {
		list = append(list, Source{p, fmt.Sprintf("%s/homeward-agent-linux-%s", strings.TrimSuffix(dir, "/"), string(p))})
	}
	return list
}
