package provision_test

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fullPlan has a machine of every shape: with and without the external NIC, with
// addresses of its own and without.
func fullPlan(t *testing.T) *netplan.Plan {
	t.Helper()
	mac := func(s string) netplan.MAC {
		m, err := netplan.ParseMAC(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	return &netplan.Plan{
		Name:    "edge",
		Cluster: netplan.Cluster{Segment: netplan.Segment{Bridge: "vmbr1"}, MTU: 9000},
		External: &netplan.External{
			Segment: netplan.Segment{Bridge: "vmbr0", VLAN: 1691}, MTU: 1500,
		},
		Machines: []netplan.Machine{
			{Name: "edge-controlplane-01", Role: netplan.RoleControlPlane, External: true, VMID: 101, Node: "pve1",
				MACs:   netplan.MACs{Cluster: mac("02:48:71:02:90:ea"), External: mac("02:1c:d2:41:cb:5e")},
				Anchor: netip.MustParseAddr("169.254.38.87")},
			{Name: "edge-batch-01", Role: netplan.RoleWorker, VMID: 301, Node: "pve2",
				MACs: netplan.MACs{Cluster: mac("02:aa:00:00:00:01")}},
			{Name: "edge-worker-01", Role: netplan.RoleWorker, External: true, VMID: 201, Node: "pve2",
				MACs:            netplan.MACs{Cluster: mac("bc:24:11:00:00:01"), External: mac("bc:24:11:00:00:02")},
				Address:         netip.MustParseAddr("10.0.0.61"),
				ExternalAddress: netip.MustParseAddr("203.0.113.61"),
				Anchor:          netip.MustParseAddr("169.254.32.9")},
		},
	}
}

// barePlan is fullPlan before its VMs are known, on VNets.
func barePlan(t *testing.T) *netplan.Plan {
	p := fullPlan(t)
	p.Cluster.Segment = netplan.Segment{VNet: "priv"}
	p.External.Segment = netplan.Segment{VNet: "pub", VLAN: 7}
	p.Machines[0].VMID = 0
	p.Machines[2].VMID, p.Machines[2].Node = 0, ""
	return p
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
