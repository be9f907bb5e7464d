package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"homeward/agent/probe"
)

// livePeriod is how often the live view is drawn anew, and liveRows how many
// targets it has at most.
const (
	livePeriod = 250 * time.Millisecond
	liveRows   = 10
)

// live shows on a terminal how the targets stand, until over, and takes it away
// again. Anywhere else it is silent.
func (t *tool) live(prober *probe.Prober, over <-chan struct{}) {
	columns, ok := terminalWidth(t.err)
	if !ok {
		return
	}
	tick := time.NewTicker(livePeriod)
	defer tick.Stop()
	drawn := 0
	for {
		select {
		case <-over:
			fmt.Fprint(t.err, erase(drawn))
			return
		case <-tick.C:
		}
		if now, ok := terminalWidth(t.err); ok {
			columns = now
		}
		states, at := prober.States()
		lines := liveLines(states, at, columns)
		// In one write, so that nothing flickers; an error is a terminal that is gone.
		_, _ = io.WriteString(t.err, erase(drawn)+strings.Join(lines, "\n")+"\n")
		drawn = len(lines)
	}
}

// erase takes back lines that were drawn.
func erase(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", lines)
}

// liveLines draws the view: a line for one target, and for several a short table
// with those first that are down or were for longest.
func liveLines(states []probe.State, at time.Duration, columns int) []string {
	down := 0
	for _, s := range states {
		if s.Down {
			down++
		}
	}
	head := fmt.Sprintf("%v  Ctrl-C ends with the summary", at.Truncate(time.Second))
	if len(states) > 1 {
		head = fmt.Sprintf("%v  %d targets, %d down  Ctrl-C ends with the summary", at.Truncate(time.Second), len(states), down)
	}
	ordered := slices.Clone(states)
	slices.SortStableFunc(ordered, func(a, b probe.State) int {
		return cmp.Or(cmp.Compare(b.DownFor, a.DownFor), cmp.Compare(b.OutageLongest, a.OutageLongest))
	})
	var b strings.Builder
	rows := [][]string{}
	for _, s := range ordered[:min(len(ordered), liveRows)] {
		rows = append(rows, liveRow(s))
	}
	table(&b, rows)
	lines := append([]string{head}, strings.Split(strings.TrimRight(b.String(), "\n"), "\n")...)
	if more := len(ordered) - liveRows; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	for i, l := range lines {
		// A line that wraps could not be taken back.
		if r := []rune(l); len(r) >= columns {
			lines[i] = string(r[:max(columns-1, 0)])
		}
	}
	return lines
}

func liveRow(s probe.State) []string {
	state := "waiting"
	switch {
	case s.Up:
		state = "up " + short(s.Last)
	case s.Down:
		state = fmt.Sprintf("DOWN for %v (%s)", s.DownFor.Truncate(100*time.Millisecond), s.Cause)
	}
	longest := s.OutageLongest.Truncate(100 * time.Millisecond)
	outages := "no outage"
	switch {
	case s.OutageCount == 1:
		outages = fmt.Sprintf("1 outage of %v", longest)
	case s.OutageCount > 1:
		outages = fmt.Sprintf("%d outages, longest %v", s.OutageCount, longest)
	}
	row := []string{s.Target, state, fmt.Sprintf("%d of %d answered", s.Answered, s.Attempts), outages}
	if s.Unknown > 0 {
		row = append(row, fmt.Sprintf("%d unknown", s.Unknown))
	}
	if s.MAC != "" {
		row = append(row, s.MAC)
	}
	return row
}
