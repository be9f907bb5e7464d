package main

import (
	"strings"
	"testing"

	"homeward/testenv/pvesim"
)

// A subnet that SDN learns of later has not heard of what is held: the next reserve
// tells it.
func TestReserveCatchesUpInTheIPAM(t *testing.T) {
	p := simulated(t, func(s *pvesim.State) {
		s.AddZone("lz", map[string]string{"type": "vlan", "bridge": "vmbr0", "ipam": "pve"})
		s.AddVNet("vl1", "lz", 1691)
	})
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	if err := p.Change(func(s *pvesim.State) error { return s.AddSubnet("vl1", "203.0.113.0/25", "") }); err != nil {
		t.Fatal(err)
	}
	if r := p.wants(exitDifference, "status", "-f", file); !strings.Contains(r.out, "not in the SDN IPAM of VNet vl1") {
		t.Errorf("status:\n%s", r.out)
	}
	p.wants(exitDone, "reserve", "-f", file)
	p.wants(exitDone, "status", "-f", file)
	before := p.State()
	p.wants(exitDone, "reserve", "-f", file)
	if !p.State().Equal(before) {
		t.Error("another run changed something")
	}
	// What is somebody else's there by now is a conflict, and stays his.
	if err := p.Change(func(s *pvesim.State) error {
		s.AddVNet("vl2", "lz", 1692)
		return s.AddSubnet("vl2", "203.0.113.128/25", "")
	}); err != nil {
		t.Fatal(err)
	}
	p.wants(exitDone, "release", "-f", file)
	p.wantMembers([]string{})
	if err := p.Change(func(s *pvesim.State) error {
		return s.AddIP("lz", "203.0.113.0/25", "203.0.113.75", "BC:24:11:11:11:11", "", 0)
	}); err != nil {
		t.Errorf("the release left an entry in the IPAM: %v", err)
	}
}

// A running guest that the token may not see still has its port at the bridge.
func TestAGuestThatIsHiddenIsNotAbsent(t *testing.T) {
	p := simulated(t, func(s *pvesim.State) {
		if err := s.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 113, Node: "pve2", Running: true, Config: map[string]string{
			"name": "db1", "net1": "virtio=BC:24:11:00:00:99,bridge=vmbr0,tag=1691", "ipconfig1": "ip=203.0.113.75/25",
		}}); err != nil {
			t.Fatal(err)
		}
	})
	all := []string{"Sys.Audit", "Sys.Modify", "VM.Audit", "SDN.Audit", "Pool.Audit", "Pool.Allocate"}
	p.weak(t, pvesim.Grant{Path: "/", Privileges: all, Propagate: true}, pvesim.Grant{Path: "/vms/113", Privileges: nil})
	if r := p.wants(exitUnknown, "reserve", "-f", planFile(t)); !strings.Contains(r.out, "guest 113 on pve2") {
		t.Errorf("it says\n%s", r.out)
	}
	p.wantMembers([]string{})
}
