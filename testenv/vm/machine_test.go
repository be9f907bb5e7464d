//go:build linux

package vm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/testenv/vm"
	"homeward/testenv/vm/debian"
	"homeward/testenv/vm/guest"
)

const (
	module   = "homeward"
	guestDir = module + "/testenv/vm/guest"
	labDir   = module + "/testenv/netlab"
)

// commands are all that the tests call besides themselves.
var commands = []string{
	"ip", "bridge", "tc", "nft", "sh", "bash", "timeout",
	"cat", "chmod", "cp", "echo", "env", "false", "grep", "head", "id", "kill", "ln", "ls", "mkdir", "mount", "mv",
	"nsenter", "readlink", "rm", "sed", "sleep", "sort", "tail", "test", "touch", "tr", "true", "umount", "unshare", "wc",
}

// envOnly chooses packages by a regular expression, for whoever looks for a
// fault in one of them.
const envOnly = "HOMEWARD_VM_ONLY"

// insideLab makes netlab take the machine's own namespace for its lab: there is
// nobody outside whose network a test could change.
const insideLab = "HOMEWARD_NETLAB_OUTSIDE=the host of this virtual machine"

// labBridge puts the external network of netlab's clusters on a VLAN-aware
// bridge, which the kernel that runs these tests elsewhere may lack.
const labBridge = "HOMEWARD_NETLAB_VLAN=1691"

// bench builds what goes into a machine.
type bench struct {
	t   *testing.T
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if os.Getenv("HOMEWARD_VM") != "1" {
		t.Skip("boots a virtual machine: make test-vm does it (it sets HOMEWARD_VM=1)")
	}
	return &bench{t: t, dir: t.TempDir()}
}

// goTool runs the go command without C, so that what it builds needs no library.
func (b *bench) goTool(args ...string) []byte {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

// job is a job without binaries.
func (b *bench) job() vm.Job {
	b.t.Helper()
	cache, err := debian.CacheDir()
	if err != nil {
		b.t.Fatal(err)
	}
	kernel, err := debian.Find(cache)
	if err != nil {
		b.t.Fatal(err)
	}
	first := filepath.Join(b.dir, "init")
	b.goTool("build", "-ldflags=-s -w", "-o", first, module+"/testenv/vm/init")
	return vm.Job{Kernel: kernel, Init: first, Commands: commands, Output: progress()}
}

// progress shows what the tests inside write, when it was asked for.
func progress() io.Writer {
	if testing.Verbose() {
		return os.Stderr
	}
	return nil
}

// add builds the tests of a package and puts them, and the package's testdata,
// into the job.
func (b *bench) add(job *vm.Job, p testPackage) {
	b.t.Helper()
	name := strings.ReplaceAll(strings.TrimPrefix(p.ImportPath, module+"/"), "/", "-")
	file := filepath.Join(b.dir, name+".test")
	b.goTool("test", "-c", "-ldflags=-s -w", "-o", file, p.ImportPath)
	const timeout = 10 * time.Minute
	binary := vm.Binary{
		Name: name, File: file, Dir: path.Join("/source", p.ImportPath),
		// Few at a time: an emulated processor is slow, and tests that wait for each
		// other's work run out of their own time.
		Args:    []string{"-test.v=test2json", "-test.parallel=2", "-test.timeout=" + timeout.String()},
		Env:     slices.Concat([]string{"CI=true"}, p.env),
		Timeout: timeout + 10*time.Second,
	}
	if p.because != "" {
		binary.Args = append(binary.Args, "-test.run="+p.run, "-test.skip="+p.skip)
		b.t.Logf("%s: only %q without %q: %s", p.ImportPath, p.run, p.skip, p.because)
	}
	job.Binaries = append(job.Binaries, binary)
	testdata := os.DirFS(p.Dir)
	err := fs.WalkDir(testdata, "testdata", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		content, second := fs.ReadFile(testdata, name)
		job.Files = append(job.Files, vm.File{Name: path.Join(binary.Dir, name), Mode: 0o644, Content: content})
		return errors.Join(err, second)
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// addAgent puts the agent's program into the job.
func (b *bench) addAgent(job *vm.Job) {
	b.t.Helper()
	file := filepath.Join(b.dir, "homeward-agent")
	b.goTool("build", "-ldflags=-s -w", "-o", file, module+"/cmd/homeward-agent")
	content, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	job.Files = append(job.Files, vm.File{Name: guest.Agent, Mode: 0o755, Content: content})
}

// run runs the job and reports each binary, and each of its tests, as a subtest.
func (b *bench) run(job vm.Job) {
	b.t.Helper()
	began := time.Now()
	result, err := vm.Run(b.t.Context(), job)
	for _, binary := range result.Binaries {
		b.t.Run(binary.Name, func(t *testing.T) { reportBinary(t, binary) })
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("Linux %s was up after %s, %d packages were through after %s", result.Release,
		result.Boot.Round(100*time.Millisecond), len(result.Binaries), time.Since(began).Round(time.Second))
}

func reportBinary(t *testing.T, b vm.BinaryResult) {
	t.Helper()
	passed := 0
	for _, test := range b.Tests() {
		switch test.Verdict {
		case vm.Pass:
			passed++
		case vm.Skip:
			t.Errorf("%s was skipped inside: leave it out by name and say why", test.Name)
		case vm.Fail:
			t.Errorf("%s failed", test.Name)
		}
	}
	if passed == 0 {
		t.Error("not one test passed inside")
	}
	if b.Exit != 0 || b.TimedOut {
		t.Errorf("exit code %d after %s, out of time: %v", b.Exit, b.Elapsed.Round(time.Second), b.TimedOut)
	}
	if t.Failed() {
		t.Log(b.Text())
		return
	}
	t.Logf("%d tests passed in %s", passed, b.Elapsed.Round(100*time.Millisecond))
}

// TestLabOnSecondKernel runs the tests of the lab of namespaces on Debian's
// kernel.
func TestLabOnSecondKernel(t *testing.T) {
	b := newBench(t)
	job := b.job()
	for _, p := range b.labPackages() {
		b.add(&job, p)
	}
	b.run(job)
}

// TestMachine runs the tests that need a machine of their own: NICs with a
// permanent address, a VLAN-aware bridge, hot plug, the clock.
func TestMachine(t *testing.T) {
	b := newBench(t)
	job := b.job()
	job.NICs = []vm.NIC{
		{ID: guest.Uplink, MAC: guest.MAC(guest.Uplink), Segment: 1},
		{ID: guest.Partner, MAC: guest.MAC(guest.Partner), Segment: 1},
		{ID: guest.Alone, MAC: guest.MAC(guest.Alone), Segment: 2},
		{ID: guest.External, MAC: guest.MAC(guest.External), Segment: 3},
		{ID: guest.Port, MAC: guest.MAC(guest.Port), Segment: 3},
	}
	b.addAgent(&job)
	b.add(&job, testPackage{ImportPath: guestDir, Dir: "guest", env: []string{insideLab}})
	b.run(job)
}

// TestNoResultIsAFailure holds that a machine that does not get through is never
// taken for one that did.
func TestNoResultIsAFailure(t *testing.T) {
	b := newBench(t)
	for name, spoil := range map[string]struct {
		spoil func(*vm.Job)
		want  string
	}{
		"first process that is none": {
			func(j *vm.Job) { j.Binaries[0].File, j.Init = j.Init, filepath.Join(b.dir, "true") }, "without a result",
		},
		"setup that fails": {
			func(j *vm.Job) { j.Setup = [][]string{{"ip", "link", "add", "made", "type", "nonsense"}} }, "it gave up",
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := b.job()
			job.Output = nil
			truth := filepath.Join(b.dir, "true.go")
			if err := os.WriteFile(truth, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(b.dir, "true")
			b.goTool("build", "-o", program, truth)
			job.Binaries = []vm.Binary{{Name: "true", File: program}}
			spoil.spoil(&job)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := vm.Run(ctx, job)
			if err == nil || !strings.Contains(err.Error(), spoil.want) {
				t.Errorf("error %v, want one with %q", err, spoil.want)
			}
		})
	}
}
