package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"homeward/agent/probe"
)

// Heights in a panel, from its top.
const (
	nameY       = 16
	outageTextY = 36
	chartTop    = 42
	chartBottom = 142
	bandTop     = 152
	bandHeight  = 18
	takenTextY  = 187
)

// panel is one target with its latency.
type panel struct {
	target  *probe.TargetSummary
	summary *probe.Summary
	time    timeAxis
	latency latencyAxis
}

func (p panel) draw(c *canvas) {
	left, right := p.time.left, p.time.right
	c.write("name", "start", margin+2, nameY, p.target.Target)
	c.write("small", "end", right, nameY, p.facts())
	c.box("plot", left, chartTop, right-left, chartBottom-chartTop)
	p.latency.draw(c, left, right, chartTop, chartBottom)
	c.write("small", "end", left-8, bandTop+bandHeight-5, "reachable")
	for _, o := range p.target.Outages {
		x := p.time.when(o.Start)
		c.box("shade", x, chartTop, p.time.when(o.End)-x, chartBottom-chartTop)
	}
	p.answers(c)
	band{p.target, p.summary, p.time}.draw(c, bandTop, bandHeight, chartTop)
	p.lengths(c)
	p.takeOvers(c)
}

// facts is the panel's line of numbers.
func (p panel) facts() string {
	t := p.target
	parts := []string{fmt.Sprintf("%d of %d answered", t.Answered, t.Attempts)}
	l := t.Answer
	if l == nil {
		l = t.Connect
	}
	if l != nil {
		parts = append(parts, fmt.Sprintf("median %s, 99%% %s", short(l.P50), short(l.P99)))
	}
	switch t.OutageCount {
	case 0:
		parts = append(parts, "no outage")
	case 1:
		parts = append(parts, "1 outage of "+tell(t.OutageLongest))
	default:
		parts = append(parts, fmt.Sprintf("%d outages, longest %s", t.OutageCount, tell(t.OutageLongest)))
	}
	return strings.Join(parts, "; ")
}

func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// answers draws the fastest to the slowest answer of each bin.
func (p panel) answers(c *canvas) {
	line := p.target.Timeline
	if line == nil {
		return
	}
	stroke := max(1.6, p.time.x(line.Width)-p.time.x(0))
	var d strings.Builder
	for i, b := range line.Bins {
		if b.Answered == 0 {
			continue
		}
		x := p.time.x(time.Duration(i)*line.Width + line.Width/2)
		// A stroke without length would not be drawn.
		const least = 0.9
		fmt.Fprintf(&d, "M%.1f %.1fV%.1f", x, p.latency.y(b.Fastest, chartTop, chartBottom)+least, p.latency.y(b.Slowest, chartTop, chartBottom)-least)
	}
	c.printf(`<path class="time" stroke-width="%.2f" d="%s"/>`, stroke, d.String())
}

// lengths writes over each outage how long it was, the longest first, as far as
// there is room.
func (p panel) lengths(c *canvas) {
	longest := slices.Clone(p.target.Outages)
	slices.SortStableFunc(longest, func(a, b probe.Outage) int { return cmp.Compare(b.Length, a.Length) })
	var r row
	for _, o := range longest {
		text := tell(o.Length)
		switch o.State {
		case probe.OutageOpen:
			text += ", still open"
		case probe.OutageUnseen:
			text += ", end unseen"
		}
		middle := (p.time.when(o.Start) + p.time.when(o.End)) / 2
		if x, ok := r.place(middle, text, p.time.left, p.time.right); ok {
			c.write("bad", "middle", x, outageTextY, text)
		}
	}
}

// takeOvers marks when another MAC began to answer.
func (p panel) takeOvers(c *canvas) {
	var r row
	for _, m := range p.target.MACChanges {
		x := p.time.when(m.Time)
		takeOver(c, x, chartTop, bandTop+bandHeight)
		text := "taken over by " + m.To
		if at, ok := r.place(x, text, p.time.left, p.time.right); ok {
			c.write("taken", "middle", at, takenTextY, text)
		}
	}
}

// takeOver draws the mark of a take-over: a dashed line with a head below.
func takeOver(c *canvas, x, top, bottom float64) {
	c.path("over", fmt.Sprintf("M%.1f %.1fV%.1f", x, top, bottom))
	c.path("mark", fmt.Sprintf("M%.1f %.1fl-4.5 7h9z", x, bottom-1))
}
