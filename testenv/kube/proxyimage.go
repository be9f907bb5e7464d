//go:build linux

package kube

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"homeward/testenv/kube/parts"
)

// proxyImage is the image that the nft pod runs in. The lab has no registry, so
// it is made of Debian's nft and shell, under the name that the plan gives it.
const proxyImage = "registry.k8s.io/kube-proxy:" + parts.Kubernetes

// proxyPrograms is what the real image has besides kube-proxy, as far as the
// product's script may use it; sh is dash in both.
var proxyPrograms = map[string]string{
	"dash": "bin/sh", "nft": "usr/sbin/nft",
	"cat": "bin/cat", "chmod": "bin/chmod", "grep": "bin/grep", "ln": "bin/ln",
	"rm": "bin/rm", "sleep": "bin/sleep", "wc": "bin/wc",
}

// libraryPath is a shared library, or the loader, in what ldd prints.
var libraryPath = regexp.MustCompile(`/\S+\.so\S*`)

// proxyFiles lists the image's files by their path inside, with every shared
// library that a program needs.
func proxyFiles(ctx context.Context) (map[string]string, error) {
	files := map[string]string{}
	for _, program := range slices.Sorted(maps.Keys(proxyPrograms)) {
		file, err := exec.LookPath(program)
		if err != nil {
			return nil, fmt.Errorf("making image %s: %w", proxyImage, err)
		}
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return nil, err
		}
		files[proxyPrograms[program]] = file
		needs, err := exec.CommandContext(ctx, "ldd", file).Output()
		if err != nil {
			return nil, fmt.Errorf("listing the libraries of %s: %w", file, err)
		}
		for _, library := range libraryPath.FindAllString(string(needs), -1) {
			source, err := filepath.EvalSymlinks(library)
			if err != nil {
				return nil, err
			}
			files[strings.TrimPrefix(library, "/")] = source
		}
	}
	return files, nil
}
