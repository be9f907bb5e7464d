//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabUpExecDown(t *testing.T) {
	needLab(t)
	r := newLabRun(t)
	agent := standIn(t, marksInPrerouting, marksInOutput)
	up := r.run("lab", "up", "--agent", agent)
	if up.code != 0 || up.err != "" || !strings.Contains(up.out, "homeward lab down") {
		t.Fatalf("lab up: exit %d: %s%s", up.code, up.out, up.err)
	}
	t.Cleanup(func() { r.run("lab", "down") })
	const ask = `exec 3<>/dev/tcp/203.0.113.75/8000; printf "homeward\0\0\0\14" >&3; timeout 5 head -c 8 <&3`
	tests := map[string]struct {
		args []string
		want result
	}{
		"a client behind the router is answered": {[]string{"behind", "--", "bash", "-c", ask}, result{0, "homeward", ""}},
		"the exit code is the program's":         {[]string{"node2", "--", "sh", "-c", "echo no >&2; exit 7"}, result{7, "", "no\n"}},
		"the host's own links":                   {[]string{"node1", "--", "sh", "-c", "cd /sys/class/net && echo ens*"}, result{0, "ens18 ens19\n", ""}},
		"a host without a program":               {[]string{"node1"}, result{2, "", "homeward: no program to run on node1: homeward lab exec node1 -- COMMAND\n"}},
		"an unknown host":                        {[]string{"node9", "--", "true"}, result{2, "", "homeward: no host \"node9\" in this lab: homeward lab exec lists them\n"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := r.run(append([]string{"lab", "exec"}, test.args...)...)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without arguments the hosts are listed, and each is there", func(t *testing.T) {
		list := r.run("lab", "exec")
		lines := strings.Split(strings.TrimSpace(list.out), "\n")
		if list.code != 0 || len(lines) != 10 {
			t.Fatalf("exit %d: %s%s", list.code, list.out, list.err)
		}
		for _, line := range lines[1:] {
			if got := r.run("lab", "exec", strings.Fields(line)[0], "--", "true"); got.code != 0 {
				t.Errorf("%s: exit %d: %s", line, got.code, got.err)
			}
		}
	})
	t.Run("the agents own the routes, which no Talos puts back", func(t *testing.T) {
		told, err := os.ReadFile(agent + ".told")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(told)) {
			flags := strings.Fields(line)
			last := ""
			for _, flag := range flags {
				if value, ok := strings.CutPrefix(flag, "--routes="); ok {
					last = value
				}
			}
			if last != "manage" {
				t.Errorf("an agent was told %q", flags)
			}
		}
	})
	t.Run("there is one lab", func(t *testing.T) {
		for _, args := range [][]string{{"lab", "up", "--agent", agent}, {"lab", "up", "--foreground", "--agent", agent}} {
			if got := r.run(args...); got.code != 1 || !strings.Contains(got.err, "a lab is up already") {
				t.Errorf("%v: exit %d: %s", args, got.code, got.err)
			}
		}
	})
	if got := r.run("lab", "down"); got != (result{}) {
		t.Errorf("lab down: %+v", got)
	}
	r.wantNothingLeft()
}

func TestLabWithoutAgentLosesReplies(t *testing.T) {
	needLab(t)
	r := newLabRun(t)
	if got := r.run("lab", "up", "--without-agent"); got.code != 0 {
		t.Fatalf("lab up: exit %d: %s", got.code, got.err)
	}
	got := r.run("lab", "exec", "behind", "--", "timeout", "1", "bash", "-c", "exec 3<>/dev/tcp/203.0.113.75/8000")
	if got.code != 124 {
		t.Errorf("asking without an agent: exit %d, want 124 (timed out): %s", got.code, got.err)
	}
	t.Run("the help's commands put the routes back", func(t *testing.T) {
		for _, state := range []string{"down", "up"} {
			if got := r.run("lab", "exec", "node1", "--", "ip", "link", "set", "ens19", state); got.code != 0 {
				t.Fatalf("%+v", got)
			}
		}
		routes := func() string { return r.run("lab", "exec", "node1", "--", "ip", "route", "show", "table", "251").out }
		if got := routes(); got != "" {
			t.Fatalf("the routes are still there: %s", got)
		}
		for line := range strings.Lines(r.run("lab", "up", "--help").out) {
			if strings.Contains(line, "ip route replace") {
				if got := r.run(strings.Fields(line)[1:]...); got.code != 0 {
					t.Errorf("%s: %+v", line, got)
				}
			}
		}
		if got := routes(); strings.Count(got, "dev ens19") != 2 {
			t.Errorf("table 251 has %q", got)
		}
	})
	if got := r.run("lab", "down"); got.code != 0 {
		t.Errorf("lab down: exit %d: %s", got.code, got.err)
	}
}

func TestLabForegroundEnds(t *testing.T) {
	needLab(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			r := newLabRun(t)
			cmd := r.command("lab", "up", "--foreground", "--without-agent")
			done := make(chan result, 1)
			go func() { done <- finish(t, cmd) }()
			waitFor(t, "the lab", func() bool { return r.run("lab", "exec", "node1", "--", "true").code == 0 })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if got := <-done; got != (result{}) {
				t.Errorf("outcome %+v", got)
			}
			r.wantNothingLeft()
		})
	}
}

// TestLabOfAnOrdinaryUser has no runtime directory, and inside its lab the user's
// number is another than outside.
func TestLabOfAnOrdinaryUser(t *testing.T) {
	needLab(t)
	r := newLabRun(t)
	credential := r.ordinary()
	run := func(args ...string) result {
		cmd := r.command(args...)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR=")
		cmd.SysProcAttr.Credential = credential
		return finish(t, cmd)
	}
	if got := run("lab", "up", "--without-agent"); got.code != 0 || got.err != "" {
		t.Fatalf("lab up: %+v", got)
	}
	if got := run("lab", "exec", "node1", "--", "id", "-u"); got != (result{0, "0\n", ""}) {
		t.Errorf("lab exec: %+v", got)
	}
	if got := run("lab", "down"); got != (result{}) {
		t.Errorf("lab down: %+v", got)
	}
}

// TestLabKilled shows that a lab whose holder was killed leaves no process, and
// that what is left of its directory hinders nobody.
func TestLabKilled(t *testing.T) {
	needLab(t)
	for _, next := range []string{"down", "up"} {
		t.Run("then "+next, func(t *testing.T) {
			r := newLabRun(t)
			if got := r.run("lab", "up", "--without-agent"); got.code != 0 {
				t.Fatalf("lab up: exit %d: %s", got.code, got.err)
			}
			for _, pid := range r.processes() {
				killText(t, pid)
			}
			waitFor(t, "the processes to end", func() bool { return len(r.processes()) == 0 })
			args := []string{"lab", next}
			if next == "up" {
				args = append(args, "--without-agent")
			}
			if got := r.run(args...); got.code != 0 {
				t.Errorf("%v: exit %d: %s", args, got.code, got.err)
			}
			if got := r.run("lab", "down"); got.code != 0 {
				t.Errorf("lab down: exit %d: %s", got.code, got.err)
			}
		})
	}
}

func TestLabWithoutOneUp(t *testing.T) {
	r := newLabRun(t)
	if got := r.run("lab", "exec", "node1", "--", "true"); got.code != 1 || got.err != "homeward: no lab is up: homeward lab up\n" {
		t.Errorf("lab exec: %+v", got)
	}
	if got := r.run("lab", "down"); got != (result{0, "", "no lab is up\n"}) {
		t.Errorf("lab down: %+v", got)
	}
	if got := r.run("lab", "up", "--agent", "no/agent"); got.code != 2 {
		t.Errorf("lab up without the agent: %+v", got)
	}
}

func TestLabDirectoryOfOthersIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // whatever the umask
		t.Fatal(err)
	}
	if _, err := stateDir(dir).claim(); err == nil || !strings.Contains(err.Error(), "yours alone") {
		t.Errorf("a directory that all can write to: %v", err)
	}
	link := dir + "-link"
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := stateDir(link).claim(); err == nil {
		t.Error("a link to elsewhere is taken")
	}
}
