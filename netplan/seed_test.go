package netplan_test

import (
	"net/netip"
	"testing"

	"homeward/netplan"
)

func ptr[T any](v T) *T { return &v }

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func ranges(t testing.TB, texts ...string) netplan.AddressSet {
	t.Helper()
	var set netplan.AddressSet
	for _, text := range texts {
		r, err := netplan.ParseRange(text)
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, r)
	}
	return set
}

// seed is the plan of the project's first document: three control planes, three
// workers, pool and VIP on VLAN 1691.
func seed(t testing.TB) netplan.Spec {
	t.Helper()
	return netplan.Spec{
		Name:          "edge",
		Talos:         netplan.TalosSpec{Version: "v1.13.9"},
		Kubernetes:    netplan.KubernetesSpec{Version: "v1.36.3"},
		ControlPlanes: ptr(3),
		Workers:       []netplan.PoolSpec{{Name: "worker", Count: ptr(3)}},
		DNS:           []netip.Addr{addr("10.0.0.1")},
		Proxmox:       &netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006"},
		Cluster:       netplan.LinkSpec{Bridge: "vmbr1", CIDR: prefix("10.0.0.0/24")},
		External: &netplan.ExternalSpec{
			LinkSpec: netplan.LinkSpec{
				Bridge: "vmbr0", VLAN: ptr(1691), CIDR: prefix("203.0.113.0/25"),
				Gateway: addr("203.0.113.1"), KubeAPIVIP: addr("203.0.113.79"),
			},
			AnchorCIDR: prefix("169.254.32.0/20"),
			Pool:       ranges(t, "203.0.113.75-203.0.113.78"),
		},
	}
}

// resolve fails the test on any fault.
func resolve(t testing.TB, s netplan.Spec) *netplan.Plan {
	t.Helper()
	p, faults := netplan.Resolve(s)
	if len(faults) > 0 {
		t.Fatalf("unexpected faults: %v", faults)
	}
	return p
}

// machine finds one by name.
func machine(t testing.TB, p *netplan.Plan, name string) netplan.Machine {
	t.Helper()
	for _, m := range p.Machines {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no machine %s", name)
	return netplan.Machine{}
}
