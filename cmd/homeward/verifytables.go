package main

import (
	"fmt"
	"io"
	"strings"

	"homeward/cmd/homeward/internal/verify"
)

// mostSeen is how many things one check shows; -o json has all.
const mostSeen = 10

// showVerified prints a table of the checks, and behind it what is to be known of those
// that did not pass.
func showVerified(w io.Writer, r verify.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s\n\n", r.Cluster, dash(r.Server))
	rows := [][]string{{"RESULT", "CHECK", ""}}
	for _, c := range r.Checks {
		rows = append(rows, []string{shownResult(c.Result), c.ID, c.Title})
	}
	table(&b, rows)
	for _, c := range r.Checks {
		if c.Result != verify.Pass && c.Result != verify.Skipped {
			detail(&b, c)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", tally(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// shownResult makes what failed stand out.
func shownResult(r verify.Result) string {
	if r == verify.Fail {
		return "FAIL"
	}
	return string(r)
}

func detail(b *strings.Builder, c verify.Finding) {
	allowed := ""
	if c.Allowed {
		allowed = " (allowed)"
	}
	fmt.Fprintf(b, "\n%s%s %s: %s\n", shownResult(c.Result), allowed, c.ID, c.Title)
	for i, line := range c.Seen {
		if i == mostSeen {
			fmt.Fprintf(b, "  - and %d more: -o json has them\n", len(c.Seen)-i)
			break
		}
		fmt.Fprintf(b, "  - %s\n", line)
	}
	if c.Unseen != "" {
		fmt.Fprintf(b, "  not seen: %s\n", c.Unseen)
	}
	fmt.Fprintf(b, "  why: %s\n", c.Why)
	for i, r := range c.Remedies {
		if i == mostSeen {
			fmt.Fprintf(b, "  and %d more remedies: -o json has them\n", len(c.Remedies)-i)
			break
		}
		fmt.Fprintf(b, "  remedy: %s\n", r.Text)
		if r.Command != "" {
			fmt.Fprintf(b, "    %s\n", r.Command)
		}
	}
}

// tally counts the results in one line.
func tally(r verify.Report) string {
	return fmt.Sprintf("%d checks: %d passed, %d warned, %d failed, %d unknown, %d skipped", len(r.Checks),
		r.Counts[verify.Pass], r.Counts[verify.Warn], r.Counts[verify.Fail], r.Counts[verify.Unknown], r.Counts[verify.Skipped])
}
