//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"homeward/testenv/pvesim"
)

// use lets the commands of this process speak to a running simulator.
func (p *labProxmox) use(t *testing.T) {
	t.Helper()
	for name, value := range p.env {
		if strings.HasPrefix(name, "HOMEWARD_PROXMOX_") {
			t.Setenv(name, value)
		}
	}
}

// TestExitCodesUnderFaults is what a script sees, by the faults it can ask for.
func TestExitCodesUnderFaults(t *testing.T) {
	for _, test := range []struct {
		fault           string
		status, reserve exitCode
		again           exitCode // status after that
	}{
		{"no-quorum", exitDifference, exitFailed, exitDifference},
		{"no-quorum:2", exitDifference, exitFailed, exitDifference},
		{"lock-timeout:2", exitDifference, exitDone, exitDone},
		{"lost-answer", exitDifference, exitDone, exitDone},
		{"lost-write:2", exitDifference, exitDone, exitDone},
		{"lost-write", exitDifference, exitUnknown, exitDifference},
		{"unavailable", exitUnknown, exitUnknown, exitUnknown},
	} {
		t.Run(test.fault, func(t *testing.T) {
			r := newLabRun(t)
			p := startLabProxmox(t, r, "--fault", test.fault)
			p.use(t)
			file := planFile(t)
			for i, step := range []struct {
				command string
				want    exitCode
			}{{"status", test.status}, {"reserve", test.reserve}, {"status", test.again}} {
				if got := homeward(t, step.command, "-f", file); got.code != int(step.want) {
					t.Errorf("step %d, %s: exit %d, want %d: %s%s", i, step.command, got.code, step.want, got.out, got.err)
				}
			}
			p.end(t, r, syscall.SIGTERM)
		})
	}
}

// TestLabProxmoxExampleState takes the printed example as a script would.
func TestLabProxmoxExampleState(t *testing.T) {
	r := newLabRun(t)
	example := r.run("lab", "proxmox", "--example-state")
	if example.code != 0 || example.err != "" {
		t.Fatalf("%+v", example)
	}
	var st pvesim.State
	if err := json.Unmarshal([]byte(example.out), &st); err != nil {
		t.Fatal(err)
	}
	var parts map[string]any
	if err := json.Unmarshal([]byte(example.out), &parts); err != nil {
		t.Fatal(err)
	}
	for part := range parts {
		if part != "name" && !strings.Contains(stateHelp, "\n  "+part+" ") {
			t.Errorf("the help does not describe %s", part)
		}
	}
	for _, test := range []struct {
		token           string
		status, reserve exitCode
	}{
		{"homeward@pve!status", exitDifference, exitFailed},
		{"homeward@pve!reserve", exitDifference, exitDone},
		{"root@pam!homeward", exitDifference, exitDone},
	} {
		t.Run(test.token, func(t *testing.T) {
			r := newLabRun(t)
			state := filepath.Join(t.TempDir(), "pve.json")
			if err := os.WriteFile(state, []byte(example.out), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startLabProxmox(t, r, "--state", state, "--token", test.token)
			p.use(t)
			file := planFile(t)
			if got := homeward(t, "status", "-f", file); got.code != int(test.status) {
				t.Errorf("status: exit %d, want %d: %s%s", got.code, test.status, got.out, got.err)
			}
			if got := homeward(t, "reserve", "-f", file); got.code != int(test.reserve) {
				t.Errorf("reserve: exit %d, want %d: %s%s", got.code, test.reserve, got.out, got.err)
			}
			p.end(t, r, syscall.SIGTERM)
		})
	}
}

// TestGuestMadeOverTheAPIHasItsAddress is a script's way to a taken address.
func TestGuestMadeOverTheAPIHasItsAddress(t *testing.T) {
	r := newLabRun(t)
	p := startLabProxmox(t, r)
	p.use(t)
	if status, body := p.call(t, "POST", "/nodes/pve1/qemu", "vmid=104&name=squatter&net0=virtio,bridge%3Dvmbr0,tag%3D1691&ipconfig0=ip%3D203.0.113.77/25"); status != "200 OK" || !strings.Contains(body, "UPID:pve1:") {
		t.Fatalf("%s: %s", status, body)
	}
	file := planFile(t)
	if got := homeward(t, "reserve", "-f", file); got.code != int(exitTaken) || !strings.Contains(got.out+got.err, "squatter") {
		t.Errorf("reserve: %+v", got)
	}
	if status, body := p.call(t, "DELETE", "/nodes/pve1/qemu/104", ""); status != "200 OK" {
		t.Fatalf("%s: %s", status, body)
	}
	if got := homeward(t, "reserve", "-f", file); got.code != int(exitDone) {
		t.Errorf("reserve: %+v", got)
	}
	p.end(t, r, syscall.SIGTERM)
}
