package inventory

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// Found is by what a guest was recognised as a machine of the plan.
type Found string

// The ways to recognise a guest, the surest first.
const (
	ByVMID Found = "vmid" // the plan gives its VMID, and its name or a MAC agrees
	ByMAC  Found = "mac"  // it has one of the machine's MACs
	ByName Found = "name" // it alone has the machine's name, and none of the MACs
)

// OwnGuest is a guest that is a machine of the plan.
type OwnGuest struct {
	Machine string    `json:"machine"`
	VMID    int       `json:"vmid"`
	Name    string    `json:"name"`
	Node    string    `json:"node"`
	Found   Found     `json:"found_by"`
	Kind    GuestKind `json:"-"`
	// Differs says what of it is not as the plan has it.
	Differs []string `json:"differs,omitempty"`
}

// Owned says which guests are the plan's machines. Only they may be changed.
type Owned struct {
	// Guests in the order of the plan's machines.
	Guests []OwnGuest `json:"guests"`
	// Missing are machines without a guest, in the plan's order.
	Missing []string `json:"missing,omitempty"`
	// Faults say which machines could not be told from other guests, and why. Those
	// are Missing too.
	Faults []string `json:"faults,omitempty"`
	// Strangers are guests that are no machine of the plan and have one of its MACs,
	// sorted by VMID.
	Strangers []Claim `json:"-"`
	// Notes are for the operator to know.
	Notes []string `json:"-"`
}

// Machine gives the machine that a guest is.
func (o Owned) Machine(vmid int) (string, bool) {
	for _, g := range o.Guests {
		if g.VMID == vmid {
			return g.Machine, true
		}
	}
	return "", false
}

// OwnGuests finds the plan's machines among the guests. A VMID in the plan counts
// where the name or a MAC agrees with it; else the MACs, and of several guests with
// one the name; else the name alone where one guest has it. A container or a
// template is never a machine.
func OwnGuests(plan *netplan.Plan, s *Snapshot) Owned { return ownGuests(plan, parse(s.Guests)) }

func ownGuests(plan *netplan.Plan, guests []parsed) Owned {
	r := recogniser{plan: plan, holders: map[netplan.MAC][]holder{}, byVMID: map[int]*Guest{}, byName: map[string][]*Guest{}, taken: map[int]string{}}
	r.index(guests)
	r.found = make([]*OwnGuest, len(plan.Machines))
	r.refused = make([]bool, len(plan.Machines))
	// The surest first, for all machines, so that no guest is taken for one machine
	// that is another more surely.
	for _, by := range []func(int, netplan.Machine){r.byPlanVMID, r.byMACAndName, r.byMACAlone, r.byNameAlone} {
		for i, m := range plan.Machines {
			if r.found[i] == nil && !r.refused[i] {
				by(i, m)
			}
		}
	}
	for i, m := range plan.Machines {
		if r.found[i] == nil {
			r.out.Missing = append(r.out.Missing, m.Name)
			continue
		}
		r.out.Guests = append(r.out.Guests, *r.found[i])
	}
	r.strangers()
	return r.out
}

// recogniser is one run of OwnGuests.
type recogniser struct {
	plan    *netplan.Plan
	holders map[netplan.MAC][]holder // only of the plan's MACs
	byVMID  map[int]*Guest
	byName  map[string][]*Guest // machines of the plan only, lower case
	taken   map[int]string      // VMID -> machine
	found   []*OwnGuest
	refused []bool
	out     Owned
}

// holder is a NIC with one of the plan's MACs.
type holder struct {
	guest *Guest
	card  Card
}

// index looks at each guest once.
func (r *recogniser) index(guests []parsed) {
	for _, m := range r.plan.Machines {
		r.byName[strings.ToLower(m.Name)] = nil
		r.holders[m.MACs.Cluster] = nil
		if m.External {
			r.holders[m.MACs.External] = nil
		}
	}
	for _, p := range guests {
		g := p.guest
		r.byVMID[g.VMID] = g
		if _, ok := r.byName[strings.ToLower(g.Name)]; ok && g.mayBeMachine() {
			key := strings.ToLower(g.Name)
			r.byName[key] = append(r.byName[key], g)
		}
		for _, c := range p.cards {
			if _, ok := r.holders[c.NIC.MAC]; ok {
				r.holders[c.NIC.MAC] = append(r.holders[c.NIC.MAC], holder{g, c})
			}
		}
	}
}

func (g *Guest) mayBeMachine() bool { return g.Kind != LXC && !g.Template }

func (g *Guest) isNamed(m netplan.Machine) bool { return strings.EqualFold(g.Name, m.Name) }

// carriers are the guests that may be a machine, have one of its MACs and are not
// taken, by VMID.
func (r *recogniser) carriers(m netplan.Machine) []*Guest {
	var out []*Guest
	for _, mac := range []netplan.MAC{m.MACs.Cluster, m.MACs.External} {
		if mac.IsZero() {
			continue
		}
		for _, h := range r.holders[mac] {
			if h.guest.mayBeMachine() && r.taken[h.guest.VMID] == "" && !slices.Contains(out, h.guest) {
				out = append(out, h.guest)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Guest) int { return a.VMID - b.VMID })
	return out
}

func (r *recogniser) take(i int, g *Guest, by Found) {
	m := r.plan.Machines[i]
	r.taken[g.VMID] = m.Name
	r.found[i] = &OwnGuest{Machine: m.Name, VMID: g.VMID, Name: g.Name, Node: g.Node, Kind: g.Kind, Found: by, Differs: r.differs(g, m)}
}

func (r *recogniser) refuse(i int, format string, args ...any) {
	r.refused[i] = true
	r.out.Faults = append(r.out.Faults, r.plan.Machines[i].Name+": "+fmt.Sprintf(format, args...))
}

func (r *recogniser) byPlanVMID(i int, m netplan.Machine) {
	g := r.byVMID[m.VMID]
	if m.VMID == 0 || g == nil {
		return
	}
	switch {
	case !g.mayBeMachine():
		r.refuse(i, "the plan gives it VMID %d, but %s is a container or a template: correct machines.%s.vmid", m.VMID, g.Source(), m.Name)
	case r.taken[g.VMID] != "":
		r.refuse(i, "the plan gives it VMID %d, which %s has too: correct one of them", m.VMID, r.taken[g.VMID])
	case g.isNamed(m) || slices.Contains(r.carriers(m), g):
		r.take(i, g, ByVMID)
	default:
		r.refuse(i, "the plan gives it VMID %d, but %s has another name and none of its MACs, so it is left alone: correct machines.%s.vmid", m.VMID, g.Source(), m.Name)
	}
}

func (r *recogniser) byMACAndName(i int, m netplan.Machine) {
	var named []*Guest
	for _, g := range r.carriers(m) {
		if g.isNamed(m) {
			named = append(named, g)
		}
	}
	switch len(named) {
	case 0:
	case 1:
		r.take(i, named[0], ByMAC)
	default:
		// Two clusters of one name derive the same names and the same MACs.
		r.refuse(i, "%s all have its name and its MACs, as two clusters of one name would: give machines.%s.vmid", sources(named), m.Name)
	}
}

func (r *recogniser) byMACAlone(i int, m netplan.Machine) {
	switch guests := r.carriers(m); {
	case len(guests) == 0 || m.VMID != 0:
		// With a VMID in the plan a guest of another VMID and another name is somebody
		// else's.
	case len(guests) == 1:
		r.take(i, guests[0], ByMAC)
	default:
		r.refuse(i, "%s have its MACs and none has its name: give machines.%s.vmid", sources(guests), m.Name)
	}
}

func (r *recogniser) byNameAlone(i int, m netplan.Machine) {
	var free []*Guest
	for _, g := range r.byName[strings.ToLower(m.Name)] {
		if r.taken[g.VMID] == "" {
			free = append(free, g)
		}
	}
	switch {
	case len(free) == 0 || m.VMID != 0:
	case len(free) == 1:
		r.take(i, free[0], ByName)
	default:
		r.refuse(i, "%s all have its name and none has its MACs: give machines.%s.vmid", sources(free), m.Name)
	}
}

func sources(guests []*Guest) string {
	texts := make([]string, len(guests))
	for i, g := range guests {
		texts[i] = g.Source()
	}
	return some(texts)
}
