package inventory

import (
	"fmt"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// Conflict is a planned address that somebody else claims, or a MAC of the plan
// that a stranger has.
type Conflict struct {
	// Addresses are the shared ones, the zero Range for a MAC.
	Addresses netplan.Range `json:"addresses,omitzero"`
	// For and Machine say what the plan wants them for, as in Planned.
	For     Use    `json:"for,omitempty"`
	Machine string `json:"for_machine,omitempty"`
	Claim   Claim  `json:"claim"`
}

// String says the conflict in one line, without its remedy.
func (c Conflict) String() string {
	if c.Claim.Kind == PlanMAC {
		return fmt.Sprintf("%s has the plan's MAC %s", c.Claim.Source, c.Claim.MAC)
	}
	whose := string(c.For)
	if c.Machine != "" {
		whose += " of " + c.Machine
	}
	text := fmt.Sprintf("%s (%s): %s", Addresses(c.Addresses), whose, c.Claim.Source)
	if c.Claim.Range != c.Addresses && c.Claim.Range.Count() > 1 {
		text += " has " + Addresses(c.Claim.Range)
	}
	if c.Claim.Pending {
		text += ", pending"
	}
	return text
}

// Addresses shows a range as an operator reads it: one address without a length.
func Addresses(r netplan.Range) string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.String()
}

// Verdict is what stands between a plan and its addresses.
type Verdict struct {
	// Conflicts is the whole list, sorted by address, MACs last. With any of them
	// nothing may be reserved.
	Conflicts []Conflict `json:"conflicts"`
	// Warnings refuse nothing: networks of firewall sets that hold a planned address
	// among others, what was accepted, and what an own machine uses itself.
	Warnings []Conflict `json:"warnings,omitempty"`
}

// Judge compares what the plan uses with what is claimed. What a machine of the
// plan rightly has is no conflict: its own anchor and real address in its
// configuration, and the pool and the VIP on the node that announces them now. A
// pool address in a machine's configuration is one, because that machine would
// answer for it whoever announces it.
//
// An IPAM entry is the plan owner's own where its MAC is the one that ipamMAC gives
// for the address; nil when the owner has none there.
func Judge(plan *netplan.Plan, s *Survey, ipamMAC func(netip.Addr) netplan.MAC) Verdict {
	planned := PlannedOn(plan)
	var conflicts, warnings []meeting
	for i := range s.Claims {
		c := &s.Claims[i]
		if c.Kind == PlanMAC {
			conflicts = append(conflicts, meeting{claim: c})
			continue
		}
		if c.Kind == SDNIPAM && ipamMAC != nil && !c.MAC.IsZero() && c.MAC == ipamMAC(c.Range.First) {
			continue
		}
		met := meet(planned, c.Range)
		for j := range met {
			switch m := (meeting{c, &met[j]}); weigh(c, m.planned) {
			case refuses:
				conflicts = append(conflicts, m)
			case warns:
				warnings = append(warnings, m)
			}
		}
	}
	v := Verdict{Conflicts: make([]Conflict, 0, len(conflicts))}
	for _, m := range conflicts {
		v.Conflicts = append(v.Conflicts, m.conflict())
	}
	for _, m := range warnings {
		v.Warnings = append(v.Warnings, m.conflict())
	}
	slices.SortFunc(v.Conflicts, compareConflicts)
	slices.SortFunc(v.Warnings, compareConflicts)
	return v
}

// meeting is a claim and the planned addresses that it shares some of; nil for a
// MAC.
type meeting struct {
	claim   *Claim
	planned *Planned
}

func (m meeting) conflict() Conflict {
	out := Conflict{Claim: *m.claim}
	if p := m.planned; p != nil {
		out.Addresses, out.For, out.Machine = shared(m.claim.Range, p.Range), p.For, p.Machine
		if m.claim.Machine != "" {
			out.Claim.Remedy = ownRemedy(m.claim, p)
		}
	}
	return out
}

type weight int

const (
	nothing weight = iota
	warns
	refuses
)

// weigh says what a claim means for a planned range that it meets.
func weigh(c *Claim, p *Planned) weight {
	switch {
	case c.Accept != "" && c.Range.Count() > 1:
		return warns // a network: that it is meant for this one address is not said
	case c.Machine == "":
		return refuses
	case c.Machine == p.Machine:
		return nothing
	case p.Machine != "":
		return refuses // another machine's anchor or address
	case c.Kind == GuestLive && p.For == UseKubeAPI:
		return nothing // the control plane that holds the VIP
	case c.Kind == GuestLive:
		return warns // some proxies put the Service's address on an interface
	}
	return refuses
}

func ownRemedy(c *Claim, p *Planned) string {
	if p.Machine != "" {
		return fmt.Sprintf("it is the plan's for %s: take it off %s", p.Machine, c.Machine)
	}
	return fmt.Sprintf("take it off %s: the cluster announces it itself, from whichever machine is up", c.Machine)
}

// shared gives the addresses that two ranges have in common.
func shared(a, b netplan.Range) netplan.Range {
	r := netplan.Range{First: a.First, Last: a.Last}
	if r.First.Less(b.First) {
		r.First = b.First
	}
	if b.Last.Less(r.Last) {
		r.Last = b.Last
	}
	return r
}

func compareConflicts(a, b Conflict) int {
	if c := compareRanges(a.Addresses, b.Addresses); c != 0 {
		return c
	}
	return compareClaims(&a.Claim, &b.Claim)
}

// Accept moves the conflicts that an operator named to the warnings. Names that
// are no conflict's that may be accepted are unused: what was accepted once may be
// gone since, and what may not be accepted stays a conflict.
func (v Verdict) Accept(names []string) (out Verdict, unused []string) {
	out = Verdict{Conflicts: []Conflict{}, Warnings: slices.Clone(v.Warnings)}
	used := map[string]bool{}
	for _, c := range v.Conflicts {
		name := c.Claim.Accept
		if name == "" || !slices.Contains(names, name) {
			out.Conflicts = append(out.Conflicts, c)
			continue
		}
		used[name] = true
		out.Warnings = append(out.Warnings, c)
	}
	for _, name := range names {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	slices.SortStableFunc(out.Warnings, compareConflicts)
	return out, unused
}
