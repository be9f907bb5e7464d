package inventory

import (
	"slices"
	"strings"

	"homeward/netplan"
)

// Near gives the VMIDs of the guests whose own firewall sets and live addresses
// matter to a plan: those with a NIC that meets the segment, now or after the next
// start, and the plan's own machines. Ascending. Where the segment is not known all
// guests matter.
func Near(plan *netplan.Plan, s *Snapshot) []int {
	var out []int
	var at *location
	if plan.External != nil {
		at, _ = locate(s, plan.External.Segment)
	}
	for _, g := range s.Guests {
		cards, unread := g.Cards()
		if at == nil || len(unread) > 0 || slices.ContainsFunc(cards, func(c Card) bool { return at.reach(g.Node, c.NIC) != away }) {
			out = append(out, g.VMID)
		}
	}
	for _, g := range OwnGuests(plan, s).Guests {
		out = append(out, g.VMID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Names gives the name of the guest that has a MAC, for whoever watches a segment:
// all of them where several guests have one.
func Names(s *Snapshot) map[netplan.MAC]string {
	holders := map[netplan.MAC][]string{}
	for _, g := range s.Guests {
		cards, _ := g.Cards()
		for _, c := range cards {
			name := clean(g.Name)
			if g.Name == "" {
				name = guestWord(&g)
			}
			if !c.NIC.MAC.IsZero() && !slices.Contains(holders[c.NIC.MAC], name) {
				holders[c.NIC.MAC] = append(holders[c.NIC.MAC], name)
			}
		}
	}
	out := make(map[netplan.MAC]string, len(holders))
	for mac, names := range holders {
		slices.Sort(names)
		out[mac] = strings.Join(names, " and ")
	}
	return out
}
