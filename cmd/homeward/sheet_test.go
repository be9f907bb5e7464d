package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/probe"
)

func TestTableFitsItsPage(t *testing.T) {
	rows := [][]string{
		{"TAKEN", "FOR", "BY", "WHAT TO DO"},
		{"203.0.113.75", "ingress", "VM 104 (web) on pve2, net0", "give it another address, or the pool"},
		{"203.0.113.76", "-", "µs", "-"},
	}
	for _, c := range []struct {
		name    string
		columns int
		spare   []int
		want    string
	}{
		{"no terminal", 0, nil, `
TAKEN         FOR      BY                          WHAT TO DO
203.0.113.75  ingress  VM 104 (web) on pve2, net0  give it another address, or the pool
203.0.113.76  -        µs                          -
`},
		{"as wide as it is", 87, nil, `
TAKEN         FOR      BY                          WHAT TO DO
203.0.113.75  ingress  VM 104 (web) on pve2, net0  give it another address, or the pool
203.0.113.76  -        µs                          -
`},
		{"the widest is wrapped first", 80, []int{1}, `
TAKEN         FOR      BY                          WHAT TO DO
203.0.113.75  ingress  VM 104 (web) on pve2, net0  give it another address, or
                                                   the pool
203.0.113.76  -        µs                          -
`},
		{"then others", 50, nil, `
TAKEN         FOR      BY            WHAT TO DO
203.0.113.75  ingress  VM 104 (web)  give it
                       on pve2,      another
                       net0          address, or
                                     the pool
203.0.113.76  -        µs            -
`},
		{"then a column is left out", 36, []int{1}, `
TAKEN         BY          WHAT TO DO
203.0.113.75  VM 104      give it
              (web) on    another
              pve2, net0  address,
                          or the
                          pool
203.0.113.76  µs          -
(without FOR, for which 36 columns are too few; -o json has all)
`},
		{"too narrow for anything", 20, []int{1}, `
TAKEN         FOR      BY                          WHAT TO DO
203.0.113.75  ingress  VM 104 (web) on pve2, net0  give it another address, or the pool
203.0.113.76  -        µs                          -
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &page{columns: c.columns}
			table(b, rows, c.spare...)
			if diff := cmp.Diff(c.want[1:], b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// drill is a run of everything that a probe's tables show.
func drill() *probe.Summary {
	const ms = time.Millisecond
	start := time.Date(2026, 11, 30, 18, 7, 43, 0, time.UTC)
	return &probe.Summary{
		Mode: probe.ModeTCP, Interval: 100 * ms, Length: 12 * time.Second, Start: start,
		Targets: []probe.TargetSummary{{
			Target: "203.0.113.75:8000", Attempts: 120, Answered: 95, Failed: 25, Causes: map[probe.Cause]int64{probe.CauseTimeout: 25},
			Connect:     &probe.Latency{Count: 95, P50: 655 * time.Microsecond, P99: 5380 * time.Microsecond, P999: 8640 * time.Microsecond, Max: 8640 * time.Microsecond},
			OutageCount: 1, OutageLongest: 2495 * ms,
			Outages: []probe.Outage{{Start: start.Add(4 * time.Second), End: start.Add(6495 * ms), Length: 2495 * ms, AtLeast: 2395 * ms, AtMost: 2599 * ms,
				State: probe.OutageOver, Causes: map[probe.Cause]int{probe.CauseTimeout: 25}}},
			MACChanges: []probe.MACChange{{Time: start, NotBefore: start, Interface: "vmbr0.1691", From: "02:a1:d8:37:8d:11", To: "02:ed:b8:57:23:bc"}}, MACChangeCount: 1,
		}},
		Lag: &probe.Latency{Count: 120},
	}
}

// On a terminal of 80 columns no line of a table is longer.
func TestProbeTablesFitATerminal(t *testing.T) {
	b := &page{columns: 80}
	probeTables(b, drill())
	tables, _, _ := strings.Cut(b.String(), "The probe itself")
	for line := range strings.Lines(tables) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
			t.Errorf("%d characters:\n%s", n, tables)
		}
	}
	if !strings.Contains(tables, "without P99.9") || !strings.Contains(tables, "203.0.113.75:8000") {
		t.Errorf("it is\n%s", tables)
	}
}
