package reservation

import (
	"net/netip"
	"slices"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox/guests"
	"homeward/agent/segment"
	"homeward/netplan"
)

// Outcome is how reserve or release ended.
type Outcome string

// The outcomes.
const (
	Reserved Outcome = "reserved"
	Released Outcome = "released"
	// Rehearsed: nothing was written, Requests has what would be.
	Rehearsed Outcome = "dry-run"
	// InUse: something stands against it, see Conflicts. Nothing of this run is left.
	InUse Outcome = "taken"
	// Partial: not every source could be read, see Unread. Nothing was written.
	Partial Outcome = "partial"
	// Failed: the server would not, see Error.
	Failed Outcome = "failed"
	// Unknown: the server did not say whether it wrote, see Uncertain and Error.
	Unknown Outcome = "unknown"
)

// Report is what reserve or release did.
type Report struct {
	Outcome Outcome      `json:"outcome"`
	Owner   ledger.Owner `json:"owner"`
	Place
	// Addresses are what the owner has in the end, ascending, as far as it could be
	// read; GivenBack what it had before and has no more.
	Addresses []Reservation `json:"addresses"`
	GivenBack []string      `json:"given_back,omitempty"`
	// Added and Removed count the entries of this run.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Conflicts is the whole list, by address; never nil.
	Conflicts []Taken `json:"conflicts"`
	// Uncertain are addresses whose entry the server may still write or remove, Left
	// those that should have been given back and could not be.
	Uncertain []netip.Addr `json:"uncertain,omitempty"`
	Left      []netip.Addr `json:"left,omitempty"`
	// Requests are those of a dry run, one a line.
	Requests []string           `json:"requests,omitempty"`
	Unread   []inventory.Unread `json:"unread,omitempty"`
	Warnings []string           `json:"warnings,omitempty"`
	Notes    []string           `json:"notes,omitempty"`
	Guests   *GuestWork         `json:"guests,omitempty"`
	Probe    *segment.Report    `json:"probe,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// Place is a segment and its record.
type Place struct {
	Segment   netplan.Segment   `json:"segment"`
	AlsoKnown []netplan.Segment `json:"also_known_as,omitempty"`
	Record    string            `json:"record"`
	// Kind is what the record is kept in; empty while there is none.
	Kind ledger.Kind `json:"kind,omitempty"`
	// IPAM is the VNet in whose SDN IPAM the addresses are claimed as well.
	IPAM string `json:"ipam,omitempty"`
}

// Reservation is one entry of the record.
type Reservation struct {
	Address string         `json:"address"`
	Owner   *ledger.Owner  `json:"owner,omitempty"`
	Ours    bool           `json:"ours"`
	For     ledger.Purpose `json:"for,omitempty"`
	State   ledger.State   `json:"state,omitempty"`
	Since   *time.Time     `json:"since,omitempty"`
	// Comment is the text of an entry that Homeward did not write.
	Comment string `json:"comment,omitempty"`
}

// GuestWork is what was or is to be done about the cluster's own guests.
type GuestWork struct {
	Machines []MachineWork `json:"machines"`
	// Missing are machines without a guest.
	Missing []string `json:"missing,omitempty"`
	// Items are for the operator: nodes, bridges and the datacenter's firewall.
	Items []guests.Item `json:"items,omitempty"`
}

// MachineWork is one machine's guest.
type MachineWork struct {
	inventory.OwnGuest
	// Done were made, Steps are still to be made.
	Done  []guests.Step `json:"done,omitempty"`
	Steps []guests.Step `json:"steps,omitempty"`
	Items []guests.Item `json:"items,omitempty"`
	// Switches must all be on for a rule to count.
	Switches guests.Switches `json:"switches"`
	Error    string          `json:"error,omitempty"`
}

// Differs says that something is to be done, by Homeward or by the operator.
func (w *GuestWork) Differs() bool {
	needs := func(items []guests.Item) bool {
		for _, i := range items {
			if !i.Note {
				return true
			}
		}
		return false
	}
	for _, m := range w.Machines {
		if len(m.Steps) > 0 || m.Error != "" || needs(m.Items) {
			return true
		}
	}
	return needs(w.Items)
}

// report begins one.
func (c *Cluster) report(l *Look) *Report {
	r := &Report{Owner: c.Owner, Place: l.place(), Addresses: reservations(l.page(), c.Owner, &c.Owner), Conflicts: []Taken{}, Unread: l.Survey.Unread, Notes: l.Survey.Notes, Probe: l.Probe}
	for _, w := range l.Verdict.Warnings {
		r.Warnings = append(r.Warnings, l.warning(w))
	}
	return r
}

// warning says one in a line, and where it is one only because it was accepted.
func (l *Look) warning(w inventory.Conflict) string {
	if slices.Contains(l.accepted, w.Claim.Accept) {
		return "accepted: " + w.String()
	}
	return w.String()
}

// place says where the record is.
func (l *Look) place() Place {
	p := Place{Segment: l.Survey.Segment, AlsoKnown: l.Survey.AlsoKnown, Record: l.Record}
	for i, page := range l.Pages {
		if len(page.Entries) > 0 {
			p.Kind = l.shelves[i].Kind
			break
		}
	}
	if l.second != nil {
		p.IPAM = l.second.vnet
	}
	return p
}

// reservations shows the entries of a page; only is an owner, or nil for all.
func reservations(p ledger.Page, mine ledger.Owner, only *ledger.Owner) []Reservation {
	list := []Reservation{}
	for _, e := range p.Entries {
		if only != nil && !e.OwnedBy(*only) {
			continue
		}
		r := Reservation{Address: e.Prefix.String(), Comment: e.Comment}
		if e.Single() {
			r.Address = e.Prefix.Addr().String()
		}
		if e.Readable {
			rec := e.Record
			r.Owner, r.For, r.State, r.Since, r.Comment = &rec.Owner, rec.Purpose, rec.State, &rec.Since, ""
			r.Ours = e.OwnedBy(mine)
		}
		list = append(list, r)
	}
	return list
}
