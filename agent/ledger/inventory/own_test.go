package inventory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"homeward/netplan"
)

// NICs of the plan's first worker, of its second, and of nobody.
const (
	nic1a = "net0: virtio=02:00:00:00:00:02,bridge=vmbr1"
	nic1b = "net1: virtio=02:00:00:00:01:02,bridge=vmbr0,tag=1691"
	nic2b = "net1: virtio=02:00:00:00:01:03,bridge=vmbr0,tag=1691"
	other = "net0: virtio=BC:24:11:00:00:99,bridge=vmbr1"
)

func TestOwnGuests(t *testing.T) {
	template := vm(900, "edge-worker-01", "pve1", nic1a, nic1b)
	template.Template = true
	for _, c := range []struct {
		name   string
		vmid   int // the plan's for edge-worker-01
		guests []Guest
		// found is "machine=VMID by what", strangers are sources, fault is a part of one.
		found, strangers []string
		fault            string
	}{
		{name: "nothing is there yet"},
		{name: "by its MACs and its name", guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1a, nic1b)}, found: []string{"edge-worker-01=202 mac"}},
		{name: "by a MAC, with another name", guests: []Guest{vm(202, "renamed", "pve1", other, nic1b)}, found: []string{"edge-worker-01=202 mac"}},
		{name: "by its name alone", guests: []Guest{vm(202, "Edge-Worker-01", "pve1", other)}, found: []string{"edge-worker-01=202 name"}},
		{name: "two of its name and none of its MACs", guests: []Guest{vm(202, "edge-worker-01", "pve1", other), vm(203, "edge-worker-01", "pve2", other)},
			fault: `edge-worker-01: VM 202 "edge-worker-01" on pve1; VM 203 "edge-worker-01" on pve2 all have its name and none has its MACs: give machines.edge-worker-01.vmid`},
		{name: "one of its MACs on two guests, the name decides", guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1a, nic1b), vm(300, "copy", "pve2", nic1b)},
			found: []string{"edge-worker-01=202 mac"}, strangers: []string{`VM 300 "copy" on pve2, net1`}},
		{name: "the name decides though the other comes first", guests: []Guest{vm(100, "copy", "pve2", nic1a, nic1b), vm(202, "edge-worker-01", "pve1", nic1b)},
			found: []string{"edge-worker-01=202 mac"}, strangers: []string{`VM 100 "copy" on pve2, net0`, `VM 100 "copy" on pve2, net1`}},
		{name: "two clusters of one name", guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1b), vm(302, "edge-worker-01", "pve2", nic1b)},
			fault:     "all have its name and its MACs, as two clusters of one name would",
			strangers: []string{`VM 202 "edge-worker-01" on pve1, net1`, `VM 302 "edge-worker-01" on pve2, net1`}},
		{name: "two clusters of one name, the VMID decides", vmid: 302, guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1b), vm(302, "edge-worker-01", "pve2", nic1b)},
			found: []string{"edge-worker-01=302 vmid"}, strangers: []string{`VM 202 "edge-worker-01" on pve1, net1`}},
		{name: "its MACs on two guests of other names", guests: []Guest{vm(202, "a", "pve1", nic1a), vm(203, "b", "pve1", nic1b)},
			fault: "have its MACs and none has its name", strangers: []string{`VM 202 "a" on pve1, net0`, `VM 203 "b" on pve1, net1`}},
		{name: "its VMID with its name", vmid: 202, guests: []Guest{vm(202, "edge-worker-01", "pve1", other)}, found: []string{"edge-worker-01=202 vmid"}},
		{name: "its VMID with a MAC", vmid: 202, guests: []Guest{vm(202, "renamed", "pve1", nic1a)}, found: []string{"edge-worker-01=202 vmid"}},
		{name: "its VMID with another name and no MAC", vmid: 202, guests: []Guest{vm(202, "precious", "pve1", other), vm(203, "edge-worker-01", "pve1", nic1b)},
			fault: `edge-worker-01: the plan gives it VMID 202, but VM 202 "precious" on pve1 has another name and none of its MACs, so it is left alone: correct machines.edge-worker-01.vmid`, strangers: []string{`VM 203 "edge-worker-01" on pve1, net1`}},
		{name: "its VMID is gone, a MAC under another name is a stranger", vmid: 202, guests: []Guest{vm(203, "copy", "pve1", nic1b)}, strangers: []string{`VM 203 "copy" on pve1, net1`}},
		{name: "its VMID is gone, name and MAC are its own", vmid: 202, guests: []Guest{vm(203, "edge-worker-01", "pve1", nic1b)}, found: []string{"edge-worker-01=203 mac"}},
		{name: "its VMID is gone, a name alone is not enough", vmid: 202, guests: []Guest{vm(203, "edge-worker-01", "pve1", other)}},
		{name: "its VMID is a container", vmid: 202, guests: []Guest{ct(202, "edge-worker-01", "pve1")}, fault: "is a container or a template"},
		{name: "a container is never a machine", guests: []Guest{ct(202, "edge-worker-01", "pve1", "net0: name=eth0,hwaddr=02:00:00:00:01:02,bridge=vmbr0")},
			strangers: []string{`CT 202 "edge-worker-01" on pve1, net0`}},
		{name: "a template is never a machine", guests: []Guest{template}},
		{name: "a machine with another machine's MAC", guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1a, nic2b), vm(203, "edge-worker-02", "pve1", nic2b)},
			found: []string{"edge-worker-01=202 mac", "edge-worker-02=203 mac"}, strangers: []string{`VM 202 "edge-worker-01" on pve1, net1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := edgePlan(t)
			plan.Machines[1].VMID = c.vmid
			own := OwnGuests(plan, &Snapshot{Guests: c.guests})
			var found, strangers []string
			for _, g := range own.Guests {
				found = append(found, fmt.Sprintf("%s=%d %s", g.Machine, g.VMID, g.Found))
			}
			for _, s := range own.Strangers {
				strangers = append(strangers, s.Source)
			}
			if diff := cmp.Diff(c.found, found); diff != "" {
				t.Errorf("found: %s", diff)
			}
			if diff := cmp.Diff(c.strangers, strangers); diff != "" {
				t.Errorf("strangers: %s", diff)
			}
			if all := strings.Join(own.Faults, "\n"); !strings.Contains(all, c.fault) || c.fault == "" && all != "" {
				t.Errorf("faults %q, want %q", all, c.fault)
			}
			if len(own.Guests)+len(own.Missing) != len(plan.Machines) {
				t.Errorf("%d found and %d missing of %d machines", len(own.Guests), len(own.Missing), len(plan.Machines))
			}
		})
	}
}

func TestOwnGuestSaysWhatDiffers(t *testing.T) {
	plan := edgePlan(t)
	plan.Machines[1].VMID, plan.Machines[1].Node = 202, "pve1"
	own := OwnGuests(plan, &Snapshot{Guests: []Guest{vm(202, "renamed", "pve2", nic1a)}})
	want := []string{`its name is "renamed"`, "it is on pve2, the plan says pve1", "none of its NICs has the plan's external MAC 02:00:00:00:01:02"}
	if len(own.Guests) != 1 {
		t.Fatalf("found %+v", own)
	}
	if diff := cmp.Diff(want, own.Guests[0].Differs); diff != "" {
		t.Error(diff)
	}
	if machine, ok := own.Machine(202); !ok || machine != "edge-worker-01" {
		t.Errorf("VM 202 is %q, %v", machine, ok)
	}
}

// A MAC that is only to come counts: after the next start two guests have it.
func TestPendingMACIsAStrangers(t *testing.T) {
	g := vm(300, "x", "pve1", other)
	g.Pending = options("net1: virtio=02:00:00:00:01:02,bridge=vmbr0")
	own := OwnGuests(edgePlan(t), &Snapshot{Guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1b), g}})
	want := []Claim{{Kind: PlanMAC, Source: `VM 300 "x" on pve1, net1`, VMID: 300, MAC: netplan.MAC{2, 0, 0, 0, 1, 2}, Pending: true,
		Remedy: "give that NIC another MAC, or the machine another one (machines.edge-worker-01.macs)"}}
	if diff := cmp.Diff(want, own.Strangers, cmpopts.EquateComparable(netplan.Range{})); diff != "" {
		t.Error(diff)
	}
}

func TestNearAndNames(t *testing.T) {
	plan, s := edgePlan(t), richSnapshot()
	if diff := cmp.Diff([]int{113, 114, 117, 118, 119, 120, 121, 122, 124, 125, 201, 202, 203, 900}, Near(plan, s)); diff != "" {
		t.Errorf("near the segment: %s", diff)
	}
	machines := Machines(plan, &Snapshot{Guests: []Guest{vm(202, "edge-worker-01", "pve1", nic1a, "net1: virtio=BC:24:11:00:00:77,bridge=vmbr0"), vm(300, "x", "pve1", other)}})
	for text, want := range map[string]string{"bc:24:11:00:00:77": "edge-worker-01", "02:00:00:00:01:02": "edge-worker-01", "02:00:00:00:00:01": "edge-controlplane-01", "bc:24:11:00:00:99": ""} {
		if got := machines[mustMAC(t, text)]; got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	names := Names(s)
	for text, want := range map[string]string{"bc:24:11:00:00:13": "db1", "02:00:00:00:01:01": "edge-controlplane-01 and edge-worker-01"} {
		if got := names[mustMAC(t, text)]; got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
