package reservation

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/netplan"
)

// Taken is one thing that stands against a plan.
type Taken struct {
	// Address is one, or a range "a-b"; empty where the conflict is about a MAC.
	Address string      `json:"address,omitempty"`
	MAC     netplan.MAC `json:"mac,omitzero"`
	// For is what the plan wants it for.
	For string `json:"for,omitempty"`
	// Kind is a claim's, "reservation", or "arp" for who answers on the segment.
	Kind string `json:"kind"`
	// Source says who has it and where that stands.
	Source string `json:"source"`
	// Owner and Since are a reservation's.
	Owner *ledger.Owner `json:"owner,omitempty"`
	State ledger.State  `json:"state,omitempty"`
	Since *time.Time    `json:"since,omitempty"`
	// Accept is what --accept takes to let it stay; empty where that cannot be.
	Accept string `json:"accept,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	kindReservation = "reservation"
	kindGuest       = "guest"
)

// Taken lists all that stands against the plan of an owner, by address.
func (l *Look) Taken(o ledger.Owner) []Taken {
	list := []Taken{}
	for _, c := range l.Verdict.Conflicts {
		list = append(list, claimed(c))
	}
	list = append(list, l.wire...)
	list = append(list, reserved(l.Others(o), l.Wants, o)...)
	slices.SortStableFunc(list, func(a, b Taken) int { return compareAddresses(a.Address, b.Address) })
	return list
}

// compareAddresses orders by the first address; what has none comes last.
func compareAddresses(a, b string) int {
	first := func(s string) (netip.Addr, int) {
		s, _, _ = strings.Cut(s, "-")
		s, _, _ = strings.Cut(s, "/")
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return addr, 1
		}
		return addr, 0
	}
	x, xLast := first(a)
	y, yLast := first(b)
	return cmp.Or(cmp.Compare(xLast, yLast), x.Compare(y))
}

func claimed(c inventory.Conflict) Taken {
	t := Taken{For: string(c.For), Kind: string(c.Claim.Kind), Source: c.Claim.Source, Accept: c.Claim.Accept, Remedy: c.Claim.Remedy}
	if c.Machine != "" {
		t.For += " of " + c.Machine
	}
	if c.Addresses.First.IsValid() {
		t.Address = inventory.Addresses(c.Addresses)
	}
	if c.Claim.Kind == inventory.PlanMAC {
		t.MAC, t.For = c.Claim.MAC, "MAC of "+c.Claim.Machine
		if c.Claim.Machine == "" {
			t.For = "MAC of the plan"
		}
	}
	if c.Claim.Pending {
		t.Source += " (pending)"
	}
	return t
}

// reserved lists what others have in the record.
func reserved(conflicts []ledger.Conflict, wants []ledger.Want, o ledger.Owner) []Taken {
	var list []Taken
	for _, c := range conflicts {
		for _, a := range c.Addresses {
			t := Taken{Address: a.String(), Kind: kindReservation, Source: holder(c.Entry), Remedy: remedy(c.Entry, o)}
			for _, w := range wants {
				if w.Address == a {
					t.For = string(w.Purpose)
				}
			}
			if r := c.Entry.Record; c.Entry.Readable {
				t.Owner, t.State, t.Since = &r.Owner, r.State, &r.Since
			}
			list = append(list, t)
		}
	}
	return list
}

// holder says whose an entry is.
func holder(e ledger.Entry) string {
	switch {
	case !e.Readable && e.Comment == "":
		return "an entry without a comment (" + e.Prefix.String() + ")"
	case !e.Readable:
		return "an entry (" + e.Prefix.String() + ") that says " + netplan.Quote(e.Comment)
	case !e.Single():
		return "an entry of " + e.Prefix.String()
	}
	return "cluster " + e.Record.Owner.Cluster + " (id " + e.Record.Owner.ID + "), " + string(e.Record.State)
}

// remedy says what to do about an entry of somebody else.
func remedy(e ledger.Entry, o ledger.Owner) string {
	switch {
	case !e.Readable || !e.Single():
		return "somebody wrote it by hand: take it out of the record when nobody uses the address"
	case e.Record.Owner.Cluster == o.Cluster && o.ID == "":
		return "if this is the same cluster put its homeward.id beside cluster.yaml (it is made at the first reserve)"
	case e.Record.Owner.Cluster == o.Cluster:
		return "it has this cluster's name and another id: take the homeward.id of the first reserve, or choose another name"
	case e.Record.State == ledger.Pending:
		return "a reservation is under way, or was killed: try again, or let its owner run reserve again"
	}
	return "choose another address, or let its owner release it (of a dead cluster: homeward release --owner " + e.Record.Owner.ID + ")"
}

// takenBy gives what the protocol met after the look.
func takenBy(r ledger.Result, wants []ledger.Want, o ledger.Owner) []Taken {
	list := reserved(r.Conflicts, wants, o)
	var second *proxmox.IPAMError
	if errors.As(r.Err, &second) {
		list = append(list, Taken{Address: second.Address.String(), Kind: string(inventory.SDNIPAM), Source: second.Error(),
			Remedy: "choose another address, or take the entry out of the IPAM"})
	}
	return list
}
