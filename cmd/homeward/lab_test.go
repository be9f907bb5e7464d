//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// labRun is the tool in a process of its own, with directories of its own.
type labRun struct {
	t *testing.T
	// mark stands in the environment of every process that comes of it.
	mark    string
	runtime string
	temp    string
}

func newLabRun(t *testing.T) *labRun {
	t.Helper()
	// Short, since a socket's path is at most 107 bytes.
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		t.Fatal(err)
	}
	r := &labRun{t: t, mark: filepath.Base(dir) + "-mark", runtime: filepath.Join(dir, "run"), temp: filepath.Join(dir, "tmp")}
	for _, d := range []string{r.runtime, r.temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		r.wantNothingLeft()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *labRun) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), asMain+"="+r.mark, "XDG_RUNTIME_DIR="+r.runtime, "TMPDIR="+r.temp)
	// A group of its own, so that a test can interrupt it as a terminal does.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (r *labRun) run(args ...string) result { return finish(r.t, r.command(args...)) }

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// ordinary gives an ordinary user, who owns the run's directories; nil when the
// test's own user is one, or is alone in a container.
func (r *labRun) ordinary() *syscall.Credential {
	r.t.Helper()
	const nobody = 65534
	if os.Getuid() != 0 || os.Chown(r.temp, nobody, nobody) != nil {
		return nil
	}
	if err := os.Chmod(filepath.Dir(r.temp), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody}
}

// wantNothingLeft wants no process, and so no namespace of the lab, whose hosts
// live by descriptors alone, and no file.
func (r *labRun) wantNothingLeft() {
	r.t.Helper()
	for _, pid := range r.processes() {
		line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // only for the message
		r.t.Errorf("process %s is left: %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
	for _, dir := range []string{r.runtime, r.temp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			r.t.Error(err)
		}
		for _, e := range entries {
			r.t.Errorf("%s is left", filepath.Join(dir, e.Name()))
		}
	}
}

// processes lists the living processes with the run's mark.
func (r *labRun) processes() []string {
	r.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		r.t.Fatal(err)
	}
	var pids []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(asMain+"="+r.mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// needLab skips where the lab's namespaces are forbidden, and fails in CI.
func needLab(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "version")
	cmd.Env = append(os.Environ(), asMain+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	need(t, "namespaces", cmd.Run())
	_, err := exec.LookPath("nft")
	need(t, "nft for the stand-in of the agent", err)
}

func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("needs %s: %v", what, err)
	default:
		t.Skipf("needs %s: %v", what, err)
	}
}

// The stand-ins' rules. Both keep their table by looking often.
const (
	marksInPrerouting = `
	chain prerouting {
		type filter hook prerouting priority -150; policy accept;
		iifname "ens19" ct direction original ct mark set ct mark or 0x2000
		ct direction reply ct mark and 0x2000 == 0x2000 meta mark set meta mark or 0x2000
	}`
	marksInOutput = `
	chain output {
		type route hook output priority -150; policy accept;
		ct direction reply ct mark and 0x2000 == 0x2000 meta mark set meta mark or 0x2000
	}`
)

// standIn writes a program that stands in for the agent with these chains. It has
// a child, as an agent in a container may.
func standIn(t *testing.T, chains ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), agentName)
	script := `#!/bin/sh -eu
test "$1" = node
echo "$@" >>"$0.told"
sleep 600 &
while :; do
	nft list table inet homeward >/dev/null 2>&1 || nft -f - <<RULES
table inet homeward {` + strings.Join(chains, "") + `
}
RULES
	sleep 0.05
done
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// waitFor polls until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func killText(t *testing.T, pid string) {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	// It may have died with its parent already.
	if err := syscall.Kill(number, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
}
