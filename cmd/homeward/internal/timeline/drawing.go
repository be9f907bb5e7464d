// Package timeline draws what a probe has measured as an SVG: over time for each
// target whether it answered, how long its answers took, its outages with their
// lengths, and when another MAC took it over.
//
// A few targets get a panel each; of many there is one line each, those with the
// longest outages first. The drawing is one file without scripts, images or fonts
// of its own. It brings its own background, light or dark as the viewer prefers.
// Equal input gives equal bytes.
package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"homeward/agent/probe"
)

// Drawing is what to draw: a summary whose targets have timelines.
type Drawing struct{ Summary *probe.Summary }

// Where things stand, in user units.
const (
	width  = 960
	margin = 14
	// The plots' left and right edges; to the left stand the axes' labels.
	plotLeft, plotRight = 92, width - margin - 12
	headHeight          = 54
	panelHeight         = 194
	takenHeight         = 20
	lineHeight          = 24
	// Right of lines stands the longest outage.
	longestWidth = 84
	axisHeight   = 44
	legendHeight = 34

	// maxPanels is how many targets get a panel, and maxLines how many a line.
	maxPanels = 6
	maxLines  = 60
)

// Write writes the SVG. The error is the writer's.
func (d Drawing) Write(w io.Writer) error {
	c := &canvas{}
	s := d.Summary
	panels := len(s.Targets) <= maxPanels
	targets := ordered(s, panels)
	tall := panelHeight
	if slices.ContainsFunc(targets, func(t *probe.TargetSummary) bool { return len(t.MACChanges) > 0 }) {
		tall += takenHeight
	}
	body := len(targets) * tall
	left, right := plotLeft, plotRight
	if !panels {
		body = len(targets)*lineHeight + lineHeight/2
		left, right = linesLeft(targets), plotRight-longestWidth
	}
	t := newTimeAxis(s, left, right)
	height := headHeight + body + axisHeight + legendHeight
	c.open(width, height, "Reachability and latency over time", describe(s))
	d.head(c, len(targets))
	c.group(0, headHeight, func() {
		if panels {
			y := newLatencyAxis(targets)
			for i, target := range targets {
				c.group(0, i*tall, func() { panel{target, s, t, y}.draw(c) })
			}
		} else {
			c.write("small", "end", plotRight, -6, "longest outage")
			for i, target := range targets {
				c.group(0, i*lineHeight, func() { line{target, s, t}.draw(c) })
			}
		}
		t.draw(c, body)
	})
	label := ""
	if panels {
		label = measured(s.Mode)
	}
	legend(c, height-legendHeight/2+2, label)
	c.close()
	_, err := w.Write(c.text.Bytes())
	return err
}

// ordered gives the targets to draw: as they were given where all have a panel,
// and else those with the longest outages first.
func ordered(s *probe.Summary, panels bool) []*probe.TargetSummary {
	list := make([]*probe.TargetSummary, len(s.Targets))
	for i := range s.Targets {
		list[i] = &s.Targets[i]
	}
	if panels {
		return list
	}
	slices.SortStableFunc(list, func(a, b *probe.TargetSummary) int {
		return cmp.Or(cmp.Compare(b.OutageLongest, a.OutageLongest), cmp.Compare(b.Unknown, a.Unknown))
	})
	return list[:min(len(list), maxLines)]
}

func (d Drawing) head(c *canvas, drawn int) {
	s := d.Summary
	title := "Reachability"
	if n := len(s.Targets); n > 1 {
		title = fmt.Sprintf("%d targets", n)
		if drawn < n {
			title += fmt.Sprintf(", the %d with the longest outages", drawn)
		}
	}
	c.write("title", "start", margin+2, 28, title)
	c.write("small", "start", margin+2, 47, fmt.Sprintf("%s every %v for %v from %s", s.Mode, s.Interval, tell(s.Length), s.Start.Format("2006-01-02 15:04:05 MST")))
}

// measured names the time that the mode is about.
func measured(m probe.Mode) string {
	switch m {
	case probe.ModeTLS:
		return "time to TLS"
	case probe.ModeHTTP, probe.ModeHTTPS:
		return "time to first byte"
	case probe.ModeUDP:
		return "time of the echo"
	default:
		return "time to connect"
	}
}

// describe tells the drawing to those who cannot see it.
func describe(s *probe.Summary) string {
	outages, longest := int64(0), time.Duration(0)
	for _, t := range s.Targets {
		outages += t.OutageCount
		longest = max(longest, t.OutageLongest)
	}
	return fmt.Sprintf("%d targets probed for %v: %d outages, the longest of %v.", len(s.Targets), s.Length.Round(time.Second), outages, tell(longest))
}

// tell prints a length to the digits that matter.
func tell(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
