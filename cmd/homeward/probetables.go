package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"homeward/agent/probe"
)

// Few targets are all shown, of many those that something is to be said about.
const (
	fewTargets  = 20
	mostTargets = 40
	mostOutages = 40
)

// probeTables prints a summary for an operator.
func probeTables(b sheet, s *probe.Summary) {
	digits := 100 * time.Millisecond
	if s.Length < time.Second {
		digits = time.Millisecond
	}
	fmt.Fprintf(b, "%s every %v for %v, from %s\n\n", s.Mode, s.Interval, s.Length.Round(digits), s.Start.Format(time.DateTime))
	shown, quiet := notable(s.Targets)
	if len(shown) > 0 {
		probeTargets(b, s, shown)
	}
	if n := len(quiet); n > 0 {
		var slowest time.Duration
		for _, t := range quiet {
			if l := latencyOf(t); l != nil {
				slowest = max(slowest, l.P99)
			}
		}
		fmt.Fprintf(b, "%d targets of %d answered every attempt; the slowest has its 99th percentile at %s\n", n, len(s.Targets), short(slowest))
	}
	probeStatuses(b, shown)
	probeOutages(b, shown)
	probeMACs(b, shown)
	probeItself(b, s)
}

// notable splits the targets in those to show and those with nothing to tell.
func notable(targets []probe.TargetSummary) (shown, quiet []*probe.TargetSummary) {
	for i := range targets {
		t := &targets[i]
		if len(targets) > fewTargets && t.Answered == t.Attempts && t.MACChangeCount == 0 && t.Attempts > 0 {
			quiet = append(quiet, t)
		} else {
			shown = append(shown, t)
		}
	}
	return shown, quiet
}

func probeTargets(b sheet, s *probe.Summary, shown []*probe.TargetSummary) {
	what := map[probe.Mode]string{probe.ModeTLS: "TLS ", probe.ModeHTTP: "FIRST BYTE ", probe.ModeHTTPS: "FIRST BYTE ", probe.ModeUDP: "ECHO "}[s.Mode]
	rows := [][]string{{"TARGET", "ANSWERED", what + "P50", "P99", "P99.9", "MAX", "OUTAGES", "LONGEST", "NO ANSWER BY"}}
	for _, t := range shown[:min(len(shown), mostTargets)] {
		row := []string{t.Target, fmt.Sprintf("%d of %d", t.Answered, t.Attempts), "-", "-", "-", "-", fmt.Sprint(t.OutageCount), "-", reasons(t)}
		if l := latencyOf(t); l != nil {
			row[2], row[3], row[4], row[5] = short(l.P50), short(l.P99), short(l.P999), short(l.Max)
		}
		if t.OutageCount > 0 {
			row[7] = length(t.OutageLongest)
		}
		rows = append(rows, row)
	}
	const p99, p999 = 3, 4
	table(b, rows, p999, p99)
	if more := len(shown) - mostTargets; more > 0 {
		fmt.Fprintf(b, "and %d more targets with attempts that were not answered: see -o json\n", more)
	}
}

// probeStatuses counts what HTTP answered.
func probeStatuses(b sheet, shown []*probe.TargetSummary) {
	rows := [][]string{{"HTTP STATUS OF", "STATUS"}}
	for _, t := range shown[:min(len(shown), mostTargets)] {
		var counts []string
		for _, status := range slices.Sorted(maps.Keys(t.Statuses)) {
			counts = append(counts, fmt.Sprintf("%d (%d times)", status, t.Statuses[status]))
		}
		if counts != nil {
			rows = append(rows, []string{t.Target, strings.Join(counts, ", ")})
		}
	}
	if len(rows) > 1 {
		b.WriteByte('\n')
		table(b, rows)
	}
}

// reasons counts the failed attempts by cause, and those that say nothing.
func reasons(t *probe.TargetSummary) string {
	text := probe.CauseList(t.Causes)
	if t.Unknown > 0 {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d unknown", t.Unknown)
	}
	return dash(text)
}

// latencyOf is the distribution that the mode is about.
func latencyOf(t *probe.TargetSummary) *probe.Latency {
	if t.Answer != nil {
		return t.Answer
	}
	return t.Connect
}

func probeOutages(b sheet, shown []*probe.TargetSummary) {
	rows := [][]string{{"OUTAGE OF", "FROM", "TO", "LENGTH", "AT LEAST", "AT MOST", "BY"}}
	left := int64(0)
	for _, t := range shown {
		left += t.OutageCount
		for i := range t.Outages {
			if len(rows) > mostOutages {
				break
			}
			rows = append(rows, outageRow(t.Target, &t.Outages[i]))
			left--
		}
	}
	if len(rows) == 1 {
		return
	}
	b.WriteByte('\n')
	table(b, rows)
	if left > 0 {
		fmt.Fprintf(b, "and %d more outages: see -o json or -o jsonl\n", left)
	}
}

func outageRow(target string, o *probe.Outage) []string {
	const clock = "15:04:05.000"
	from, to, most := o.Start.Format(clock), o.End.Format(clock), "unknown"
	if o.BeganUnseen {
		from = "before " + from
	}
	switch o.State {
	case probe.OutageOpen:
		to = "still open"
	case probe.OutageUnseen:
		to = "unseen: probe away"
	}
	if o.AtMost > 0 {
		most = length(o.AtMost)
	}
	return []string{target, from, to, length(o.Length), length(o.AtLeast), most, probe.CauseList(o.Causes)}
}

func probeMACs(b sheet, shown []*probe.TargetSummary) {
	rows := [][]string{{"TAKE-OVER OF", "BETWEEN", "AND", "ON", "FROM MAC", "TO MAC"}}
	const clock = "15:04:05.000"
	for _, t := range shown {
		for _, c := range t.MACChanges {
			rows = append(rows, []string{t.Target, c.NotBefore.Format(clock), c.Time.Format(clock), c.Interface, c.From, c.To})
		}
	}
	if len(rows) > 1 {
		b.WriteByte('\n')
		const on, from = 3, 4
		table(b, rows, on, from)
	}
}

// probeItself says what is to be known of the probe.
func probeItself(b sheet, s *probe.Summary) {
	b.WriteByte('\n')
	if s.Lag != nil {
		fmt.Fprintf(b, "The probe itself: attempts began late by %s (median), %s (99%%), %s (at most); %d fell out, %d could not be judged in time\n",
			short(s.Lag.P50), short(s.Lag.P99), short(s.Lag.Max), s.Missed, s.Late)
	}
	for _, a := range s.Away {
		why := "it was stopped, or this machine stood still"
		if a.Slept {
			why = "this machine slept"
		}
		fmt.Fprintf(b, "The probe itself was away for %s from %s: %s. Of that time nothing is known\n", length(a.Length), a.Start.Format("15:04:05.000"), why)
	}
	for _, c := range s.ClockSteps {
		fmt.Fprintf(b, "The clock was set by %v at %s; all times here are by the clock as it was at the start\n", c.By.Round(time.Millisecond), c.Time.Format("15:04:05.000"))
	}
}

// length prints how long something was; three digits after the point of a second
// are more than is known at most intervals.
func length(d time.Duration) string { return d.Round(time.Millisecond).String() }

// short prints a time of an answer to three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 100*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
