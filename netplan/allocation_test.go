package netplan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"homeward/netplan"
)

// allocation is what the load-balancing page shows for cloudSeed.
func allocation() netplan.Allocation {
	return netplan.Allocation{
		Cluster: "edge", Owner: "4f1d0c77a2b95e63",
		KubeAPI: netplan.AllocatedAddress{Fixed: addr("192.0.2.5"), Floating: addr("203.0.113.81")},
		Ingress: netplan.AllocatedAddress{Fixed: addr("192.0.2.10"), Floating: addr("203.0.113.80")},
	}
}

func TestAllocatedCompletesThePlan(t *testing.T) {
	s := cloudSeed()
	s.KubeAPISANs = []string{"api.example.edu"}
	before := resolve(t, s)
	if before.KubeAPI.VIP.IsValid() || before.KubeAPI.Endpoint != "" || before.Ingress.Fixed.IsValid() || len(before.ServicePool()) != 0 {
		t.Errorf("nothing is allocated, and yet: %+v, %+v", before.KubeAPI, before.Ingress)
	}
	p, err := before.Allocated(allocation())
	if err != nil {
		t.Fatal(err)
	}
	if k := p.KubeAPI; k.VIP != addr("192.0.2.5") || k.Fixed != k.VIP || k.Link != netplan.LinkCluster || k.Floating != addr("203.0.113.81") || k.Endpoint != "https://203.0.113.81:6443" {
		t.Errorf("the API is %+v", k)
	}
	if want := []string{"192.0.2.5", "203.0.113.81", "api.example.edu"}; !slices.Equal(p.KubeAPI.SANs, want) {
		t.Errorf("names are %q, want %q", p.KubeAPI.SANs, want)
	}
	if in := p.Ingress; in.Fixed != addr("192.0.2.10") || in.Address != in.Fixed || in.Floating != addr("203.0.113.80") {
		t.Errorf("the ingress is %+v", in)
	}
	if got := p.ServicePool(); len(got) != 1 || got[0].String() != "192.0.2.10/32" {
		t.Errorf("MetalLB's pool is %v", got)
	}
	if before.KubeAPI.VIP.IsValid() || before.Ingress.Fixed.IsValid() || !slices.Equal(before.KubeAPI.SANs, []string{"api.example.edu"}) {
		t.Error("the plan itself was changed")
	}
	t.Run("a name of the operator's stays the endpoint", func(t *testing.T) {
		s := cloudSeed()
		s.KubeAPIEndpoint = "api.example.edu"
		p, err := resolve(t, s).Allocated(allocation())
		if err != nil || p.KubeAPI.Endpoint != "https://api.example.edu:6443" {
			t.Errorf("got %v, %v", p, err)
		}
	})
	t.Run("what is chosen is known before", func(t *testing.T) {
		s := cloudSeed()
		s.OpenStack.KubeAPIAddress, s.OpenStack.KubeAPIFloatingIP = addr("192.0.2.5"), addr("203.0.113.81")
		s.OpenStack.IngressAddress, s.OpenStack.IngressFloatingIP = addr("192.0.2.10"), addr("203.0.113.80")
		before := resolve(t, s)
		after, err := before.Allocated(allocation())
		if err != nil {
			t.Fatal(err)
		}
		if changes := netplan.Compare(before, after); len(changes) > 0 {
			t.Errorf("and yet it changes: %v", changes)
		}
	})
}

func TestAllocatedRefuses(t *testing.T) {
	type A = netplan.Allocation
	type S = netplan.Spec
	none := func(*S) {}
	for name, c := range map[string]struct {
		spec func(*S)
		edit func(*A)
		want string
	}{
		"another cluster":     {none, func(a *A) { a.Cluster = "core" }, `cluster "core"'s, not edge's`},
		"no fixed address":    {none, func(a *A) { a.KubeAPI.Fixed = netip.Addr{} }, "no IPv4 address as kubeapi.fixed"},
		"no floating IP":      {none, func(a *A) { a.Ingress.Floating = netip.Addr{} }, "no IPv4 address as ingress.floating"},
		"IPv6":                {none, func(a *A) { a.Ingress.Floating = addr("2001:db8::1") }, "no IPv4 address as ingress.floating"},
		"another one chosen":  {func(s *S) { s.OpenStack.IngressAddress = addr("192.0.2.11") }, func(*A) {}, "ingress.fixed is 192.0.2.10 in the allocation, and 192.0.2.11 in the plan"},
		"another floating IP": {func(s *S) { s.OpenStack.KubeAPIFloatingIP = addr("203.0.113.99") }, func(*A) {}, "kubeapi.floating is 203.0.113.81"},
		"another network":     {func(s *S) { s.Cluster.CIDR = prefix("192.168.7.0/24") }, func(*A) {}, "no host's address in 192.168.7.0/24"},
		"a machine has it": {func(s *S) { s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("192.0.2.10")}} },
			func(*A) {}, "edge-worker-01's"},
		"one address twice":     {none, func(a *A) { a.KubeAPI.Fixed = a.Ingress.Fixed }, "192.0.2.10 for both"},
		"one floating IP twice": {none, func(a *A) { a.KubeAPI.Floating = a.Ingress.Floating }, "203.0.113.80 for both"},
	} {
		t.Run(name, func(t *testing.T) {
			s, a := cloudSeed(), allocation()
			c.spec(&s)
			c.edit(&a)
			got, err := resolve(t, s).Allocated(a)
			if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("another provider", func(t *testing.T) {
		if _, err := resolve(t, seed(t)).Allocated(allocation()); err == nil || !strings.Contains(err.Error(), "proxmox") {
			t.Errorf("got %v", err)
		}
	})
}
