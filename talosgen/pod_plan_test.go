package talosgen_test

import (
	"net/netip"
	"testing"

	"homeward/netplan"
)

// podPlan is a plan with three control planes, one worker with the external NIC
// and one without, after the change that a test needs.
func podPlan(t *testing.T, change func(*netplan.Spec)) *netplan.Plan {
	t.Helper()
	pool, err := netplan.ParseRange("203.0.113.75-203.0.113.78")
	if err != nil {
		t.Fatal(err)
	}
	spec := netplan.Spec{
		Name:          "edge",
		Talos:         netplan.TalosSpec{Version: "v1.13.9"},
		Kubernetes:    netplan.KubernetesSpec{Version: "v1.36.3"},
		ControlPlanes: new(3),
		Workers: []netplan.PoolSpec{
			{Name: "worker", Count: new(1)},
			{Name: "batch", Count: new(1), NoExternal: true},
		},
		DNS:     []netip.Addr{netip.MustParseAddr("10.0.0.1")},
		Proxmox: &netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006"},
		Cluster: netplan.LinkSpec{Bridge: "vmbr1", CIDR: netip.MustParsePrefix("10.0.0.0/24")},
		External: &netplan.ExternalSpec{
			LinkSpec: netplan.LinkSpec{
				Bridge: "vmbr0", VLAN: new(1691),
				CIDR:       netip.MustParsePrefix("203.0.113.0/25"),
				Gateway:    netip.MustParseAddr("203.0.113.1"),
				KubeAPIVIP: netip.MustParseAddr("203.0.113.79"),
			},
			AnchorCIDR: netip.MustParsePrefix("169.254.32.0/20"),
			Pool:       netplan.AddressSet{pool},
		},
	}
	if change != nil {
		change(&spec)
	}
	plan, faults := netplan.Resolve(spec)
	if len(faults) > 0 {
		t.Fatalf("the test's plan is refused: %v", faults)
	}
	return plan
}

// podMachine is a machine of the plan by its name.
func podMachine(t *testing.T, p *netplan.Plan, name string) netplan.Machine {
	t.Helper()
	for _, m := range p.Machines {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no machine %s in the plan", name)
	return netplan.Machine{}
}
