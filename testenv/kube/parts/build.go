package parts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Set is every program, ready to run.
type Set struct {
	// programs are files by the program's name.
	programs map[string]string
	// CRDs is the directory with the resource definitions of MetalLB.
	CRDs string
	// MetalLBManifest and FlannelManifest are the projects' own.
	MetalLBManifest, FlannelManifest string
}

// Program gives a program's file. A name that is none of the lab's is an error
// of the caller and gives "".
func (s *Set) Program(name string) string { return s.programs[name] }

// Ensure finds every program in the cache and builds what is missing. What it
// does and how long it has been at it goes to progress, a line at a time.
func Ensure(ctx context.Context, progress io.Writer) (*Set, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	b := &builder{cache: cache, progress: progress}
	unlock, err := lock(cache)
	if err != nil {
		return nil, err
	}
	set, err := b.ensure(ctx)
	return set, errors.Join(err, unlock())
}

type builder struct {
	cache    string
	progress io.Writer
}

func (b *builder) ensure(ctx context.Context) (*Set, error) {
	set := &Set{programs: map[string]string{}}
	for _, s := range sources() {
		for _, p := range s.programs {
			file := s.file(b.cache, p)
			set.programs[p.name] = file
			if _, err := os.Stat(file); err == nil {
				continue
			}
			if err := b.writeModule(ctx, s); err != nil {
				return nil, err
			}
			if err := b.build(ctx, s, p, file); err != nil {
				return nil, err
			}
		}
	}
	metallb, err := b.download(ctx, metallbModule, MetalLB)
	if err != nil {
		return nil, err
	}
	set.CRDs = filepath.Join(metallb.Dir, "config", "crd", "bases")
	set.MetalLBManifest = filepath.Join(metallb.Dir, "config", "manifests", "metallb-native.yaml")
	flannel, err := b.download(ctx, flannelModule, Flannel)
	set.FlannelManifest = filepath.Join(flannel.Dir, "Documentation", "kube-flannel.yml")
	return set, err
}

// build makes one program. It takes its name only when it is finished.
func (b *builder) build(ctx context.Context, s source, p program, file string) error {
	began := time.Now()
	stop := b.tell(fmt.Sprintf("building %s %s", p.name, s.version), began)
	cgo := "CGO_ENABLED=0"
	if s.cgo {
		cgo = "CGO_ENABLED=1"
	}
	_, err := b.goCommand(ctx, s.dir(b.cache), cgo, "build", "-mod=mod", "-trimpath",
		"-ldflags", "-s -w "+s.ldflags, "-o", file+".new", p.pkg)
	stop()
	if err != nil {
		return fmt.Errorf("building %s: %w", p.name, err)
	}
	fmt.Fprintf(b.progress, "built %s %s in %s\n", p.name, s.version, time.Since(began).Round(time.Second))
	return os.Rename(file+".new", file)
}

// tellEvery is how often a long build says that it lives.
const tellEvery = 30 * time.Second

// tell says what is being done, at once and then regularly, until stop.
func (b *builder) tell(what string, began time.Time) (stop func()) {
	fmt.Fprintln(b.progress, what)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(tellEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(b.progress, "%s: %s so far\n", what, time.Since(began).Round(time.Second))
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// goCommand runs the go command with a variable and gives its standard output; the
// error quotes its standard error. The programs are static, where they can be: they
// run in mount namespaces and images where nothing else may be.
func (b *builder) goCommand(ctx context.Context, dir, variable string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), variable, "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
