package netplan

import (
	"net/netip"
	"testing"
)

// setOf makes a set of pairs of last octets.
func setOf(b []byte) (AddressSet, map[netip.Addr]bool) {
	set, members := AddressSet{}, map[netip.Addr]bool{}
	at := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{255, 255, 255, byte(n)}) }
	for i := 0; i+1 < len(b) && i < 20; i += 2 {
		lo, hi := int(min(b[i], b[i+1])), int(max(b[i], b[i+1]))
		set = append(set, Range{First: at(lo), Last: at(hi)})
		for a := lo; a <= hi; a++ {
			members[at(a)] = true
		}
	}
	return set, members
}

func FuzzMinusAndWithin(f *testing.F) {
	f.Add([]byte{0, 127}, []byte{0, 0, 1, 1, 79, 79, 127, 127}, byte(3), byte(100))
	f.Add([]byte{0, 255, 3, 9}, []byte{250, 255, 0, 4}, byte(0), byte(255))
	f.Add([]byte{9, 9}, []byte{9, 9}, byte(9), byte(9))
	f.Fuzz(func(t *testing.T, a, b []byte, x, y byte) {
		set, in := setOf(a)
		holes, out := setOf(b)
		window := Range{First: netip.AddrFrom4([4]byte{255, 255, 255, min(x, y)}), Last: netip.AddrFrom4([4]byte{255, 255, 255, max(x, y)})}
		minus, within := map[netip.Addr]bool{}, map[netip.Addr]bool{}
		for _, addr := range set.Minus(holes).Addresses() {
			minus[addr] = true
		}
		for _, addr := range set.within(window).Addresses() {
			within[addr] = true
		}
		for n := range 256 {
			addr := netip.AddrFrom4([4]byte{255, 255, 255, byte(n)})
			if minus[addr] != (in[addr] && !out[addr]) {
				t.Errorf("%v minus %v: %s is in it: %v", set, holes, addr, minus[addr])
			}
			if within[addr] != (in[addr] && window.Contains(addr)) {
				t.Errorf("%v within %v: %s is in it: %v", set, window, addr, within[addr])
			}
		}
		for _, r := range set.Minus(holes) {
			if r.Last.Less(r.First) {
				t.Errorf("%v minus %v has %v", set, holes, r)
			}
		}
	})
}
