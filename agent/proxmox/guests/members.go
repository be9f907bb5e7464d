package guests

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// members are the addresses that a machine may announce or send from on the
// external link. Every machine with that NIC may become an announcer, so that each
// gets the whole pool and the VIP.
func members(p *netplan.Plan, m netplan.Machine) []Member {
	var out []Member
	add := func(what string, list ...netip.Prefix) {
		for _, x := range list {
			if !slices.ContainsFunc(out, func(o Member) bool { return o.Prefix == x }) {
				out = append(out, Member{Prefix: x, For: what})
			}
		}
	}
	for _, r := range p.External.IngressPool.Merged() {
		add(forPool, prefixes(r)...)
	}
	if p.KubeAPI.Link == netplan.LinkExternal && p.KubeAPI.VIP.IsValid() {
		add(forVIP, single(p.KubeAPI.VIP))
	}
	if m.Anchor.IsValid() {
		add(forAnchor, single(m.Anchor))
	}
	if m.ExternalAddress.IsValid() {
		add(forAddress, single(m.ExternalAddress))
	}
	slices.SortFunc(out, func(a, b Member) int { return a.Prefix.Compare(b.Prefix) })
	return out
}

func single(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// prefixes gives the fewest prefixes that hold exactly the addresses of r,
// ascending.
func prefixes(r netplan.Range) []netip.Prefix {
	first, last := r.First.As4(), r.Last.As4()
	a, end := uint64(binary.BigEndian.Uint32(first[:])), uint64(binary.BigEndian.Uint32(last[:]))
	var out []netip.Prefix
	for a <= end {
		// The largest block that starts here and does not pass the end.
		host := min(bits.TrailingZeros64(a|1<<32), bits.Len64(end-a+1)-1)
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(a))
		out = append(out, netip.PrefixFrom(netip.AddrFrom4(b), 32-host))
		a += 1 << host
	}
	return out
}

// canonical is a member's string as the server keeps it: without /32. Only that
// string deletes it.
func canonical(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// literal reads a member's string; false for an alias.
func literal(cidr string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(cidr); err == nil {
		return single(a), true
	}
	p, err := netip.ParsePrefix(cidr)
	return p.Masked(), err == nil
}

// covers says whether the prefixes together hold every address of p. Prefixes nest
// or are disjoint, so that halves decide.
func covers(all []netip.Prefix, p netip.Prefix) bool {
	inside := false
	for _, x := range all {
		if x.Bits() <= p.Bits() && x.Contains(p.Addr()) {
			return true
		}
		inside = inside || p.Overlaps(x)
	}
	if !inside || p.IsSingleIP() || !p.Addr().Is4() {
		return false
	}
	low, high := halves(p)
	return covers(all, low) && covers(all, high)
}

func halves(p netip.Prefix) (low, high netip.Prefix) {
	b := p.Masked().Addr().As4()
	low = netip.PrefixFrom(netip.AddrFrom4(b), p.Bits()+1)
	v := binary.BigEndian.Uint32(b[:]) | 1<<(31-p.Bits())
	binary.BigEndian.PutUint32(b[:], v)
	return low, netip.PrefixFrom(netip.AddrFrom4(b), p.Bits()+1)
}
