package render

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"homeward/cmd/homeward/internal/report"
)

// Markdown writes the report as GitHub and most others read it.
func Markdown(w io.Writer, r report.Report) error {
	m := &markdown{}
	m.head(r)
	m.components(r)
	m.hosts(r)
	m.failures(r)
	m.points(r)
	m.measured(r)
	m.list("Not known", each(r.Unknown))
	m.list("What this assumes", each(r.Assumptions))
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// plain makes others' text mean nothing to Markdown, nor to HTML in it, nor to a
// terminal.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]<>|#&~$!@", r):
			b.WriteString("\\" + string(r))
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.IsPrint(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	// A viewer makes links of these by itself.
	return strings.NewReplacer("://", ":\\/\\/", "www.", "www\\.").Replace(b.String())
}

func (m *markdown) table(head []string, rows [][]string) {
	m.line("| %s |", strings.Join(head, " | "))
	m.line("|%s", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = plain(c)
		}
		m.line("| %s |", strings.Join(cells, " | "))
	}
}

// list writes items that are Markdown already.
func (m *markdown) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	m.line("\n## %s\n", title)
	for _, i := range items {
		m.line("- %s", i)
	}
}

func (m *markdown) head(r report.Report) {
	m.line("# Availability of %s\n", plain(r.Cluster))
	m.line("Interpreted from %s. This is what follows from declared facts, with everything declared taken as healthy; it is no health check and no drill.\n", plain(basis(r)))
	var rows [][]string
	for _, a := range r.Answers {
		rows = append(rows, []string{"any one " + string(a.Question), a.Text, word(a.Ingress), word(a.API)})
	}
	m.table([]string{"Loss of", "Survived?", "Ingress", "API"}, rows)
}

func (m *markdown) components(r report.Report) {
	m.line("\n## What supplies redundancy\n")
	var rows [][]string
	for _, c := range r.Components {
		layout := c.Layout
		if c.Observed != "" {
			layout += ". Observed: " + c.Observed
		}
		rows = append(rows, []string{c.Name, layout, c.Mechanism})
	}
	m.table([]string{"Component", "Layout", "Mechanism"}, rows)
	if len(r.Announcements) == 0 {
		return
	}
	m.line("\nExpected announcers, by MetalLB's election:\n")
	rows = nil
	for _, a := range r.Announcements {
		rows = append(rows, announcementRow(a))
	}
	m.table(announcementHead, rows)
}

var announcementHead = []string{"Address", "First", "Then", "Now", "Services"}

func announcementRow(a report.Announcement) []string {
	first, then := "nobody", "nobody"
	if len(a.Order) > 0 {
		first = a.Order[0]
	}
	if len(a.Order) > 1 {
		then = strings.Join(a.Order[1:], ", ")
	}
	if more := a.Eligible - len(a.Order); more > 0 {
		then += fmt.Sprintf(" and %d more", more)
	}
	return []string{a.Address, first, then, orDash(strings.Join(a.Now, ", ")), orDash(strings.Join(a.Services, ", "))}
}

func (m *markdown) hosts(r report.Report) {
	m.line("\n## Which machines share a Proxmox host\n")
	m.line("The loss of a VM is not the loss of its host: a host takes all its VMs at once.\n")
	var rows [][]string
	for _, h := range r.Hosts {
		name := h.Name
		if h.Offline {
			name += " (offline)"
		}
		rows = append(rows, []string{name, names(h.Machines), "Its loss " + h.Loss.Text})
	}
	if len(r.Unplaced) > 0 {
		rows = append(rows, []string{"unknown", names(r.Unplaced), "Which of these share a host is not known."})
	}
	m.table([]string{"Host", "Machines", "At once"}, rows)
}

func each(items []string) []string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = plain(x)
	}
	return out
}

func names(machines []report.Machine) string {
	list := make([]string, len(machines))
	for i, x := range machines {
		list[i] = x.Name
	}
	return strings.Join(list, ", ")
}

func (m *markdown) failures(r report.Report) {
	m.line("\n## Failures\n")
	var rows [][]string
	for _, f := range r.Failures {
		rows = append(rows, []string{f.Subject, word(f.Ingress), word(f.API), word(f.Config), f.Expected, f.Remains})
	}
	m.table([]string{"Failure of", "Ingress", "API", "New addresses", "Expected", "What it still depends on"}, rows)
}

func (m *markdown) points(r report.Report) {
	var points, advice []string
	for _, p := range r.SinglePoints {
		points = append(points, plain(fmt.Sprintf("%s (%s): %s", p.Name, takes(p), p.Why)))
	}
	m.list("Single points", points)
	for _, i := range r.Improvements {
		text := plain(i.Change + ". " + i.Why)
		for _, e := range i.Edits {
			text += fmt.Sprintf(" In cluster.yaml: **%s: %s**.", plain(e.Path), plain(orOut(e.Value)))
		}
		advice = append(advice, text)
	}
	m.list("What would improve it", advice)
	if r.After != "" {
		m.line("\nWith the changes of cluster.yaml, which were tried together and resolve: %s.", plain(r.After))
	}
}

func (m *markdown) measured(r report.Report) {
	m.line("\n## Measured\n")
	if len(r.Measured) == 0 {
		m.line("Nothing was. `homeward probe -o json` measures, `--measured FILE` brings it here.")
		return
	}
	var rows [][]string
	for _, x := range r.Measured {
		rows = append(rows, measuredRow(x))
	}
	m.table(measuredHead, rows)
}

var measuredHead = []string{"Target", "What it is", "From", "Answered", "Outages", "Longest", "Taken over", "Proves"}

func measuredRow(x report.Measurement) []string {
	overs := make([]string, len(x.TakeOvers))
	for i, t := range x.TakeOvers {
		overs[i] = fmt.Sprintf("%s to %s at %s", t.From, t.To, t.Time.Format(time.TimeOnly))
	}
	proves := "the client's whole path, both ways"
	if x.OnLink {
		proves = "nothing of the return path: the client was on the segment"
	}
	longest := "-"
	if x.Outages > 0 {
		longest = fmt.Sprintf("%v, to %v", x.Longest.Round(time.Millisecond), x.Interval)
	}
	return []string{
		x.Target, orOther(x.Of), fmt.Sprintf("%s for %v", x.Start.Format("2006-01-02 15:04:05Z"), x.Length.Round(time.Second)),
		fmt.Sprintf("%d of %d, %d not judged", x.Answered, x.Attempts, x.Unknown), fmt.Sprint(x.Outages), longest, orDash(strings.Join(overs, ", ")), proves,
	}
}
