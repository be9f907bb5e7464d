package netplan_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"
)

// randomSpec is a plan that may or may not be possible.
func randomSpec(t testing.TB, rnd *rand.Rand) netplan.Spec {
	s := seed(t)
	s.Name = fmt.Sprintf("c%d", rnd.IntN(1000))
	s.ControlPlanes = ptr(1 + rnd.IntN(5))
	s.Workers = nil
	for i := range rnd.IntN(4) {
		s.Workers = append(s.Workers, netplan.PoolSpec{Name: fmt.Sprintf("p%d", i), Count: ptr(rnd.IntN(60)), NoExternal: rnd.IntN(4) == 0})
	}
	bits := 16 + rnd.IntN(12)
	base := netip.AddrFrom4([4]byte{169, 254, byte(rnd.IntN(256)), 0})
	s.External.AnchorCIDR = netip.PrefixFrom(base, bits).Masked()
	first := rnd.IntN(120)
	s.External.Pool = ranges(t, fmt.Sprintf("203.0.113.%d-203.0.113.%d", first, first+rnd.IntN(10)))
	return s
}

func TestResolvedPlansHoldTheirPromises(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	resolved := 0
	for range 2000 {
		s := randomSpec(t, rnd)
		p, faults := netplan.Resolve(s)
		if (p == nil) != (len(faults) > 0) {
			t.Fatalf("plan %v with faults %v", p, faults)
		}
		if p == nil {
			continue
		}
		resolved++
		anchors := map[netip.Addr]bool{}
		for _, m := range p.Machines {
			if !m.External {
				if m.Anchor.IsValid() {
					t.Fatalf("%s has an anchor and no NIC", m.Name)
				}
				continue
			}
			if anchors[m.Anchor] || !p.External.AnchorCIDR.Contains(m.Anchor) {
				t.Fatalf("anchor %s of %s is taken or outside %s", m.Anchor, m.Name, p.External.AnchorCIDR)
			}
			if strings.HasPrefix(m.Anchor.String(), "169.254.0.") || strings.HasPrefix(m.Anchor.String(), "169.254.255.") || m.Anchor == addr("169.254.169.254") {
				t.Fatalf("anchor %s of %s belongs to others", m.Anchor, m.Name)
			}
			anchors[m.Anchor] = true
		}
		for _, a := range p.External.IngressAddresses {
			if a == p.External.Gateway || a == p.KubeAPI.VIP || a == addr("203.0.113.127") || a == addr("203.0.113.0") {
				t.Fatalf("pool address %s is somebody else's", a)
			}
		}
		if len(netplan.Compare(p, resolve(t, s))) > 0 {
			t.Fatal("the same spec gave two plans")
		}
	}
	if resolved < 500 {
		t.Errorf("only %d of 2000 random plans could be resolved: the test sees too little", resolved)
	}
}

// Growing the last pool moves nobody, whatever the order of hashes.
func TestGrowingTheLastPoolMovesNobody(t *testing.T) {
	s := seed(t)
	s.External.AnchorCIDR = prefix("169.254.32.0/26")
	before := resolve(t, s)
	s.Workers[0].Count = ptr(50)
	after := resolve(t, s)
	for _, m := range before.Machines {
		if got := machine(t, after, m.Name).Anchor; got != m.Anchor {
			t.Errorf("%s moved from %s to %s", m.Name, m.Anchor, got)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"203.0.113.75-203.0.113.78", "203.0.113.75-78", "203.0.113.16/30", "203.0.113.9", "::1-::2", "255.255.255.255", "0.0.0.0/0", "1.2.3.4-", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := netplan.ParseRange(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x00\x1b\n\r") {
				t.Errorf("control characters in %q", err)
			}
			return
		}
		if r.Last.Less(r.First) || r.Count() < 1 {
			t.Errorf("%q gives %v", s, r)
		}
		again, err := netplan.ParseRange(r.String())
		if err != nil || again.First != r.First || again.Last != r.Last {
			t.Errorf("%q printed as %q reads as %v, %v", s, r, again, err)
		}
	})
}

func FuzzMerged(f *testing.F) {
	f.Add([]byte{1, 2, 2, 3, 200, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		var set netplan.AddressSet
		want := map[netip.Addr]bool{}
		for i := 0; i+1 < len(b) && i < 40; i += 2 {
			lo, hi := min(b[i], b[i+1]), max(b[i], b[i+1])
			set = append(set, netplan.Range{First: netip.AddrFrom4([4]byte{255, 255, 255, lo}), Last: netip.AddrFrom4([4]byte{255, 255, 255, hi})})
			for a := int(lo); a <= int(hi); a++ {
				want[netip.AddrFrom4([4]byte{255, 255, 255, byte(a)})] = true
			}
		}
		got := set.Addresses()
		if len(got) != len(want) {
			t.Fatalf("%d addresses, want %d", len(got), len(want))
		}
		for i, a := range got {
			if !want[a] || i > 0 && !got[i-1].Less(a) {
				t.Fatalf("address %s is wrong or out of order", a)
			}
		}
		merged := set.Merged()
		for i := 1; i < len(merged); i++ {
			if merged[i-1].Last.Next() == merged[i].First || merged[i-1].Overlaps(merged[i]) {
				t.Fatalf("%v and %v could be one", merged[i-1], merged[i])
			}
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			s := seed(b)
			s.External.CIDR, s.External.Gateway, s.External.KubeAPIVIP = prefix("100.64.0.0/15"), addr("100.64.0.1"), addr("100.64.0.2")
			s.External.Pool = ranges(b, "100.65.0.0/16")
			s.External.AnchorCIDR, s.Cluster.CIDR = prefix("169.254.0.0/16"), prefix("10.0.0.0/16")
			s.Workers[0].Count = ptr(n - 3)
			b.ReportAllocs()
			for b.Loop() {
				if _, faults := netplan.Resolve(s); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/machine")
		})
	}
}
