package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// differs says what of a machine's guest is not as the plan has it.
func (r *recogniser) differs(g *Guest, m netplan.Machine) (out []string) {
	if !g.isNamed(m) {
		out = append(out, fmt.Sprintf("its name is %s", netplan.Quote(g.Name)))
	}
	if m.VMID != 0 && g.VMID != m.VMID {
		out = append(out, fmt.Sprintf("its VMID is %d, the plan says %d", g.VMID, m.VMID))
	}
	if m.Node != "" && g.Node != m.Node {
		out = append(out, fmt.Sprintf("it is on %s, the plan says %s", clean(g.Node), m.Node))
	}
	for _, x := range []struct {
		link netplan.LinkName
		mac  netplan.MAC
	}{{netplan.LinkCluster, m.MACs.Cluster}, {netplan.LinkExternal, m.MACs.External}} {
		if x.mac.IsZero() || slices.ContainsFunc(r.holders[x.mac], func(h holder) bool { return h.guest == g }) {
			continue
		}
		out = append(out, fmt.Sprintf("none of its NICs has the plan's %s MAC %s", x.link, x.mac))
	}
	return out
}

// strangers finds who has a MAC of the plan and is not the machine it is for.
func (r *recogniser) strangers() {
	for _, m := range r.plan.Machines {
		for _, mac := range []netplan.MAC{m.MACs.Cluster, m.MACs.External} {
			if mac.IsZero() {
				continue
			}
			for _, h := range r.holders[mac] {
				if r.taken[h.guest.VMID] != m.Name {
					r.stranger(h, m)
				}
			}
		}
	}
	slices.SortFunc(r.out.Strangers, func(a, b Claim) int { return compareClaims(&a, &b) })
	r.out.Strangers = slices.CompactFunc(r.out.Strangers, func(a, b Claim) bool { return a.Source == b.Source && a.MAC == b.MAC })
	slices.Sort(r.out.Notes)
}

func (r *recogniser) stranger(h holder, m netplan.Machine) {
	source := h.guest.Source() + ", " + h.card.Key()
	if h.guest.Template {
		// It never runs, and a clone gets MACs of its own.
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s: this template has the MAC of %s", source, m.Name))
		return
	}
	remedy := fmt.Sprintf("give that NIC another MAC, or the machine another one (machines.%s.macs)", m.Name)
	if h.guest.mayBeMachine() && r.taken[h.guest.VMID] == "" && slices.Contains(r.out.Missing, m.Name) {
		remedy += fmt.Sprintf("; if this guest is %s, give machines.%s.vmid: %d", m.Name, m.Name, h.guest.VMID)
	}
	r.out.Strangers = append(r.out.Strangers, Claim{
		Kind: PlanMAC, Source: source, VMID: h.guest.VMID, MAC: h.card.NIC.MAC, Machine: r.taken[h.guest.VMID],
		Pending: h.card.Pending, Remedy: remedy,
	})
}

// compareClaims orders by address, those without one last, then by guest and
// source.
func compareClaims(a, b *Claim) int {
	if c := compareRanges(a.Range, b.Range); c != 0 {
		return c
	}
	pending := func(c *Claim) int {
		if c.Pending {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.VMID, b.VMID), strings.Compare(a.Source, b.Source),
		slices.Compare(a.MAC[:], b.MAC[:]), cmp.Compare(pending(a), pending(b)))
}

// compareRanges orders by the first address, then by the last; the zero Range comes
// last.
func compareRanges(a, b netplan.Range) int {
	if a.First.IsValid() != b.First.IsValid() {
		if a.First.IsValid() {
			return -1
		}
		return 1
	}
	if c := a.First.Compare(b.First); c != 0 {
		return c
	}
	return a.Last.Compare(b.Last)
}
