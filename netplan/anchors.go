package netplan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// Link-local addresses that belong to others on such a node or its network.
var anchorUsers = []struct {
	prefix netip.Prefix
	user   string
}{
	{netip.MustParsePrefix("169.254.0.0/24"), "reserved (RFC 3927)"},
	{netip.MustParsePrefix("169.254.255.0/24"), "reserved (RFC 3927)"},
	{netip.MustParsePrefix("169.254.169.254/32"), "the cloud metadata address"},
	{netip.MustParsePrefix("169.254.116.108/32"), "Talos's host DNS"},
	{netip.MustParsePrefix("169.254.20.10/32"), "the node-local DNS cache"},
}

// anchorUser says who has this link-local address already, "" for nobody.
func anchorUser(a netip.Addr) string {
	for _, u := range anchorUsers {
		if u.prefix.Contains(a) {
			return u.user
		}
	}
	return ""
}

// usableAnchors is how many machines anchors are there for in p, a /16 to /30.
func usableAnchors(p netip.Prefix) int {
	usable := hosts(p)
	n := usable.Count()
	for _, u := range anchorUsers {
		user := Range{First: u.prefix.Addr(), Last: LastAddr(u.prefix)}
		if first, last := later(user.First, usable.First), earlier(user.Last, usable.Last); !last.Less(first) {
			n -= Range{First: first, Last: last}.Count()
		}
	}
	return n
}

func later(a, b netip.Addr) netip.Addr {
	if a.Less(b) {
		return b
	}
	return a
}

func earlier(a, b netip.Addr) netip.Addr {
	if a.Less(b) {
		return a
	}
	return b
}

// firstChoice is the anchor a machine would have if it were alone: the same for
// the same names, so that clusters made by other tools keep theirs.
func firstChoice(p netip.Prefix, cluster, hostname string) netip.Addr {
	sum := sha256.Sum256([]byte(cluster + "/" + hostname))
	n := binary.BigEndian.Uint32(sum[:4])%uint32(hosts(p).Count()) + 1
	return fromUint(toUint(p.Addr()) + n)
}

// others are addresses of the plan that somebody else answers for, by whom. A
// router or a resolver may be link-local too.
func (r *resolver) others() map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for _, dns := range r.spec.DNS {
		out[dns] = "a resolver's"
	}
	out[r.spec.Cluster.Gateway] = "the private gateway's"
	if e := r.spec.External; e != nil {
		out[e.Gateway] = "the external gateway's"
	}
	delete(out, netip.Addr{})
	return out
}

// anchors gives every machine with the external NIC its anchor: pinned ones
// first, then in the order of machines, each the first free address from its
// choice upwards, wrapping around. It never fails while a free one is left.
func (r *resolver) anchors() {
	if r.spec.External == nil {
		return
	}
	cidr := r.spec.External.AnchorCIDR
	holders := r.others()
	need := 0
	for a := range holders {
		if cidr.Contains(a) {
			need++
		}
	}
	for _, m := range r.plan.Machines {
		if m.Anchor.IsValid() {
			holders[m.Anchor] = m.Name + "'s"
		}
		if m.External {
			need++
		}
	}
	if !cidr.IsValid() || r.faulty(pathAnchors) {
		return
	}
	if n := usableAnchors(cidr); n < need {
		r.fault(pathAnchors, "%s has %d usable addresses and %d are needed: give a /%d or larger", cidr, n, need, prefixFor(cidr, need))
	}
	if len(r.faults) > 0 {
		return // nothing is chosen for a plan that will not be
	}
	var moved []string
	for i := range r.plan.Machines {
		m := &r.plan.Machines[i]
		if !m.External || m.Anchor.IsValid() {
			continue
		}
		choice := firstChoice(cidr, r.plan.Name, m.Name)
		m.Anchor = freeAnchor(cidr, choice, holders)
		if m.Anchor != choice {
			user := cmp.Or(holders[choice], anchorUser(choice))
			moved = append(moved, fmt.Sprintf("%s (%s is %s, it has %s)", m.Name, choice, user, m.Anchor))
		}
		holders[m.Anchor] = m.Name + "'s"
	}
	if len(moved) > 0 {
		r.warn(pathAnchors, "anchors that had to move up from their first choice: %s", listed(moved))
	}
}

func freeAnchor(cidr netip.Prefix, a netip.Addr, holders map[netip.Addr]string) netip.Addr {
	usable := hosts(cidr)
	for holders[a] != "" || anchorUser(a) != "" {
		if a = a.Next(); !usable.Contains(a) {
			a = usable.First
		}
	}
	return a
}

// prefixFor is the smallest network around cidr with room for so many anchors.
func prefixFor(cidr netip.Prefix, machines int) int {
	bits := cidr.Bits()
	for bits > linkLocal.Bits() && usableAnchors(netip.PrefixFrom(cidr.Addr(), bits).Masked()) < machines {
		bits--
	}
	return bits
}

// listed joins at most ten items and counts the rest.
func listed(items []string) string {
	const most = 10
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}
