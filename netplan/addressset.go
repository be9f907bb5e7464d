package netplan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Range is an inclusive range of IPv4 addresses, First not after Last. Its text
// form is a CIDR where it was given as one, else "a-b", a single address as /32:
// what MetalLB accepts.
type Range struct {
	First, Last netip.Addr
	cidr        netip.Prefix // how it was given, zero when not as a CIDR
}

// AddressSet is ranges in the operator's order; they may touch or overlap until
// checked. JSON: a list of strings.
type AddressSet []Range

// ParseRange reads an address, "a-b" or a CIDR. The error names the text that
// would be right where it can be told.
func ParseRange(s string) (Range, error) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "/") {
		return parseRangeCIDR(s)
	}
	first, last, isRange := strings.Cut(s, "-")
	first, last = strings.TrimSpace(first), strings.TrimSpace(last)
	a, err := ParseAddr(first)
	if err != nil {
		return Range{}, err
	}
	if !isRange {
		return Range{First: a, Last: a}, nil
	}
	if err := shorthand(a, last); err != nil {
		return Range{}, err
	}
	b, err := ParseAddr(last)
	if err != nil {
		return Range{}, err
	}
	if b.Less(a) {
		return Range{}, fmt.Errorf("range %s-%s starts after its end: give %s-%s", a, b, b, a)
	}
	return Range{First: a, Last: b}, nil
}

// shorthand refuses "203.0.113.75-78" with the text that was meant.
func shorthand(first netip.Addr, last string) error {
	n, err := strconv.ParseUint(last, 10, 8)
	if err != nil {
		return nil
	}
	b := first.As4()
	b[3] = byte(n)
	meant := netip.AddrFrom4(b)
	if meant.Less(first) {
		return fmt.Errorf("range end %s is not an address: give both ends in full", Quote(last))
	}
	return fmt.Errorf("range end %s is not an address: give %s-%s", Quote(last), first, meant)
}

func parseRangeCIDR(s string) (Range, error) {
	p, err := ParsePrefix(s)
	if err != nil {
		return Range{}, err
	}
	if p != p.Masked() {
		return Range{}, fmt.Errorf("%s has host bits set: give %s, or %s for the one address", p, p.Masked(), p.Addr())
	}
	return Range{First: p.Addr(), Last: LastAddr(p), cidr: p}, nil
}

// ParseAddr reads an IPv4 address.
func ParseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err == nil && a.Is4():
		return a, nil
	case err == nil:
		return netip.Addr{}, fmt.Errorf("%s is IPv6, which is not yet supported: give an IPv4 address", Quote(s))
	case strings.Contains(s, "/"):
		if p, err := netip.ParsePrefix(s); err == nil {
			return netip.Addr{}, fmt.Errorf("%s is a network, not an address: leave the prefix length out (%s)", Quote(s), p.Addr())
		}
	}
	return netip.Addr{}, fmt.Errorf("%s is not an IPv4 address", Quote(s))
}

// ParsePrefix reads an IPv4 CIDR; host bits are kept for Check to name.
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err == nil && p.Addr().Is4():
		return p, nil
	case err == nil:
		return netip.Prefix{}, fmt.Errorf("%s is IPv6, which is not yet supported: give an IPv4 network", Quote(s))
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return netip.Prefix{}, fmt.Errorf("%s is an address, not a network: add a prefix length, like %s/24", Quote(s), a)
	}
	if a, mask, ok := strings.Cut(s, "/"); ok {
		if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
			if bits, ok := maskBits(m); ok {
				return netip.Prefix{}, fmt.Errorf("%s has a netmask: give the prefix length, %s/%d", Quote(s), a, bits)
			}
		}
	}
	return netip.Prefix{}, fmt.Errorf("%s is not an IPv4 network: give it like 203.0.113.0/25", Quote(s))
}

// maskBits gives the prefix length of a netmask, false when a is none.
func maskBits(a netip.Addr) (int, bool) {
	v := toUint(a)
	for bits := 0; bits <= 32; bits++ {
		if v == ^uint32(0)<<(32-bits) {
			return bits, true
		}
	}
	return 0, false
}

// LastAddr is the highest address of p (the broadcast address up to a /30).
func LastAddr(p netip.Prefix) netip.Addr {
	host := ^uint32(0) >> p.Bits()
	if p.Bits() == 32 {
		host = 0
	}
	return fromUint(toUint(p.Masked().Addr()) | host)
}

// Contains says whether a lies in r.
func (r Range) Contains(a netip.Addr) bool {
	return a.Is4() && !a.Less(r.First) && !r.Last.Less(a)
}

// Overlaps says whether the two share an address.
func (r Range) Overlaps(o Range) bool {
	return !r.Last.Less(o.First) && !o.Last.Less(r.First)
}

// Count is the number of addresses, at least 1.
func (r Range) Count() int { return int(toUint(r.Last)-toUint(r.First)) + 1 }

// String gives the range as MetalLB takes it.
func (r Range) String() string {
	switch {
	case r.cidr.IsValid():
		return r.cidr.String()
	case r.First == r.Last:
		return r.First.String() + "/32"
	}
	return r.First.String() + "-" + r.Last.String()
}

// MarshalText implements encoding.TextMarshaler.
func (r Range) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Range) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRange(string(b))
	return err
}

// without takes the network and broadcast address of link off the ends of a
// range that was given as a CIDR. A range of "a-b" is left for Check to refuse.
func (r Range) without(link netip.Prefix) (Range, error) {
	if !r.cidr.IsValid() || link.Bits() >= 31 {
		return r, nil
	}
	first, last := r.First, r.Last
	if first == link.Masked().Addr() {
		first = first.Next()
	}
	if last == LastAddr(link) {
		last = last.Prev()
	}
	if first == r.First && last == r.Last {
		return r, nil
	}
	if last.Less(first) {
		return r, errors.New("holds no address besides the network and broadcast address")
	}
	return Range{First: first, Last: last}, nil
}

// Contains says whether a lies in one of the ranges.
func (s AddressSet) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(s, func(r Range) bool { return r.Contains(a) })
}

// Count is the number of addresses; an address in two ranges counts twice.
func (s AddressSet) Count() int {
	n := 0
	for _, r := range s {
		n += r.Count()
	}
	return n
}

// Merged gives the same addresses as ascending ranges that neither touch nor
// overlap. How they were written is lost.
func (s AddressSet) Merged() AddressSet {
	sorted := slices.Clone(s)
	slices.SortFunc(sorted, func(a, b Range) int { return a.First.Compare(b.First) })
	var out AddressSet
	for _, r := range sorted {
		r.cidr = netip.Prefix{}
		if n := len(out); n > 0 && toUint(r.First) <= toUint(out[n-1].Last)+1 && out[n-1].Last != maxAddr {
			if out[n-1].Last.Less(r.Last) {
				out[n-1].Last = r.Last
			}
			continue
		} else if n > 0 && out[n-1].Last == maxAddr {
			continue
		}
		out = append(out, r)
	}
	return out
}

// Addresses lists every address, ascending and without duplicates.
func (s AddressSet) Addresses() []netip.Addr {
	var out []netip.Addr
	for _, r := range s.Merged() {
		for a := r.First; ; a = a.Next() {
			out = append(out, a)
			if a == r.Last {
				break
			}
		}
	}
	return out
}

var maxAddr = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func toUint(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func fromUint(v uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], v)
	return netip.AddrFrom4(b)
}
