package netplan

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
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

// within gives the addresses of s that lie in x, as Merged does.
func (s AddressSet) within(x Range) AddressSet {
	var out AddressSet
	for _, r := range s.Merged() {
		if r.Overlaps(x) {
			out = append(out, Range{First: later(r.First, x.First), Last: earlier(r.Last, x.Last)})
		}
	}
	return out
}

// Minus gives the addresses of s that are not in o, as Merged does.
func (s AddressSet) Minus(o AddressSet) AddressSet {
	holes := o.Merged()
	var out AddressSet
	for _, r := range s.Merged() {
		for len(holes) > 0 && holes[0].Last.Less(r.First) {
			holes = holes[1:]
		}
		first, rest := r.First, true
		for _, hole := range holes {
			if r.Last.Less(hole.First) {
				break
			}
			if first.Less(hole.First) {
				out = append(out, Range{First: first, Last: hole.First.Prev()})
			}
			if rest = hole.Last.Less(r.Last); !rest {
				break
			}
			first = hole.Last.Next()
		}
		if rest {
			out = append(out, Range{First: first, Last: r.Last})
		}
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
