package main

import (
	"fmt"
	"io"

	"homeward/agent/ledger/inventory"
	"homeward/cmd/homeward/internal/reservation"
)

// showStatus prints a status.
func (t *tool) showStatus(format string, s *reservation.Status) error {
	if format != "table" {
		return encode(t.out, format, s)
	}
	b := t.page()
	fmt.Fprintf(b, "%s; record %s", s.Segment, s.Record)
	if s.Kind != "" {
		fmt.Fprintf(b, " (%s)", s.Kind)
	}
	if s.IPAM != "" {
		fmt.Fprintf(b, ", and SDN IPAM of VNet %s", s.IPAM)
	}
	b.WriteByte('\n')
	for _, also := range s.AlsoKnown {
		fmt.Fprintf(b, "also known as %s\n", also)
	}
	b.WriteByte('\n')
	if len(s.Reservations) > 0 {
		reservationTable(b, s.Reservations)
	} else if s.RecordUnread {
		b.WriteString("What is reserved here could not be read.\n")
	} else {
		b.WriteString("Nothing is reserved here.\n")
	}
	if len(s.Claims) > 0 {
		b.WriteByte('\n')
		claimTable(b, s.Claims)
	}
	if len(s.Conflicts) > 0 {
		b.WriteByte('\n')
		takenTable(b, s.Conflicts)
	}
	if len(s.Drift) > 0 {
		b.WriteByte('\n')
		driftTable(b, s.Drift)
	}
	if len(s.Unread) > 0 {
		b.WriteByte('\n')
		unreadTable(b, s.Unread)
	}
	guestText(b, s.Guests)
	for _, w := range s.Warnings {
		t.log.Warn(w)
	}
	for _, n := range s.Notes {
		t.log.Info(n)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

func claimTable(b sheet, list []inventory.Claim) {
	rows := [][]string{{"IN USE", "WHAT", "WHERE", "WHOSE"}}
	for _, c := range list {
		address := c.MAC.String()
		if c.Range.First.IsValid() {
			address = inventory.Addresses(c.Range)
		}
		source := c.Source
		if c.Pending {
			source += " (pending)"
		}
		whose := "-"
		if c.Machine != "" {
			whose = c.Machine
		}
		rows = append(rows, []string{address, string(c.Kind), source, whose})
	}
	table(b, rows)
}

func driftTable(b sheet, list []reservation.Drift) {
	rows := [][]string{{"DRIFT", "HOW", "WHAT TO DO"}}
	for _, d := range list {
		rows = append(rows, []string{d.Address, d.Message, dash(d.Remedy)})
	}
	table(b, rows)
}
