//go:build linux

package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/kernel"
	"homeward/agent/ledger/inventory"
	"homeward/agent/segment"
	"homeward/netplan"
)

func TestWhatOthersReservedIsAskedForToo(t *testing.T) {
	planned := netip.MustParseAddr("203.0.113.75")
	s := &inventory.Snapshot{Sets: []inventory.IPSet{
		{Scope: "cluster", Name: "hw-vmbr0-1691", Members: []inventory.Member{
			{CIDR: "203.0.113.75"}, {CIDR: "203.0.113.90"}, {CIDR: "203.0.113.96/30"}, {CIDR: "dc/alias"},
		}},
		{Scope: "cluster", Name: "hw-vmbr0-1692", Members: []inventory.Member{{CIDR: "203.0.113.91"}}},
		{Scope: "VM 113", VMID: 113, Name: "hw-vmbr0-1691", Members: []inventory.Member{{CIDR: "203.0.113.92"}}},
	}}
	w := watched{leg: kernel.LegConfig{Bridge: "vmbr0", VLAN: 1691}, targets: []segment.Target{{Address: planned, Use: segment.UseIngress, Ours: true}}}
	w.fromRecord(s)
	want := []segment.Target{
		{Address: planned, Use: segment.UseIngress, Ours: true},
		{Address: netip.MustParseAddr("203.0.113.90"), Use: segment.UseReserved},
	}
	if diff := cmp.Diff(want, w.targets, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestAPlanForOpenStackHasNoSegmentHere(t *testing.T) {
	var w watched
	err := w.fromPlan(&netplan.Plan{Name: "edge", Provider: netplan.OpenStack, OpenStack: &netplan.OpenStackCloud{ExternalNet: "public"}})
	if err == nil || !strings.Contains(err.Error(), "OpenStack") {
		t.Errorf("got %v", err)
	}
}
