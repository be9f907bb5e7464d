package netplan

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParseRange reads an address, "a-b" or a CIDR. The error names the text that
// would be right where it can be told.
func ParseRange(s string) (Range, error) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "/") {
		return parseRangeCIDR(s)
	}
	if strings.Contains(s, "..") {
		return Range{}, dotted(s)
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

// dotted refuses "203.0.113.75..203.0.113.78" with the text that was meant.
func dotted(s string) error {
	first, last, _ := strings.Cut(s, "..")
	a, errFirst := ParseAddr(strings.TrimSpace(first))
	b, errLast := ParseAddr(strings.TrimSpace(last))
	if errFirst == nil && errLast == nil && !b.Less(a) {
		return fmt.Errorf("%s is not a range: give it with a dash, %s-%s", Quote(s), a, b)
	}
	if n, err := strconv.ParseUint(strings.TrimSpace(last), 10, 8); err == nil && errFirst == nil {
		v := a.As4()
		v[3] = byte(n)
		if b = netip.AddrFrom4(v); !b.Less(a) {
			return fmt.Errorf("%s is not a range: give it with a dash and both ends in full, %s-%s", Quote(s), a, b)
		}
	}
	return fmt.Errorf("%s is not a range: give it with a dash, like 203.0.113.75-203.0.113.78", Quote(s))
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
		p, err := netip.ParsePrefix(s)
		switch {
		case err == nil && p.Addr().Is4() && edge(p, p.Addr()) == "":
			return netip.Addr{}, fmt.Errorf("%s is a network, not an address: leave the prefix length out (%s)", Quote(s), p.Addr())
		case err == nil:
			return netip.Addr{}, fmt.Errorf("%s is a network, not an address: give one address, without a prefix length", Quote(s))
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
	const like = "give it like 203.0.113.0/25"
	text, mask, _ := strings.Cut(s, "/")
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil || !a.Is4():
	case IsNetmask(s):
		return netip.Prefix{}, fmt.Errorf("%s is a netmask, not a network: %s", Quote(s), like)
	case mask == "" && text == s:
		if p := netip.PrefixFrom(a, 24).Masked(); unusableBy(p) == nil {
			return netip.Prefix{}, fmt.Errorf("%s is an address, not a network: give the network with its prefix length, like %s", Quote(s), p)
		}
		return netip.Prefix{}, fmt.Errorf("%s is an address, not a network: %s", Quote(s), like)
	default:
		m, err := netip.ParseAddr(mask)
		if err != nil || !m.Is4() {
			break
		}
		bits, ok := maskBits(m)
		if p := netip.PrefixFrom(a, bits).Masked(); ok && unusableBy(p) == nil {
			return netip.Prefix{}, fmt.Errorf("%s has a netmask: give the prefix length, %s", Quote(s), p)
		}
		return netip.Prefix{}, fmt.Errorf("%s has a netmask: give a prefix length, like 203.0.113.0/25", Quote(s))
	}
	return netip.Prefix{}, fmt.Errorf("%s is not an IPv4 network: %s", Quote(s), like)
}

// IsNetmask says that s is a netmask of 8 bits or more, like 255.255.255.0,
// which is no host's address and no network.
func IsNetmask(s string) bool {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return false
	}
	bits, ok := maskBits(a)
	return ok && bits >= minPrefixBits
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
