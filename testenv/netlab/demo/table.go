//go:build linux

package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"homeward/testenv/netlab"
)

// WriteTable prints the report for people. Cells that came out alike for every
// contender share a line.
func (r *Report) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown := r.shown()
	header := []string{"BACKEND", "POLICY", "CLIENT", "PROTOCOL"}
	for _, c := range shown {
		header = append(header, strings.ToUpper(c.Name))
	}
	row(tw, header...)
	for _, l := range matrixLines(shown) {
		row(tw, append([]string{string(l.backend), join(l.policies), string(l.client), join(l.protocols)}, l.verdicts...)...)
	}
	row(tw)
	row(tw, "UNDER LOAD", "", "", "", "LOST REPLIES", "OF", "NO REPLY FOR")
	for _, c := range shown {
		for _, f := range c.Faults {
			row(tw, f.Fault, c.Name, "", "", fmt.Sprint(f.Load.Lost), fmt.Sprint(f.Load.Requests), outage(f))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return r.writeNotes(w)
}

func (r *Report) writeNotes(w io.Writer) error {
	lines := []string{""}
	for _, c := range r.Contenders {
		switch {
		case c.Skipped != "":
			lines = append(lines, fmt.Sprintf("%s: skipped: %s", c.Name, c.Skipped))
		case c.Ready > 0:
			lines = append(lines, fmt.Sprintf("%s: ready after %s; %d packets dropped as spoofed by the private gateway during the matrix",
				c.Name, c.Ready.Round(time.Millisecond), c.Spoofed))
		default:
			lines = append(lines, fmt.Sprintf("%s: %d packets dropped as spoofed by the private gateway during the matrix", c.Name, c.Spoofed))
		}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// shown are the contenders that ran.
func (r *Report) shown() []ContenderReport {
	return slices.DeleteFunc(slices.Clone(r.Contenders), func(c ContenderReport) bool { return c.Skipped != "" })
}

// line is one line of the matrix.
type line struct {
	backend   netlab.BackendKind
	client    netlab.ClientKind
	policies  []netlab.Policy
	protocols []netlab.Protocol
	verdicts  []string
}

// matrixLines folds the cells of a backend and client with equal verdicts: first
// the protocols of a policy, then policies with the same protocols.
func matrixLines(contenders []ContenderReport) []*line {
	if len(contenders) == 0 {
		return nil
	}
	var lines []*line
	for i, cell := range contenders[0].Cells {
		l := &line{backend: cell.Backend, client: cell.Client, policies: []netlab.Policy{cell.Policy}}
		for _, c := range contenders {
			l.verdicts = append(l.verdicts, verdict(c.Cells[i]))
		}
		at := slices.IndexFunc(lines, func(o *line) bool { return o.alike(l) && slices.Equal(o.policies, l.policies) })
		if at < 0 {
			at = len(lines)
			lines = append(lines, l)
		}
		lines[at].protocols = append(lines[at].protocols, cell.Protocol)
	}
	var folded []*line
	for _, l := range lines {
		at := slices.IndexFunc(folded, func(o *line) bool { return o.alike(l) && slices.Equal(o.protocols, l.protocols) })
		if at < 0 {
			folded = append(folded, l)
			continue
		}
		folded[at].policies = append(folded[at].policies, l.policies...)
	}
	return folded
}

func (l *line) alike(o *line) bool {
	return l.backend == o.backend && l.client == o.client && slices.Equal(l.verdicts, o.verdicts)
}

// verdict says whether the client was answered, and where the reply left.
func verdict(c netlab.Cell) string {
	if c.Answered {
		return fmt.Sprintf("ok (left by %s)", c.Path)
	}
	switch c.Path {
	case netlab.PathNone:
		return "LOST (no reply left)"
	case netlab.PathWrongSource:
		return "LOST (wrong source)"
	default:
		return fmt.Sprintf("LOST (left by %s)", c.Path)
	}
}

func outage(f FaultReport) string {
	if !f.Repaired {
		return "never repaired"
	}
	return f.Outage.Round(time.Millisecond).String()
}

func join[S ~string](list []S) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ", ")
}

func row(w io.Writer, columns ...string) { fmt.Fprintln(w, strings.Join(columns, "\t")) }
