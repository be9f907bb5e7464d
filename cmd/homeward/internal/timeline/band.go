package timeline

import (
	"time"

	"homeward/agent/probe"
)

// band is one target's reachability: low where it answered, high where it did not.
type band struct {
	target  *probe.TargetSummary
	summary *probe.Summary
	time    timeAxis
}

// draw draws the band at a height; times when the probe was away reach up to away.
func (b band) draw(c *canvas, top, height, away float64) {
	third := height / 3
	c.box("plot", b.time.left, top, b.time.right-b.time.left, height)
	b.runs(func(bin probe.Bin) bool { return bin.Answered > 0 }, func(x, width float64) {
		c.box("up", x, top+third, width, third)
	})
	// Bins know of failures that are in none of the outages that are kept.
	b.runs(func(bin probe.Bin) bool { return bin.Failed > 0 && bin.Answered == 0 }, func(x, width float64) {
		c.box("down", x, top, width, height)
	})
	b.runs(func(bin probe.Bin) bool { return bin.Unknown > 0 && bin.Answered+bin.Failed == 0 }, func(x, width float64) {
		c.box("away", x, top, width, height)
	})
	for _, o := range b.target.Outages {
		x := b.time.when(o.Start)
		c.box("down", x, top, b.time.when(o.End)-x, height)
	}
	for _, a := range b.summary.Away {
		x := b.time.when(a.Start)
		c.box("away", x, away, b.time.when(a.Start.Add(a.Length))-x, top+height-away)
	}
}

// runs calls draw for each unbroken run of bins that match.
func (b band) runs(match func(probe.Bin) bool, draw func(x, width float64)) {
	line := b.target.Timeline
	if line == nil {
		return
	}
	at := func(i int) float64 { return b.time.x(time.Duration(i) * line.Width) }
	first := -1
	for i := 0; i <= len(line.Bins); i++ {
		on := i < len(line.Bins) && match(line.Bins[i])
		switch {
		case on && first < 0:
			first = i
		case !on && first >= 0:
			draw(at(first), at(i)-at(first))
			first = -1
		}
	}
}

// line is one target of many: its name, and its band.
type line struct {
	target  *probe.TargetSummary
	summary *probe.Summary
	time    timeAxis
}

// Heights in a line, from its top.
const (
	lineTextY = 14
	lineTop   = 2
	lineBand  = 16
)

func (l line) draw(c *canvas) {
	c.write("", "end", l.time.left-8, lineTextY, l.target.Target)
	band(l).draw(c, lineTop, lineBand, lineTop)
	for _, m := range l.target.MACChanges {
		takeOver(c, l.time.when(m.Time), lineTop, lineTop+lineBand)
	}
	switch {
	case l.target.OutageCount > 0:
		c.write("bad", "end", plotRight, lineTextY, tell(l.target.OutageLongest))
	case l.target.Answered > 0:
		c.write("small", "end", plotRight, lineTextY, "none")
	}
}

// linesLeft leaves room for the longest name, but not more than half.
func linesLeft(targets []*probe.TargetSummary) int {
	const most = width / 2
	longest := 0.0
	for _, t := range targets {
		longest = max(longest, extent(t.Target))
	}
	return min(margin+12+int(longest), most)
}

// legend explains the signs, on one line; an empty label is of lines without
// times of answers.
func legend(c *canvas, y int, label string) {
	x, mid := float64(margin+2), float64(y)-4
	entry := func(text string, sample func(x float64)) {
		sample(x)
		c.write("small", "start", x+30, float64(y), text)
		x += 30 + extent(text) + 16
	}
	if label != "" {
		entry(label, func(x float64) {
			c.printf(`<path class="time" stroke-width="2" d="M%.1f %.1fh22"/>`, x, mid)
		})
	}
	entry("answered", func(x float64) { c.box("up", x, mid-3, 22, 6) })
	entry("outage", func(x float64) { c.box("down", x, mid-8, 22, 16) })
	entry("nothing known: probe away", func(x float64) { c.box("away", x, mid-8, 22, 16) })
	entry("another MAC took over", func(x float64) { takeOver(c, x+11, mid-9, mid+3) })
}
