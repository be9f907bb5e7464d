package inventory

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// filterPrefix begins the names of the sets that say which addresses a guest's NIC
// may send from.
const filterPrefix = "ipfilter-"

// allFirewall claims what aliases and sets name. Which of them says that somebody
// uses an address, and how sure that is:
//
//   - an alias, of the cluster or of a guest: somebody gave the address a name. It
//     may be the name of this very pool, so it can be accepted.
//   - a set of the cluster: the same. Homeward's own sets are no claims here: the
//     segment's record is read as such. One under another name of the segment is a
//     reservation that our record does not exclude, and cannot be accepted.
//   - the ipfilter set of a NIC on the segment of a guest outside the cluster: that
//     guest may send from the address, so it probably does. Can be accepted. Those of
//     the plan's own machines have to hold the plan's addresses.
//   - any other set of a guest is for its rules: whom it lets in, not who it is.
//   - members with nomatch take an address out and claim nothing.
func (t *taker) allFirewall() {
	aliases := map[aliasKey]netip.Prefix{}
	for _, a := range t.snapshot.Aliases {
		aliases[aliasKey{a.VMID, strings.ToLower(a.Name)}] = a.CIDR
		source := fmt.Sprintf("alias dc/%s", clean(a.Name))
		if a.VMID != 0 {
			if t.cards[a.VMID] == nil || t.machines[a.VMID] != "" {
				continue
			}
			source = fmt.Sprintf("alias guest/%s of %s", clean(a.Name), t.guestSource(a.VMID))
		}
		t.firewall(Claim{Kind: FirewallAlias, Source: source, VMID: a.VMID, Accept: source,
			Remedy: "delete the alias if nothing uses the address, or accept it if it names this plan's own address"}, a.CIDR)
	}
	for _, set := range t.snapshot.Sets {
		c, ok := t.setClaim(set)
		if !ok {
			continue
		}
		for _, m := range set.Members {
			if m.NoMatch {
				continue
			}
			p, err := memberPrefix(m.CIDR, set.VMID, aliases)
			if err != nil {
				// The firewall leaves it out too.
				t.notes = append(t.notes, fmt.Sprintf("%s: member %v", c.Source, err))
				continue
			}
			t.firewall(c, p)
		}
	}
}

type aliasKey struct {
	vmid int // zero for the cluster's
	name string
}

// setClaim is what the members of a set claim; not ok for a set that claims
// nothing.
func (t *taker) setClaim(set IPSet) (c Claim, ok bool) {
	if set.VMID == 0 {
		source := "ipset dc/" + clean(set.Name)
		if _, record := ledger.SegmentOf(set.Name); !record {
			return Claim{Kind: FirewallSet, Source: source, Accept: source,
				Remedy: "delete the member if nothing uses the address, or accept the set if it is for this plan's own addresses"}, true
		}
		return Claim{Kind: FirewallSet, Source: source,
			Remedy: "it is reserved under another name of the same segment: release it with the plan that did"}, t.otherRecord(set.Name)
	}
	if t.machines[set.VMID] != "" || !strings.HasPrefix(set.Name, filterPrefix) {
		return c, false
	}
	key := strings.TrimPrefix(set.Name, filterPrefix)
	if !slices.ContainsFunc(t.cards[set.VMID], func(c Card) bool { return c.Key() == key }) {
		return c, false
	}
	return Claim{Kind: GuestFilter, VMID: set.VMID, Source: t.guestSource(set.VMID) + ", " + set.Name,
		Accept: "guest " + strconv.Itoa(set.VMID) + " " + set.Name,
		Remedy: "delete the member if the guest does not use the address, or leave it out of the plan"}, true
}

func (t *taker) guestSource(vmid int) string {
	if g := t.guests[vmid]; g != nil {
		return g.source()
	}
	return fmt.Sprintf("guest %d", vmid)
}

// otherRecord says whether a record of Homeward's is kept under one of the
// segment's other names.
func (t *taker) otherRecord(name string) bool {
	names := slices.Clone(t.spellings)
	for _, v := range t.snapshot.VNets {
		if t.Segment.VNet == "" && t.vnetOn(v) {
			names = append(names, netplan.Segment{VNet: v.Name})
		}
	}
	return slices.ContainsFunc(names, func(s netplan.Segment) bool {
		record, err := ledger.SetName(s)
		return err == nil && record == name
	})
}

// firewall makes the claim of a prefix where it meets the link's networks without
// holding one whole.
func (t *taker) firewall(c Claim, p netip.Prefix) {
	p = p.Masked()
	if !p.IsValid() || !p.Addr().Is4() {
		return
	}
	for _, link := range t.links {
		if !link.IsValid() || !link.Overlaps(p) || p.Bits() <= link.Bits() && !p.IsSingleIP() {
			continue
		}
		c.Range = netplan.Range{First: p.Addr(), Last: netplan.LastAddr(p)}
		t.claim(c)
	}
}

// memberPrefix reads a member: an address, a prefix, or the name of an alias, with
// or without the scope before it. IPv6 gives the zero Prefix.
func memberPrefix(text string, vmid int, aliases map[aliasKey]netip.Prefix) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		if a = a.Unmap(); a.Is4() {
			return netip.PrefixFrom(a, a.BitLen()), nil
		}
		return netip.Prefix{}, nil
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		if p.Addr().Is4() {
			return p, nil
		}
		return netip.Prefix{}, nil
	}
	name := strings.ToLower(text)
	scope, bare, scoped := strings.Cut(name, "/")
	if scoped {
		name = bare
	}
	if scope != "dc" {
		if p, ok := aliases[aliasKey{vmid, name}]; ok {
			return p, nil
		}
	}
	if p, ok := aliases[aliasKey{0, name}]; ok && scope != "guest" {
		return p, nil
	}
	return netip.Prefix{}, fmt.Errorf("%s is neither an address nor an alias that is known", netplan.Quote(text))
}
