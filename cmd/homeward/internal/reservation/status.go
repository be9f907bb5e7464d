package reservation

import (
	"context"
	"fmt"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
)

// Status is what is claimed on the segment, by whom, and what has drifted.
type Status struct {
	// Owner has no id while this cluster never reserved.
	Owner ledger.Owner `json:"owner"`
	Place
	// Reservations of all owners, ascending; not all of them where RecordUnread.
	Reservations []Reservation `json:"reservations"`
	RecordUnread bool          `json:"record_unread,omitempty"`
	// Drift is how the record differs from the plan; never nil.
	Drift []Drift `json:"drift"`
	// Conflicts stand against reserving the plan; never nil.
	Conflicts []Taken `json:"conflicts"`
	// Claims are everyone else on the segment, and what the own guests have.
	Claims   []inventory.Claim  `json:"claims"`
	Guests   *GuestWork         `json:"guests"`
	Unread   []inventory.Unread `json:"unread,omitempty"`
	Warnings []string           `json:"warnings,omitempty"`
	Notes    []string           `json:"notes,omitempty"`
}

// DriftKind is how an address differs.
type DriftKind string

// The kinds of drift.
const (
	Unclaimed  DriftKind = "unclaimed"  // in the plan, not claimed
	Unplanned  DriftKind = "unplanned"  // claimed, not in the plan
	Unfinished DriftKind = "unfinished" // claimed, and still pending
	Misused    DriftKind = "purpose"    // claimed for something else than the plan's purpose
	Used       DriftKind = "used"       // claimed by us, and used by somebody
	NotInIPAM  DriftKind = "ipam"       // claimed, and not in the SDN IPAM that knows the address
)

// Drift is one difference.
type Drift struct {
	Address string    `json:"address"`
	Kind    DriftKind `json:"kind"`
	Message string    `json:"message"`
	Remedy  string    `json:"remedy"`
}

// Status reads what there is and changes nothing.
func (c *Cluster) Status(ctx context.Context, l *Look) (*Status, error) {
	s := &Status{
		Owner: c.Owner, Place: l.place(), RecordUnread: l.RecordUnread, Reservations: reservations(l.page(), c.Owner, nil),
		Conflicts: l.Taken(c.Owner), Claims: l.Survey.Claims, Unread: l.Survey.Unread, Notes: l.Survey.Notes,
	}
	for _, w := range l.Verdict.Warnings {
		s.Warnings = append(s.Warnings, l.warning(w))
	}
	var err error
	if s.Drift, err = c.drift(l); err != nil {
		return nil, err
	}
	s.Guests, err = c.GuestsDiffer(ctx, l)
	return s, err
}

// drift compares the record with the plan, and with what is in use.
func (c *Cluster) drift(l *Look) ([]Drift, error) {
	page := l.page()
	d, err := ledger.DriftOf(page, l.Wants, c.Owner)
	if err != nil {
		return nil, err
	}
	const again = "homeward reserve"
	list := []Drift{}
	taken := map[string]bool{}
	for _, t := range l.Taken(c.Owner) {
		taken[t.Address] = true
	}
	for _, w := range d.Unclaimed {
		if l.RecordUnread || taken[w.Address.String()] {
			continue // it may well be claimed, or cannot be
		}
		list = append(list, Drift{w.Address.String(), Unclaimed, fmt.Sprintf("in the plan for %s, and not claimed", w.Purpose), again})
	}
	for _, e := range d.Unwanted {
		list = append(list, Drift{e.Prefix.Addr().String(), Unplanned, fmt.Sprintf("claimed for %s, and not in the plan", e.Record.Purpose), again + " gives it back"})
	}
	for _, e := range d.Unfinished {
		list = append(list, Drift{e.Prefix.Addr().String(), Unfinished, "claimed and still pending: a reservation is under way or was killed", again})
	}
	for _, e := range d.Misused {
		list = append(list, Drift{e.Prefix.Addr().String(), Misused, fmt.Sprintf("claimed for %s, which is not what the plan wants it for", e.Record.Purpose), again})
	}
	for _, e := range l.second.lacking(page, c.Owner) {
		list = append(list, Drift{e.Prefix.Addr().String(), NotInIPAM, "claimed, and not in the SDN IPAM of VNet " + l.second.vnet, again})
	}
	stranger := func(claim inventory.Claim) bool { return claim.Machine == "" }
	for _, e := range page.Owned(c.Owner) {
		for _, t := range l.users(e, stranger) {
			list = append(list, Drift{t.Address, Used, "used by " + t.Source, t.Remedy})
		}
	}
	return list, nil
}
