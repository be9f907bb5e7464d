package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// floating keeps one floating IP for each reserved port.
func (h *Holding) floating(d Desired, a *Actual) {
	chosen := map[netip.Addr]bool{}
	for _, want := range d.Reserved {
		if want.Floating.IsValid() {
			chosen[want.Floating] = true
		}
	}
	for _, want := range d.Reserved {
		if want.Floating.IsValid() {
			h.chosenFloating(want, a)
		} else {
			h.anyFloating(want, a, chosen)
		}
	}
	kept := func(f FloatingIP) bool {
		return slices.ContainsFunc([]Use{kubeAPI, ingress}, func(u Use) bool { return h.Floating[u] != nil && h.Floating[u].ID == f.ID })
	}
	for _, f := range a.Floating {
		if !kept(f) {
			h.spareFloating(f, a, chosen[f.Address])
		}
	}
	h.siblings(a)
}

// siblings warns of other clusters with the owner's id, which its floating IPs show: a
// cluster that got another name leaves the old one behind.
func (h *Holding) siblings(a *Actual) {
	seen := map[string]bool{}
	for _, f := range a.Floating {
		m, err := ParseMark(f.Description)
		if err != nil || h.Owner.ID == "" || m.Owner.ID != h.Owner.ID || m.Owner.Cluster == h.Owner.Cluster || seen[m.Owner.Cluster] {
			continue
		}
		seen[m.Owner.Cluster] = true
		h.Warnings = append(h.Warnings, fmt.Sprintf("cluster %s has the same id, %s, and floating IP %s: if it is this one's old name, give it back with homeward release --owner %s/%s",
			m.Owner.Cluster, m.Owner.ID, f.Address, m.Owner.ID, m.Owner.Cluster))
	}
}

// chosenFloating keeps the one that the plan names, and tells why it cannot be had.
func (h *Holding) chosenFloating(want DesiredPort, a *Actual) {
	path := "openstack." + string(want.For) + "_floating_ip"
	at := slices.IndexFunc(a.Floating, func(f FloatingIP) bool { return f.Address == want.Floating })
	if at < 0 {
		h.Conflicts = append(h.Conflicts, Conflict{Blame: Wrong, Kind: KindFloating, Address: want.Floating.String(),
			Message: path + ": this project has no floating IP " + want.Floating.String(),
			Remedy:  "allocate one (openstack floating ip create " + cmp.Or(h.External.Name, "NETWORK") + ") and give its address, or leave the key out; to choose an address takes an administrator"})
		return
	}
	f := a.Floating[at]
	m, err := ParseMark(f.Description)
	text := f.Address.String()
	switch {
	case h.External.ID != "" && f.NetworkID != h.External.ID:
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object, "give one of that network", "%s: %s is not on external network %s", path, text, h.External.Name).at(text).wrong())
	case err == nil && m.Owner != h.Owner:
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object, "choose another, or let that cluster release it", "%s: %s is taken: %s", path, text, whose(f.Object, h.Owner)).at(text))
	case err == nil && m.Use != want.Use:
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object, "choose another, or release and reserve again", "%s: %s: %s", path, text, whose(f.Object, h.Owner)).at(text).wrong())
	case f.PortID != "" && !h.onOwn(f, a, want.Use):
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object, "choose another, or take it off there (openstack floating ip unset --port "+f.ID+")",
			"%s: %s is taken: it is on port %s, which is not this cluster's", path, text, f.PortID).at(text))
	case f.PortID == "" && err != nil && h.claimedBy(f) != "":
		h.claimed, h.first = append(h.claimed, f), h.Owner.ID < h.claimedBy(f)
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object, "choose another; if that owner is gone, take its tag off (openstack floating ip unset --tag "+tagPrefix+h.claimedBy(f)+" "+f.ID+")",
			"%s: %s is taken: owner %s is about to put it on a port", path, text, h.claimedBy(f)).at(text))
	default:
		h.Floating[want.Use] = &f
		h.strangers(want, a)
	}
}

// claimedBy is the id of another owner whose tag a floating IP has, empty without one.
//
// To put a floating IP on a port is no test-and-set: of two at once the last wins, also
// with a revision. So each tags it first and then looks: who sees another's tag gives
// way. Of two who see each other's the one with the lower id waits, and the other takes
// its tag off.
func (h *Holding) claimedBy(f FloatingIP) string {
	for _, t := range f.Tags {
		if id, ok := strings.CutPrefix(t, tagPrefix); ok && id != h.Owner.ID {
			return id
		}
	}
	return ""
}

// Looks at conflicts before they are believed.
const (
	looks       = 1
	looksToWait = 8
)

// patience is how often conflicts are read again before they end a run.
func (h *Holding) patience() int {
	if h.first && len(h.Conflicts) == len(h.claimed) {
		return looksToWait
	}
	return looks
}

// onOwn says that a floating IP is on a port of the owner's, of one of those uses
// where there are any.
func (h *Holding) onOwn(f FloatingIP, a *Actual, uses ...Use) bool {
	return slices.ContainsFunc(a.Ports, func(p Port) bool {
		m, ok := h.markOf(p.Object)
		return ok && p.ID == f.PortID && (len(uses) == 0 || slices.Contains(uses, m.Use))
	})
}

// anyFloating keeps the owner's that is on the port, else the oldest; or one that was
// adopted before.
func (h *Holding) anyFloating(want DesiredPort, a *Actual, chosen map[netip.Addr]bool) {
	port := h.Ports[want.Use]
	on := func(f FloatingIP) bool { return port != nil && f.PortID == port.ID }
	found := ours(h, a.Floating, want.Use)
	for _, f := range a.Floating {
		if _, err := ParseMark(f.Description); err != nil && on(f) && h.tagged(f) {
			found = append(found, f)
		}
	}
	for _, f := range found {
		h.carriedOff(f, want, a, chosen)
	}
	found = slices.DeleteFunc(found, func(f FloatingIP) bool {
		return chosen[f.Address] || h.External.ID != "" && f.NetworkID != h.External.ID || f.PortID != "" && !h.onOwn(f, a)
	})
	slices.SortStableFunc(found, func(x, y FloatingIP) int { return cmp.Compare(rank(on(x)), rank(on(y))) })
	if len(found) > 0 {
		h.Floating[want.Use] = &found[0]
	}
	h.strangers(want, a)
}

// carriedOff tells of the port's own floating IP that somebody has put on a port of
// theirs: another in its place would change the address that clients know.
func (h *Holding) carriedOff(f FloatingIP, want DesiredPort, a *Actual, chosen map[netip.Addr]bool) {
	if f.PortID == "" || h.onOwn(f, a) || chosen[f.Address] || h.External.ID != "" && f.NetworkID != h.External.ID {
		return
	}
	text := f.Address.String()
	h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object,
		"put it back (openstack floating ip unset --port "+f.ID+", then reserve); to have another one made instead, which changes the address that clients use, delete it",
		"floating IP %s is %s's, and is on port %s, which is not this cluster's", text, want.Name, f.PortID).at(text))
}

func (h *Holding) tagged(f FloatingIP) bool { return slices.Contains(f.Tags, tagOf(h.Owner)) }

// strangers tells of floating IPs on a reserved port that are neither ours nor named
// by the plan: a port's address has one.
func (h *Holding) strangers(want DesiredPort, a *Actual) {
	port := h.Ports[want.Use]
	for _, f := range a.Floating {
		kept := h.Floating[want.Use]
		_, mine := h.markOf(f.Object)
		if port == nil || f.PortID != port.ID || kept != nil && kept.ID == f.ID || mine || h.tagged(f) {
			continue
		}
		text := f.Address.String()
		h.Conflicts = append(h.Conflicts, conflict(KindFloating, f.Object,
			"name it as openstack."+string(want.For)+"_floating_ip, or take it off (openstack floating ip unset --port "+f.ID+")",
			"floating IP %s is on %s and was not put there by Homeward", text, named(KindPort, port.Object)).at(text))
	}
}

// spareFloating lets one go that is not kept.
func (h *Holding) spareFloating(f FloatingIP, a *Actual, named bool) {
	m, mine := h.markOf(f.Object)
	switch {
	case named:
	case mine && f.PortID != "" && !h.onOwn(f, a):
		h.leave(KindFloating, f.Object, "%s was made for %s, and now is on port %s, which is not this cluster's", f.Address, m.what(), f.PortID)
	case mine:
		h.Spare.Floating = append(h.Spare.Floating, f)
	case h.tagged(f) && (f.PortID == "" || h.onOwn(f, a, kubeAPI, ingress)):
		h.Spare.Adopted = append(h.Spare.Adopted, f)
	}
}
