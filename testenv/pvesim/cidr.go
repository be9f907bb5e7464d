package pvesim

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// aliasName is what names of sets, aliases and groups look like.
var aliasName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9\-_]+$`)

// scopedAlias is an alias in a set or a rule, which may say whose it is.
var scopedAlias = regexp.MustCompile(`^(dc/|guest/)?([A-Za-z][A-Za-z0-9\-_]+)$`)

const notCIDR = "value does not look like a valid IP address or CIDR network"

// parseCIDR reads an address or network; the bits are -1 when it has none.
func parseCIDR(v string) (a netip.Addr, bits int, ok bool) {
	host, length, has := strings.Cut(v, "/")
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" {
		return a, 0, false
	}
	if !has {
		return a, -1, true
	}
	bits, err = strconv.Atoi(length)
	if err != nil || bits < 0 || bits > a.BitLen() || strings.Trim(length, "0123456789") != "" {
		return a, 0, false
	}
	return a, bits, true
}

func verifyCIDR(v string) string {
	if _, _, ok := parseCIDR(v); !ok {
		return notCIDR
	}
	return ""
}

func verifyMember(v string) string {
	if scopedAlias.MatchString(v) {
		return ""
	}
	return verifyCIDR(v)
}

// cleanCIDR is the form in which the server writes a member down: without bits
// beyond the prefix, and without the prefix of a single address.
func cleanCIDR(v string) string {
	a, bits, ok := parseCIDR(v)
	if !ok {
		return v
	}
	if bits < 0 || bits == a.BitLen() {
		return trimSingle(v, a)
	}
	return netip.PrefixFrom(a, bits).Masked().String()
}

// readCIDR is the form in which the file is read: only the prefix of a single
// address goes.
func readCIDR(v string) (string, bool) {
	a, _, ok := parseCIDR(v)
	return trimSingle(v, a), ok
}

func trimSingle(v string, a netip.Addr) string {
	if a.Is4() {
		return strings.TrimSuffix(v, "/32")
	}
	return strings.TrimSuffix(v, "/128")
}

// verifySource checks a rule's source or dest: addresses, networks, ranges, an
// alias, or a set.
func verifySource(v string) string {
	for _, word := range splitList(v) {
		word = strings.TrimPrefix(word, "+")
		if scopedAlias.MatchString(word) {
			continue
		}
		first, last, isRange := strings.Cut(word, "-")
		if verifyCIDR(first) != "" || isRange && verifyCIDR(last) != "" {
			return "invalid IP/CIDR '" + word + "'"
		}
	}
	return ""
}
