package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox/guests"
	"homeward/cmd/homeward/internal/reservation"
)

// showReport prints what reserve or release did. On a terminal's output the requests
// of a dry run and the conflicts stand first, for they are what was asked for.
func (t *tool) showReport(format string, r *reservation.Report) error {
	if format != "table" {
		return encode(t.out, format, r)
	}
	b := t.page()
	for _, request := range r.Requests {
		b.WriteString(request + "\n")
	}
	if len(r.Conflicts) > 0 {
		takenTable(b, r.Conflicts)
	}
	if len(r.Unread) > 0 {
		separate(b)
		unreadTable(b, r.Unread)
	}
	if len(r.Addresses) > 0 {
		separate(b)
		reservationTable(b, r.Addresses)
	}
	guestText(b, r.Guests)
	separate(b)
	b.WriteString(conclusion(r) + "\n")
	if r.Error != "" && (r.Outcome == reservation.Reserved || r.Outcome == reservation.Rehearsed) {
		fmt.Fprintf(b, "The guests: %s\n", r.Error)
	}
	for _, w := range r.Warnings {
		t.log.Warn(w)
	}
	for _, n := range r.Notes {
		t.log.Debug(n)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// separate puts an empty line before what follows something.
func separate(b sheet) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
}

// conclusion says in one line how it ended and what to do.
func conclusion(r *reservation.Report) string {
	place := fmt.Sprintf("%s (record %s)", r.Segment, r.Record)
	switch r.Outcome {
	case reservation.Reserved:
		return fmt.Sprintf("%s: %s reserved for %s, %d new, %d given back", place, count(len(r.Addresses), "address", "addresses"), r.Owner.Cluster, r.Added, r.Removed)
	case reservation.Released:
		return fmt.Sprintf("%s: %s given back by %s", place, count(r.Removed, "address", "addresses"), r.Owner.Cluster)
	case reservation.Rehearsed:
		return fmt.Sprintf("%s: dry run, nothing was written; %d would be new, %d would be given back", place, r.Added, r.Removed)
	case reservation.InUse:
		return fmt.Sprintf("%s: taken, see above; nothing was changed", place)
	case reservation.Partial:
		return fmt.Sprintf("%s: what is listed above could not be read, so who has an address is not known and nothing was written; see to it, or --allow-partial", place)
	case reservation.Unknown:
		return fmt.Sprintf("%s: the server did not say whether it wrote%s: %s; run it again, that settles it", place, uncertain(r), r.Error)
	}
	return fmt.Sprintf("%s: failed: %s%s", place, r.Error, left(r))
}

func uncertain(r *reservation.Report) string {
	if len(r.Uncertain) == 0 {
		return ""
	}
	return fmt.Sprintf(" about %v", r.Uncertain)
}

func left(r *reservation.Report) string {
	if len(r.Left) == 0 {
		return ""
	}
	return fmt.Sprintf("; %v could not be given back: run it again", r.Left)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func takenTable(b sheet, list []reservation.Taken) {
	rows := [][]string{{"TAKEN", "FOR", "BY", "WHAT TO DO"}}
	for _, c := range list {
		todo := c.Remedy
		if c.Accept != "" {
			todo = strings.TrimPrefix(todo+fmt.Sprintf("; if it may stay: --accept '%s'", c.Accept), "; ")
		}
		what := c.Address
		if !c.MAC.IsZero() {
			what = c.MAC.String()
		}
		rows = append(rows, []string{dash(what), dash(c.For), c.Source, dash(todo)})
	}
	table(b, rows)
}

func unreadTable(b sheet, list []inventory.Unread) {
	rows := [][]string{{"UNKNOWN", "WHY"}}
	for _, u := range list {
		rows = append(rows, []string{u.Source, u.Reason})
	}
	table(b, rows)
}

func reservationTable(b sheet, list []reservation.Reservation) {
	rows := [][]string{{"ADDRESS", "OWNER", "FOR", "STATE", "SINCE"}}
	for _, r := range list {
		owner, since := "by hand: "+dash(r.Comment), "-"
		if r.Owner != nil {
			owner = r.Owner.Cluster + " (" + r.Owner.ID + ")"
			if r.Ours {
				owner = r.Owner.Cluster + " (this cluster)"
			}
		}
		if r.Since != nil {
			since = r.Since.Format(time.RFC3339)
		}
		rows = append(rows, []string{r.Address, owner, dash(string(r.For)), dash(string(r.State)), since})
	}
	table(b, rows)
}

// guestText says what was done or is to be done about the own guests.
func guestText(b sheet, w *reservation.GuestWork) {
	if w == nil {
		return
	}
	for _, m := range w.Machines {
		separate(b)
		fmt.Fprintf(b, "%s: VM %d on %s (found by %s)\n", m.Machine, m.VMID, m.Node, m.Found)
		for _, d := range m.Differs {
			fmt.Fprintf(b, "  differs: %s\n", d)
		}
		for _, s := range m.Done {
			fmt.Fprintf(b, "  done:    %s\n", s.Words)
		}
		for _, s := range m.Steps {
			fmt.Fprintf(b, "  to do:   %s\n           %s\n", s.Words, s.Request)
		}
		itemText(b, m.Items)
		if m.Error != "" {
			fmt.Fprintf(b, "  failed:  %s\n", m.Error)
		}
		if len(m.Done)+len(m.Steps)+len(m.Items)+len(m.Differs) == 0 && m.Error == "" {
			b.WriteString("  as the plan has it\n")
		}
	}
	if len(w.Missing) > 0 {
		separate(b)
		fmt.Fprintf(b, "No VM found for %s\n", strings.Join(w.Missing, ", "))
	}
	if len(w.Items) > 0 {
		separate(b)
		b.WriteString("For you to do:\n")
		itemText(b, w.Items)
	}
}

func itemText(b sheet, items []guests.Item) {
	for _, i := range items {
		word := "for you: "
		if i.Note {
			word = "note:    "
		}
		fmt.Fprintf(b, "  %s%s\n", word, i.Message)
		for _, c := range i.Commands {
			fmt.Fprintf(b, "           %s\n", c)
		}
	}
}
