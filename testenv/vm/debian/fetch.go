package debian

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// metaPackage depends on the newest kernel that has the drivers of virtual
// machines and few others.
const metaPackage = "linux-image-cloud-amd64"

// dependency is "PACKAGE (= VERSION)". The version names a directory, so it may
// hold nothing else.
var dependency = regexp.MustCompile(`(?m)^Depends: (linux-image-[a-z0-9.+-]+) \(= ([0-9][A-Za-z0-9.+~-]*)\)$`)

// Fetch gives the kernel that apt knows of, from the cache or by download. When
// apt knows none, for example because it has no package lists, the cache's
// newest is given. It may be run at once by several processes and needs no root.
func Fetch(ctx context.Context, cache string, log *slog.Logger) (Kernel, error) {
	name, version, err := candidate(ctx)
	if err != nil {
		k, second := Find(cache)
		if second != nil {
			return Kernel{}, errors.Join(err, second)
		}
		log.Warn("using the cached kernel", "version", k.Version, "because", err)
		return k, nil
	}
	root := filepath.Join(cache, version)
	if _, err := os.Stat(root); err == nil {
		return open(root)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Kernel{}, err
	}
	log.Info("fetching a kernel", "package", name, "version", version)
	temp, err := os.MkdirTemp(cache, ".unpack-")
	if err != nil {
		return Kernel{}, err
	}
	err = errors.Join(download(ctx, temp, name, version), os.RemoveAll(filepath.Join(temp, "deb")))
	if err == nil {
		err = os.Rename(filepath.Join(temp, "tree"), root)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was quicker
	}
	if err := errors.Join(err, os.RemoveAll(temp)); err != nil {
		return Kernel{}, fmt.Errorf("fetching %s %s: %w", name, version, err)
	}
	return open(root)
}

// candidate asks apt's lists for the kernel package and its version.
func candidate(ctx context.Context) (name, version string, err error) {
	out, err := run(ctx, "", "apt-cache", "show", "--no-all-versions", metaPackage)
	if err != nil {
		return "", "", fmt.Errorf("%w (apt-get update, as root, gets the package lists)", err)
	}
	return parseCandidate(out)
}

func parseCandidate(text string) (name, version string, err error) {
	m := dependency.FindStringSubmatch(text)
	if m == nil {
		return "", "", fmt.Errorf("%s depends on no kernel package of one version", metaPackage)
	}
	return m[1], m[2], nil
}

// download leaves the kernel and its indexed modules in dir/tree.
func download(ctx context.Context, dir, name, version string) error {
	deb, tree := filepath.Join(dir, "deb"), filepath.Join(dir, "tree")
	if err := errors.Join(os.Mkdir(deb, 0o755), os.Mkdir(tree, 0o755)); err != nil {
		return err
	}
	// Without a sandbox user root downloads as any other user does: into a
	// directory that only he can write.
	if _, err := run(ctx, deb, "apt-get", "-q", "-o", "APT::Sandbox::User=", "download", name+"="+version); err != nil {
		return fmt.Errorf("%w (are the package lists old? apt-get update, as root, renews them)", err)
	}
	files, err := filepath.Glob(filepath.Join(deb, "*.deb"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("apt-get downloaded %d packages: %w", len(files), errors.Join(err, fs.ErrInvalid))
	}
	if _, err := run(ctx, "", "dpkg-deb", "-x", files[0], tree); err != nil {
		return err
	}
	depmod, err := program("depmod")
	if err != nil {
		return err
	}
	if _, err = run(ctx, "", depmod, "-b", tree, release(tree)); err != nil {
		return err
	}
	// The directory has the date that the package was made; Find goes by when it
	// was fetched.
	now := time.Now()
	return os.Chtimes(tree, now, now)
}

// release is the name of the one directory of modules; empty when there is none.
func release(tree string) string {
	dirs, err := filepath.Glob(filepath.Join(tree, "lib", "modules", "*"))
	if err != nil || len(dirs) != 1 {
		return ""
	}
	return filepath.Base(dirs[0])
}

// run runs a command and gives its output; the error quotes what it complained.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// The words that are read below are English.
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
