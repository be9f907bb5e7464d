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
	guests := parse(s.Guests)
	for _, p := range guests {
		near := func(c Card) bool { return at.reach(p.guest.Node, c.NIC) != away }
		if at == nil || len(p.unread) > 0 || slices.ContainsFunc(p.cards, near) {
			out = append(out, p.guest.VMID)
		}
	}
	for _, g := range ownGuests(plan, guests).Guests {
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

// Machines gives the plan's machine that has a MAC: those of the plan, and those
// that the machines' guests really have. A MAC that is missing is a stranger's.
func Machines(plan *netplan.Plan, s *Snapshot) map[netplan.MAC]string {
	out := map[netplan.MAC]string{}
	own := map[int]string{}
	guests := parse(s.Guests)
	for _, g := range ownGuests(plan, guests).Guests {
		own[g.VMID] = g.Machine
	}
	for _, p := range guests {
		for _, c := range p.cards {
			if machine := own[p.guest.VMID]; machine != "" {
				out[c.NIC.MAC] = machine
			}
		}
	}
	for _, m := range plan.Machines {
		out[m.MACs.Cluster], out[m.MACs.External] = m.Name, m.Name
	}
	delete(out, netplan.MAC{}) // a NIC without one
	return out
}
