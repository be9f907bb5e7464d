package ledger

import (
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"
)

func TestTheNameOfASegmentsRecord(t *testing.T) {
	for name, c := range map[string]struct {
		segment netplan.Segment
		want    string
	}{
		"bridge and VLAN":         {netplan.Segment{Bridge: "vmbr0", VLAN: 1691}, "hw-vmbr0-1691"},
		"untagged":                {netplan.Segment{Bridge: "vmbr0"}, "hw-vmbr0-0"},
		"capitals":                {netplan.Segment{Bridge: "vmbrDMZ", VLAN: 4094}, "hw-vmbrdmz-4094"},
		"dots and underscores":    {netplan.Segment{Bridge: "br_a.b-c", VLAN: 1}, "hw-br-a-b-c-1"},
		"VNet":                    {netplan.Segment{VNet: "web"}, "hw-vnet-web"},
		"VNet with capitals":      {netplan.Segment{VNet: "Web1"}, "hw-vnet-web1"},
		"VLAN inside a VNet":      {netplan.Segment{VNet: "web", VLAN: 7}, "hw-vnet-web-7"},
		"a bridge called vnet":    {netplan.Segment{Bridge: "vnet", VLAN: 30}, "hw-vnet-30"},
		"a bridge that ends in -": {netplan.Segment{Bridge: "br-", VLAN: 30}, "hw-br--30"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetName(c.segment)
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v", got, err)
			}
			back, ok := SegmentOf(got)
			lower := netplan.Segment{Bridge: mapped(c.segment.Bridge), VNet: mapped(c.segment.VNet), VLAN: c.segment.VLAN}
			if !ok || back != lower {
				t.Errorf("%s reads as %+v, %v", got, back, ok)
			}
			pool, addr, ok := ParseAddressPool(AddressPool(got, goodAddress))
			if !ok || pool != got || addr != goodAddress {
				t.Errorf("the pool of %s reads as %q, %s, %v", goodAddress, pool, addr, ok)
			}
		})
	}
}

func TestSegmentsWithoutAName(t *testing.T) {
	for name, s := range map[string]netplan.Segment{
		"neither":          {},
		"both":             {Bridge: "vmbr0", VNet: "web"},
		"a path":           {Bridge: "../etc"},
		"a space":          {Bridge: "vmbr 0"},
		"a VNet with dash": {VNet: "web-1"},
		"a VNet of digits": {VNet: "30"},
		"a VLAN too high":  {Bridge: "vmbr0", VLAN: 4095},
		"too long":         {Bridge: strings.Repeat("b", 70)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := SetName(s); err == nil {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTwoBridgesOfOneNameAreRefused(t *testing.T) {
	ours := netplan.Segment{Bridge: "br_a", VLAN: 5}
	for name, c := range map[string]struct {
		other netplan.Segment
		clash bool
	}{
		"itself":          {ours, false},
		"another VLAN":    {netplan.Segment{Bridge: "br-a", VLAN: 6}, false},
		"another bridge":  {netplan.Segment{Bridge: "br-b", VLAN: 5}, false},
		"dash":            {netplan.Segment{Bridge: "br-a", VLAN: 5}, true},
		"capital":         {netplan.Segment{Bridge: "BR_A", VLAN: 5}, true},
		"nameless passes": {netplan.Segment{Bridge: "a b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckNames(ours, []netplan.Segment{ours, c.other})
			if (err != nil) != c.clash {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := CheckNames(netplan.Segment{VNet: "abc", VLAN: 30}, []netplan.Segment{{Bridge: "vnet-abc", VLAN: 30}}); err == nil {
		t.Error("a bridge that is named like a VNet's record passes")
	}
}

func TestNamesThatAreNoRecords(t *testing.T) {
	for _, name := range []string{"", "hw-", "hw-vmbr0", "hw-vmbr0-", "hw-vmbr0-x", "hw-vmbr0-4095", "hw-vmbr0-007", "HW-vmbr0-1",
		"hw-vmbr0-1 ", "blocklist", "hw--1", "hw-vnet-", "hw-vnet-1a", "hw-" + strings.Repeat("b", 70) + "-1"} {
		if s, ok := SegmentOf(name); ok {
			t.Errorf("%q reads as %+v", name, s)
		}
		if SameSegment(name, name) {
			t.Errorf("%q counts as a record", name)
		}
	}
	for _, id := range []string{"hw-vmbr0-1", "hw-vmbr0-1/", "hw-vmbr0-1/x", "hw-vmbr0-1/192.0.2.011", "hw-vmbr0-1/::1", "hw-vmbr0-1/192.0.2.1/x", "x/192.0.2.1"} {
		if name, a, ok := ParseAddressPool(id); ok {
			t.Errorf("%q reads as %s %s", id, name, a)
		}
	}
}

func TestSameSegment(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"hw-vmbr0-30", "hw-vmbr0-30", true},
		{"hw-vmbr0-30", "hw-vmbr0-30/192.0.2.11", true},
		{"hw-vmbr0-30/192.0.2.12", "hw-vmbr0-30/192.0.2.11", true},
		{"hw-vmbr0-30", "hw-vmbr0-3", false},
		{"hw-vmbr0-30", "hw-vmbr1-30", false},
		{"hw-vnet-a", "hw-vnet-a/192.0.2.1", true},
		{"hw-vnet-a", "hw-vnet-b", false},
	} {
		if got := SameSegment(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func FuzzSegmentOf(f *testing.F) {
	for _, s := range []string{"hw-vmbr0-1691", "hw-vnet-web", "hw-vnet-30", "hw-vnet-a-30", "hw---0", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, ok := SegmentOf(name)
		if !ok {
			return
		}
		if again, err := SetName(s); err != nil || again != name {
			t.Fatalf("%q reads as %+v, whose name is %q (%v)", name, s, again, err)
		}
		if id := AddressPool(name, netip.AddrFrom4([4]byte{192, 0, 2, 1})); !SameSegment(name, id) {
			t.Fatalf("%s is not of %s", id, name)
		}
	})
}
