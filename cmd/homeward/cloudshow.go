package main

import (
	"fmt"
	"io"
	"net/netip"
	"strings"

	"homeward/agent/openstack"
	"homeward/cmd/homeward/internal/allocation"
)

// showCloud prints what reserve, release or status did at OpenStack. What was asked
// for stands first: the steps of a dry run, or what stands in the way.
func (t *tool) showCloud(format string, r *allocation.Report) error {
	for _, w := range r.Warnings {
		t.log.Warn(w)
	}
	if format != "table" {
		return encode(t.out, format, r)
	}
	var b strings.Builder
	if r.Outcome == allocation.Rehearsed {
		for _, s := range r.Steps {
			b.WriteString(s.String() + "\n")
		}
	}
	if len(r.Conflicts) > 0 {
		conflictTable(&b, r.Conflicts)
	}
	if r.Outcome != allocation.Rehearsed && len(r.Objects) > 0 {
		separate(&b)
		objectTable(&b, r.Objects)
	}
	if r.Outcome == allocation.Differs {
		separate(&b)
		b.WriteString("What differs, and what homeward reserve would do:\n")
		for _, s := range r.Steps {
			b.WriteString("  " + s.String() + "\n")
		}
		if r.Stale != "" {
			b.WriteString("  " + r.Stale + "\n")
		}
	}
	for _, l := range r.Left {
		separate(&b)
		b.WriteString(l.Message + "\n")
	}
	separate(&b)
	b.WriteString(cloudConclusion(r) + "\n")
	_, err := io.WriteString(t.out, b.String())
	return err
}

func conflictTable(b *strings.Builder, list []openstack.Conflict) {
	rows := [][]string{{"IN THE WAY", "WHAT TO DO"}}
	for _, c := range list {
		rows = append(rows, []string{c.Message, c.Remedy})
	}
	table(b, rows)
}

func objectTable(b *strings.Builder, list []openstack.Listed) {
	rows := [][]string{{"OBJECT", "NAME", "ADDRESS", "USED BY"}}
	for _, o := range list {
		name := dash(o.Name)
		if o.Kind == openstack.KindFloating {
			name = "of " + o.For
		}
		if o.Adopted {
			name += " (adopted)"
		}
		rows = append(rows, []string{string(o.Kind), name, dash(o.Address), dash(o.UsedBy)})
	}
	table(b, rows)
}

// differences counts what a status lists: an allocation.json that says something else is
// one.
func differences(r *allocation.Report) int {
	n := len(r.Steps) + len(r.Left)
	if r.Stale != "" {
		n++
	}
	return n
}

// cloudConclusion says in one line how it ended and what to do.
func cloudConclusion(r *allocation.Report) string {
	who := r.Owner.Cluster
	switch r.Outcome {
	case allocation.Reserved:
		return fmt.Sprintf("%s: API %s, ingress %s; %d made, %d changed, %d removed; in %s", who, pair(r.KubeAPI.Fixed, r.KubeAPI.Floating), pair(r.Ingress.Fixed, r.Ingress.Floating), r.Made, r.Changed, r.Removed, r.File)
	case allocation.Released:
		return fmt.Sprintf("%s: %s given back", who, count(r.Removed, "object", "objects"))
	case allocation.Rehearsed:
		return fmt.Sprintf("%s: dry run, nothing was changed; %s", who, count(len(r.Steps), "request would be made", "requests would be made"))
	case allocation.AsPlanned:
		return fmt.Sprintf("%s: API %s, ingress %s; all as the plan has it", who, pair(r.KubeAPI.Fixed, r.KubeAPI.Floating), pair(r.Ingress.Fixed, r.Ingress.Floating))
	case allocation.Differs:
		return fmt.Sprintf("%s: %s from the plan", who, count(differences(r), "difference", "differences"))
	case allocation.Taken:
		return fmt.Sprintf("%s: in the way, see above%s", who, undone(r))
	case allocation.Wrong:
		return fmt.Sprintf("%s: the plan cannot be followed, see above%s", who, undone(r))
	case allocation.Failed:
		return fmt.Sprintf("%s: failed: %s%s", who, r.Error, done(r))
	}
	return fmt.Sprintf("%s: what the cloud did or has is not known: %s; run it again, that settles it%s", who, r.Error, done(r))
}

func pair(fixed, floating netip.Addr) string {
	return fmt.Sprintf("%s (floating %s)", fixed, floating)
}

// undone says what a run did that something stood in the way of.
func undone(r *allocation.Report) string {
	switch {
	case r.Made+r.Changed+r.Removed == 0:
		return "; nothing was changed"
	case r.Made == r.Removed:
		return "; what this run had made is removed again"
	}
	return done(r)
}

// done says what a run did before it ended.
func done(r *allocation.Report) string {
	if r.Made+r.Changed+r.Removed == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d made, %d changed, %d removed by then)", r.Made, r.Changed, r.Removed)
}
