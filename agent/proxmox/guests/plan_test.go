package guests

import (
	"net/netip"
	"testing"

	"homeward/agent/ledger"
	"homeward/netplan"
)

var owner = ledger.Owner{ID: "0123456789abcdef", Cluster: "edge"}

func mac(t testing.TB, s string) netplan.MAC {
	t.Helper()
	m, err := netplan.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func addressRange(t testing.TB, s string) netplan.Range {
	t.Helper()
	r, err := netplan.ParseRange(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// edge is a plan with one control plane and one worker, and three allowlists.
func edge(t testing.TB) *netplan.Plan {
	office := []netplan.AllowedHost{{Name: "office", Prefix: netip.MustParsePrefix("198.51.100.0/24")}}
	return &netplan.Plan{
		Name:       "edge",
		Kubernetes: netplan.Kubernetes{PodCIDR: netip.MustParsePrefix("10.244.0.0/16")},
		Cluster:    netplan.Cluster{Segment: netplan.Segment{Bridge: "vmbr1"}, CIDR: netip.MustParsePrefix("10.0.0.0/24"), MTU: 1500},
		External: &netplan.External{
			Segment: netplan.Segment{Bridge: "vmbr0", VLAN: 1691}, CIDR: netip.MustParsePrefix("203.0.113.0/25"), MTU: 1500,
			IngressPool: netplan.AddressSet{addressRange(t, "203.0.113.75-203.0.113.78")},
		},
		KubeAPI: netplan.KubeAPI{VIP: netip.MustParseAddr("203.0.113.79"), Link: netplan.LinkExternal},
		Security: []netplan.Allow{
			{Name: "kubernetes", Port: 6443, Hosts: office},
			{Name: "metrics", Port: 9100, Hosts: office},
			{Name: "talos", Port: 50000, Hosts: append(office, netplan.AllowedHost{Name: "ops #1", Prefix: netip.MustParsePrefix("192.0.2.9/32")})},
		},
		Machines: []netplan.Machine{
			{Name: "edge-controlplane-01", Role: netplan.RoleControlPlane, External: true, Address: netip.MustParseAddr("10.0.0.11"),
				Anchor: netip.MustParseAddr("169.254.32.9"), MACs: netplan.MACs{Cluster: mac(t, "02:00:00:00:00:01"), External: mac(t, "02:00:00:00:00:02")}},
			{Name: "edge-worker-01", Role: netplan.RoleWorker, External: true, VMID: 201, ExternalAddress: netip.MustParseAddr("203.0.113.61"),
				Anchor: netip.MustParseAddr("169.254.32.10"), MACs: netplan.MACs{Cluster: mac(t, "02:00:00:00:00:03"), External: mac(t, "02:00:00:00:00:04")}},
		},
	}
}
