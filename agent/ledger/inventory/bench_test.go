package inventory

import (
	"fmt"
	"net/netip"
	"testing"

	"homeward/netplan"
)

// crowd is a cluster of n guests on the segment, each with two NICs, a static
// address, a filter set and a live address.
func crowd(n int) *Snapshot {
	s := &Snapshot{Nodes: threeNodes()}
	for i := range n {
		mac := netplan.MAC{0xbc, 0x24, 0x11, byte(i >> 16), byte(i >> 8), byte(i)}
		a := netip.AddrFrom4([4]byte{10, 7, byte(i >> 8), byte(i)})
		g := vm(1000+i, fmt.Sprintf("guest-%d", i), "pve1",
			fmt.Sprintf("net0: virtio=02:%02x:%02x:%02x:00:00,bridge=vmbr1,firewall=1,queues=4", byte(i>>16), byte(i>>8), byte(i)),
			fmt.Sprintf("net1: virtio=%s,bridge=vmbr0,tag=1691,firewall=1", mac),
			fmt.Sprintf("ipconfig1: ip=%s/16,gw=10.7.0.1", a), "name: guest", "agent: 1")
		g.Live = []LiveAddress{{Interface: "ens19", MAC: mac, Address: a}}
		s.Guests = append(s.Guests, g)
		s.Sets = append(s.Sets, IPSet{VMID: g.VMID, Name: "ipfilter-net1", Members: []Member{{CIDR: a.String()}}})
	}
	return s
}

func crowdPlan(t testing.TB) *netplan.Plan {
	plan := edgePlan(t)
	plan.External.CIDR = netip.MustParsePrefix("10.6.0.0/15")
	pool, err := netplan.ParseRange("10.7.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	plan.External.IngressPool = netplan.AddressSet{pool}
	return plan
}

// BenchmarkSurvey is what status and reserve do once everything is read: 10,000
// guests that all have an address of a /16 pool.
func BenchmarkSurvey(b *testing.B) {
	plan, s := crowdPlan(b), crowd(10_000)
	for b.Loop() {
		survey, err := Take(plan, s)
		if err != nil {
			b.Fatal(err)
		}
		if v := Judge(plan, survey, nil); len(v.Conflicts) != 20_000 {
			b.Fatalf("%d conflicts, want those of 10,000 addresses and 10,000 filters", len(v.Conflicts))
		}
	}
}
