package provision_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
	"homeward/talosgen/provision"
)

// pvesh stands in for Proxmox's: it notes every call, answers "get" from a file
// and makes "set" fail where told.
const pvesh = `#!/bin/sh
echo "$*" >>"$LAB/calls"
file="$LAB/$(echo "$2" | tr / _)"
case $1 in
get) [ ! -e "$LAB/down" ] && cat "$file" ;;
set) [ ! -e "$file.locked" ] ;;
esac
`

// lab is a Proxmox node with the VMs of fullPlan, as they were made.
type lab struct {
	dir, script string
}

func newLab(t *testing.T, p *netplan.Plan) lab {
	t.Helper()
	text, err := provision.NICScript(p)
	if err != nil {
		t.Fatal(err)
	}
	l := lab{dir: t.TempDir()}
	l.script = l.put(t, "nics.sh", string(text))
	l.put(t, "bin/pvesh", pvesh)
	l.vm(t, "pve1", "101", "stopped", `{"name":"edge-controlplane-01","net0":"virtio=02:00:00:00:00:01,bridge=vmbr0,queues=4"}`)
	l.vm(t, "pve2", "301", "stopped", `{"name":"edge-batch-01","net0":"virtio=02:AA:00:00:00:01,bridge=vmbr1,firewall=1,mtu=9000","net1":"virtio=02:AA:00:00:00:02,bridge=vmbr9"}`)
	l.vm(t, "pve2", "201", "stopped", `{"memory":4096,"name":"edge-worker-01"}`)
	return l
}

func (l lab) put(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func (l lab) vm(t *testing.T, node, id, status, config string) {
	t.Helper()
	name := "_nodes_" + node + "_qemu_" + id
	l.put(t, name+"_config", config)
	l.put(t, name+"_status_current", `{"status":"`+status+`","qmpstatus":"running","vmid":`+id+`}`)
}

// run gives the exit code, all output, and the calls that change something.
func (l lab) run(t *testing.T, args ...string) (int, string, []string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{l.script}, args...)...)
	cmd.Env = append(os.Environ(), "LAB="+l.dir, "PATH="+filepath.Join(l.dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	var sets []string
	calls, _ := os.ReadFile(filepath.Join(l.dir, "calls"))
	for line := range strings.Lines(string(calls)) {
		if strings.HasPrefix(line, "set ") {
			sets = append(sets, strings.TrimSpace(line))
		}
	}
	return cmd.ProcessState.ExitCode(), string(out), sets
}

func TestNICScriptSets(t *testing.T) {
	want := []string{
		"set /nodes/pve1/qemu/101/config --net0 virtio=02:48:71:02:90:ea,bridge=vmbr1,firewall=1,mtu=9000 --net1 virtio=02:1c:d2:41:cb:5e,bridge=vmbr0,firewall=1,tag=1691",
		"set /nodes/pve2/qemu/201/config --net0 virtio=bc:24:11:00:00:01,bridge=vmbr1,firewall=1,mtu=9000 --net1 virtio=bc:24:11:00:00:02,bridge=vmbr0,firewall=1,tag=1691",
	}
	l := newLab(t, fullPlan(t))
	code, out, sets := l.run(t)
	if code != 0 {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	if diff := cmp.Diff(want, sets); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	golden(t, "run.txt", []byte(out))

	t.Run("dry run", func(t *testing.T) {
		code, out, sets := newLab(t, fullPlan(t)).run(t, "--dry-run")
		if code != 0 || sets != nil || !strings.Contains(out, "net0 was virtio=02:00:00:00:00:01,bridge=vmbr0,queues=4") {
			t.Errorf("exit %d, calls %v:\n%s", code, sets, out)
		}
	})
	t.Run("a Proxmox that tells nothing", func(t *testing.T) {
		l := newLab(t, fullPlan(t))
		for _, vm := range []string{"pve1_qemu_101", "pve2_qemu_201", "pve2_qemu_301"} {
			l.put(t, "_nodes_"+vm+"_config", "")
		}
		if code, out, sets := l.run(t); code != 0 || len(sets) != 3 {
			t.Errorf("exit %d, calls %v:\n%s", code, sets, out)
		}
	})
}

func TestNICScriptRefuses(t *testing.T) {
	tests := []struct {
		name   string
		plan   func(*testing.T) *netplan.Plan
		change func(*testing.T, lab)
		args   []string
		code   int
		want   []string
	}{
		{name: "machines without node or vmid", plan: barePlan, code: 1, want: []string{
			"edge-controlplane-01: no vmid", "edge-worker-01: no node", "edge-worker-01: no vmid", "3 faults, nothing was changed"}},
		{name: "also in a dry run", plan: barePlan, args: []string{"--dry-run"}, code: 1, want: []string{"edge-worker-01: no vmid"}},
		{name: "no VM", code: 1, want: []string{"edge-worker-01: cannot read VM 201 on node pve2"},
			change: func(t *testing.T, l lab) { remove(t, l, "_nodes_pve2_qemu_201_config") }},
		{name: "no Proxmox", code: 1, want: []string{"edge-controlplane-01: cannot read", "edge-batch-01: cannot read", "3 faults"},
			change: func(t *testing.T, l lab) { l.put(t, "down", "") }},
		{name: "another VM", code: 1, want: []string{"VM 201 on node pve2 is called database"},
			change: func(t *testing.T, l lab) { l.vm(t, "pve2", "201", "stopped", `{"name":"database"}`) }},
		{name: "a running VM that would change", code: 1, want: []string{"VM 201 on node pve2 is running"},
			change: func(t *testing.T, l lab) { l.vm(t, "pve2", "201", "running", `{"name":"edge-worker-01"}`) }},
		{name: "an unknown option", args: []string{"--force"}, code: 2, want: []string{"usage:"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := fullPlan
			if tt.plan != nil {
				plan = tt.plan
			}
			l := newLab(t, plan(t))
			if tt.change != nil {
				tt.change(t, l)
			}
			code, out, sets := l.run(t, tt.args...)
			if code != tt.code || sets != nil {
				t.Errorf("exit %d, want %d; changed %v", code, tt.code, sets)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func TestNICScriptOverrides(t *testing.T) {
	l := newLab(t, fullPlan(t))
	l.vm(t, "pve2", "201", "running", `{"name":"database"}`)
	if code, out, sets := l.run(t, "--running", "--any-name"); code != 0 || len(sets) != 2 {
		t.Errorf("exit %d, calls %v:\n%s", code, sets, out)
	}
	t.Run("a running VM that stays the same needs none", func(t *testing.T) {
		l := newLab(t, fullPlan(t))
		l.vm(t, "pve2", "301", "running", `{"name":"edge-batch-01","net0":"virtio=02:aa:00:00:00:01,bridge=vmbr1,firewall=1,mtu=9000"}`)
		if code, out, sets := l.run(t); code != 0 || len(sets) != 2 {
			t.Errorf("exit %d, calls %v:\n%s", code, sets, out)
		}
	})
	t.Run("a failed set stops the run", func(t *testing.T) {
		l := newLab(t, fullPlan(t))
		l.put(t, "_nodes_pve1_qemu_101_config.locked", "")
		if code, out, sets := l.run(t); code == 0 || len(sets) != 1 {
			t.Errorf("exit %d, calls %v:\n%s", code, sets, out)
		}
	})
}

func remove(t *testing.T, l lab, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestNICScriptQuotes(t *testing.T) {
	p := fullPlan(t)
	p.Cluster.Bridge = `x'; touch "$LAB/pwned"; '$(touch "$LAB/pwned")`
	l := newLab(t, p)
	l.run(t)
	if _, err := os.Stat(filepath.Join(l.dir, "pwned")); err == nil {
		t.Error("a value of the plan was run")
	}
}

func TestNICScriptPassesShellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("shellcheck is not installed")
		}
		t.Skip("shellcheck is not installed")
	}
	for name, p := range map[string]*netplan.Plan{"full": fullPlan(t), "bare": barePlan(t), "no machine": {}} {
		text, err := provision.NICScript(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Machines) > 0 {
			golden(t, name+".nics.sh", text)
		}
		cmd := exec.Command(shellcheck, "--severity=style", "-")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
