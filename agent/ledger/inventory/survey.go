package inventory

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// Survey is what is known of the segment of one plan's external link.
type Survey struct {
	// Segment is the one name under which reservations are kept, AlsoKnown its other
	// spellings, sorted.
	Segment   netplan.Segment   `json:"segment"`
	AlsoKnown []netplan.Segment `json:"also_known_as,omitempty"`
	// Own are the plan's machines.
	Own Owned `json:"own"`
	// Claims are sorted by address. They include what the plan's own guests have,
	// with their machine's name.
	Claims []Claim `json:"claims"`
	// Silent are other guests on the segment of which no address is known, in the
	// order of their VMIDs: they may use any.
	Silent []string `json:"silent,omitempty"`
	// Notes are what an operator should know and what refuses nothing, sorted.
	Notes []string `json:"notes,omitempty"`
	// Unread are the sources of which nothing is known, sorted. With any of them the
	// claims may not be all there are.
	Unread []Unread `json:"unread,omitempty"`
}

// Take finds everyone who claims an address on the segment of the plan's external
// link. It fails where the plan has no such link, and where the segment cannot be
// told from another one (see Locate).
//
// What the firewall names belongs to no segment. An alias or a set counts where it
// meets the link's networks, external.cidr and anchor_cidr; one that holds a whole
// network of them, like 0.0.0.0/0 in an ipfilter set or the office's network in an
// allowlist, says nothing of single addresses and claims nothing.
func Take(plan *netplan.Plan, s *Snapshot) (*Survey, error) {
	if plan.External == nil {
		return nil, errors.New("the plan has no external link, so there is no segment to look at")
	}
	at, err := locate(s, plan.External.Segment)
	if err != nil {
		return nil, err
	}
	t := &taker{
		location: at,
		snapshot: s,
		parsed:   parse(s.Guests),
		claims:   make([]Claim, 0, 2*len(s.Guests)),
		links:    []netip.Prefix{plan.External.CIDR.Masked(), plan.External.AnchorCIDR.Masked()},
		machines: map[int]string{},
		cards:    map[int][]Card{},
		guests:   map[int]*parsed{},
	}
	own := ownGuests(plan, t.parsed)
	for _, g := range own.Guests {
		t.machines[g.VMID] = g.Machine
	}
	t.unread = slices.Clone(s.Unread)
	t.notes = slices.Concat(at.notes, own.Notes)
	t.allGuests()
	t.allNodes()
	t.allSDN()
	t.allFirewall()
	t.claims = append(t.claims, own.Strangers...)
	t.claims = sorted(t.claims)
	slices.SortFunc(t.unread, compareUnread)
	slices.Sort(t.notes)
	return &Survey{
		Segment: at.Segment, AlsoKnown: at.spellings, Own: own, Claims: t.claims,
		Notes: t.notes, Silent: t.silent, Unread: slices.Compact(t.unread),
	}, nil
}

// taker is one run of Take.
type taker struct {
	*location
	snapshot *Snapshot
	parsed   []parsed
	links    []netip.Prefix
	machines map[int]string // VMID -> machine of the plan
	guests   map[int]*parsed
	// cards are the NICs that are on the segment, by VMID.
	cards map[int][]Card

	claims []Claim
	notes  []string
	silent []string
	unread []Unread
}

func (t *taker) claim(c Claim) {
	if c.Machine = t.machines[c.VMID]; c.Machine != "" {
		c.Remedy = "" // it has what it should, or Judge says what to do
	}
	t.claims = append(t.claims, c)
}

// sorted gives claims by address. What is so now and after a pending change is said
// once.
func sorted(claims []Claim) []Claim {
	order := make([]*Claim, len(claims)) // small, for there can be many
	for i := range claims {
		order[i] = &claims[i]
	}
	slices.SortFunc(order, compareClaims)
	out := make([]Claim, 0, len(claims))
	for _, c := range order {
		if n := len(out); n > 0 {
			same := *c
			same.Pending = out[n-1].Pending // now comes first
			if same == out[n-1] {
				continue
			}
		}
		out = append(out, *c)
	}
	return out
}

// onLink says whether an address is one that the plan could use.
func (t *taker) onLink(a netip.Addr) bool {
	return slices.ContainsFunc(t.links, func(p netip.Prefix) bool { return p.Contains(a) })
}

func single(a netip.Addr) netplan.Range { return netplan.Range{First: a, Last: a} }

func compareUnread(a, b Unread) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason))
}
