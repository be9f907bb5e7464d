//go:build linux

package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
)

// fakePVE is an /etc/pve of this host with two guests: one is the plan's first
// worker with a MAC of Proxmox's own making, the other is somebody else's.
func fakePVE(t *testing.T) string {
	t.Helper()
	node, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	node, _, _ = strings.Cut(node, ".")
	dir := t.TempDir()
	guests := filepath.Join(dir, "nodes", node, "qemu-server")
	if err := os.MkdirAll(guests, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"101.conf": "name: edge-worker-01\nnet0: virtio=02:01:00:00:00:01,bridge=vmbr1\nnet1: virtio=BC:24:11:00:01:01,bridge=vmbr0,tag=1691\n",
		"113.conf": "name: webserver\nnet0: virtio=BC:24:11:5A:10:77,bridge=vmbr0,tag=1691\n",
	} {
		if err := os.WriteFile(filepath.Join(guests, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mac(t *testing.T, s string) netplan.MAC {
	t.Helper()
	m, err := netplan.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHostGathers(t *testing.T) {
	t.Run("machines by plan and by /etc/pve, others by /etc/pve", func(t *testing.T) {
		w, err := hostOptions{planFile: planJSON(t), pve: fakePVE(t)}.gather()
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]string{
			"02:00:00:00:00:01": "edge-worker-01", "02:01:00:00:00:01": "edge-worker-01, private NIC", "bc:24:11:00:01:01": "edge-worker-01",
		} {
			if got := w.ours[mac(t, address)]; got != want {
				t.Errorf("%s is ours as %q, want %q", address, got, want)
			}
		}
		stranger := mac(t, "bc:24:11:5a:10:77")
		if w.ours[stranger] != "" || w.name(stranger) != "webserver" {
			t.Errorf("%s is ours as %q, called %q", stranger, w.ours[stranger], w.name(stranger))
		}
		if want := (kernel.LegConfig{Bridge: "vmbr0", VLAN: 1691}); w.leg != want {
			t.Errorf("at %+v, want %+v", w.leg, want)
		}
	})
	t.Run("the command line has the last word on the gateway", func(t *testing.T) {
		w, err := hostOptions{planFile: planJSON(t), gateway: netip.MustParseAddr("203.0.113.126"), witnesses: []netip.Addr{segPool}}.gather()
		if err != nil {
			t.Fatal(err)
		}
		got := segment.Witnesses(w.targets)
		if len(got) != 2 || got[0] != segPool || got[1] != netip.MustParseAddr("203.0.113.126") {
			t.Errorf("witnesses %v", got)
		}
	})
	t.Run("no plan and no place", func(t *testing.T) {
		if _, err := (hostOptions{}).gather(); err == nil {
			t.Error("it would look nowhere")
		}
	})
	t.Run("a file that is no plan", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(name, []byte(`{"kind":"something"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (hostOptions{planFile: name}).gather(); err == nil || !strings.Contains(err.Error(), "homeward generate") {
			t.Errorf("error %v, want one that says which file is right", err)
		}
	})
}
