package inventory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homeward/netplan"
)

// allGuests finds the guests on the segment and their addresses.
func (t *taker) allGuests() {
	var byDHCP, silent, trunks []string
	for i := range t.parsed {
		p := &t.parsed[i]
		g := p.guest
		t.guests[g.VMID] = p
		t.unread = append(t.unread, p.unread...)
		here, known := 0, len(p.unread) > 0
		for _, c := range p.cards {
			switch t.reach(g.Node, c.NIC) {
			case onIt:
				here++
				t.cards[g.VMID] = append(t.cards[g.VMID], c)
				known = t.configured(p, c) || known
				if c.IPConfig.DHCP {
					byDHCP = append(byDHCP, p.source()+", "+c.Key())
					known = true
				}
			case trunked:
				t.trunked(p, c)
				if t.machines[g.VMID] == "" {
					trunks = append(trunks, p.source()+", "+c.Key())
				}
			}
		}
		if here == 0 {
			continue
		}
		known = t.live(p) || known
		if !known && t.machines[g.VMID] == "" {
			silent = append(silent, p.source())
		}
	}
	t.note(byDHCP, "guest NIC", "on this segment asks a DHCP server for its address", "on this segment ask a DHCP server for their addresses")
	t.silent = silent
	advice := ": use --live"
	if slices.ContainsFunc(t.snapshot.Guests, func(g Guest) bool { return len(g.Live) > 0 }) {
		advice = " and reports none" // they were asked
	}
	t.note(silent, "guest", "on this segment has no address on record"+advice, "on this segment have no address on record"+strings.Replace(advice, "reports", "report", 1))
	t.note(trunks, "guest NIC", "can send on this segment with a VLAN tag of its own: the address there stands in the guest only",
		"can send on this segment with a VLAN tag of their own: the addresses there stand in the guests only")
}

func (t *taker) note(items []string, what, one, many string) {
	if len(items) == 0 {
		return
	}
	says := many
	if len(items) == 1 {
		says = one
	}
	t.notes = append(t.notes, fmt.Sprintf("%s %s (%s)", counted(len(items), what), says, some(items)))
}

// configured claims the static address of a card, and says whether anything is
// known of its address.
func (t *taker) configured(p *parsed, c Card) bool {
	g := p.guest
	if c.unread == nil && !c.IPConfig.Address.IsValid() {
		return false
	}
	source := p.source() + ", " + c.Key()
	if g.Kind != LXC {
		source += ", " + ipConfigKey + strconv.Itoa(c.Index)
	}
	if c.unread != nil {
		t.unread = append(t.unread, Unread{Source: source, Reason: fmt.Sprintf("cannot be read: %v", c.unread)})
		return true
	}
	a := c.IPConfig.Address.Addr()
	t.claim(Claim{Kind: GuestConfig, Range: single(a), Source: source, VMID: g.VMID, MAC: c.NIC.MAC, Pending: c.Pending,
		Remedy: "give " + guestWord(g) + " another address, or leave " + a.String() + " out of the plan"})
	return true
}

// live claims the addresses that a guest reports on its NICs of the segment, and
// those of the segment's networks on an interface that is none of its NICs (a
// macvlan, a bridge, kube-proxy's own), which may answer there too. What its
// configuration says already is not repeated.
func (t *taker) live(p *parsed) (known bool) {
	g := p.guest
	for _, l := range g.Live {
		a := l.Address.Unmap()
		if !a.Is4() || a.IsLoopback() {
			continue
		}
		isNIC := false
		for _, c := range p.cards {
			isNIC = isNIC || c.NIC.MAC == l.MAC && !l.MAC.IsZero()
		}
		key, mac := t.cardOf(g, l)
		if key == "" && (isNIC || !t.onLink(a)) {
			continue
		}
		known = true
		if _, tagged := tagOf(l.Interface); tagged && key != "" {
			continue // a VLAN inside the segment
		}
		t.liveClaim(p, l, key, mac)
	}
	return known
}

// cardOf gives the NIC of the segment that an interface inside the guest is; the
// empty key when it is none of them.
func (t *taker) cardOf(g *Guest, l LiveAddress) (key string, mac netplan.MAC) {
	for _, c := range t.cards[g.VMID] {
		if c.NIC.MAC == l.MAC && !l.MAC.IsZero() || g.Kind == LXC && l.MAC.IsZero() && c.NIC.Name == l.Interface {
			return c.Key(), c.NIC.MAC
		}
	}
	return "", l.MAC
}

func (t *taker) liveClaim(p *parsed, l LiveAddress, key string, mac netplan.MAC) {
	g, a := p.guest, l.Address.Unmap()
	for i := len(t.claims) - 1; i >= 0 && t.claims[i].VMID == g.VMID; i-- {
		if t.claims[i].Range.First == a && !t.claims[i].Pending {
			return
		}
	}
	source := p.source()
	if key != "" {
		source += ", " + key
	}
	t.claim(Claim{Kind: GuestLive, Range: single(a), Source: source + ", in use on " + clean(l.Interface), VMID: g.VMID, MAC: mac,
		Remedy: fmt.Sprintf("take %s off %s, or leave it out of the plan", a, guestWord(g))})
}

// trunked claims what a guest reports on a VLAN interface of its own for the
// segment's tag.
func (t *taker) trunked(p *parsed, c Card) {
	for _, l := range p.guest.Live {
		tag, ok := tagOf(l.Interface)
		if ok && tag == t.Segment.VLAN && l.MAC == c.NIC.MAC && l.Address.Unmap().Is4() {
			t.liveClaim(p, l, c.Key(), c.NIC.MAC)
		}
	}
}

// tagOf reads the tag of a VLAN interface inside a guest from the two usual ways to
// name one, eth0.30 and vlan30.
func tagOf(name string) (netplan.VLAN, bool) {
	digits, ok := strings.CutPrefix(name, "vlan")
	if at := strings.LastIndexByte(name, '.'); !ok && at > 0 {
		digits, ok = name[at+1:], true
	}
	if !ok {
		return 0, false
	}
	tag, err := parseVLAN(strings.TrimLeft(digits, "0"))
	return tag, err == nil
}
