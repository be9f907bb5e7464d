package timeline

import (
	"fmt"
	"math"
	"time"

	"homeward/agent/probe"
)

// timeAxis maps times of a run to the plots' width.
type timeAxis struct {
	start       time.Time
	length      time.Duration
	left, right float64
}

func newTimeAxis(s *probe.Summary, left, right int) timeAxis {
	return timeAxis{start: s.Start, length: max(s.Length, s.Interval), left: float64(left), right: float64(right)}
}

// x gives where a time since the start is; what is outside goes to the edge.
func (a timeAxis) x(at time.Duration) float64 {
	share := min(max(float64(at)/float64(a.length), 0), 1)
	return a.left + share*(a.right-a.left)
}

// when is x of a time of the day.
func (a timeAxis) when(t time.Time) float64 { return a.x(t.Sub(a.start)) }

// step is from one tick to the next: a length that people count in.
func (a timeAxis) step() time.Duration {
	const most = 10
	for _, unit := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		for _, n := range []time.Duration{1, 2, 5} {
			if a.length <= most*n*unit {
				return n * unit
			}
		}
	}
	for _, step := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200} {
		if a.length <= most*step*time.Second {
			return step * time.Second
		}
	}
	const day = 24 * time.Hour
	return day * (a.length/(most*day) + 1)
}

// draw puts ticks and their lengths below plots of a height.
func (a timeAxis) draw(c *canvas, bottom int) {
	y := float64(bottom) + 6
	step := a.step()
	for at := time.Duration(0); at <= a.length; at += step {
		x := a.x(at)
		c.path("grid", fmt.Sprintf("M%.1f %.1f v6", x, y-6))
		c.write("small", "middle", x, y+14, tick(at))
	}
	c.write("small", "middle", (a.left+a.right)/2, y+31, "time since "+a.start.Format("15:04:05"))
}

// tick prints a time with its unit, without the zeros that a Duration has.
func tick(at time.Duration) string {
	switch {
	case at == 0:
		return "0"
	case at < time.Second:
		return fmt.Sprintf("%d ms", at.Milliseconds())
	case at < 2*time.Minute && at%time.Minute != 0:
		return fmt.Sprintf("%g s", at.Seconds())
	case at%time.Minute != 0:
		return fmt.Sprintf("%d:%02d min", int(at.Minutes()), int(at.Seconds())%60)
	case at < 2*time.Hour && at%time.Hour != 0:
		return fmt.Sprintf("%g min", at.Minutes())
	case at%time.Hour != 0:
		return fmt.Sprintf("%d:%02d h", int(at.Hours()), int(at.Minutes())%60)
	default:
		return fmt.Sprintf("%g h", at.Hours())
	}
}

// latencyAxis maps times of answers to a plot's height, in powers of ten.
type latencyAxis struct{ low, high int } // of a second

// newLatencyAxis is one for all targets, so that they can be compared.
func newLatencyAxis(targets []*probe.TargetSummary) latencyAxis {
	fastest, slowest := time.Duration(math.MaxInt64), time.Duration(0)
	for _, t := range targets {
		if t.Timeline == nil {
			continue
		}
		for _, b := range t.Timeline.Bins {
			if b.Answered > 0 {
				fastest, slowest = min(fastest, b.Fastest), max(slowest, b.Slowest)
			}
		}
	}
	if slowest == 0 {
		return latencyAxis{-3, -2}
	}
	a := latencyAxis{int(math.Floor(math.Log10(fastest.Seconds()))), int(math.Ceil(math.Log10(slowest.Seconds())))}
	a.low = max(a.low, -6)
	a.high = max(a.high, a.low+1)
	return a
}

// y gives the height of a time in a plot from top to bottom.
func (a latencyAxis) y(d time.Duration, top, bottom float64) float64 {
	power := math.Log10(max(d, time.Microsecond).Seconds())
	share := min(max((power-float64(a.low))/float64(a.high-a.low), 0), 1)
	return bottom - share*(bottom-top)
}

// draw puts a line and a label at each power of ten.
func (a latencyAxis) draw(c *canvas, left, right, top, bottom float64) {
	for power := a.low; power <= a.high; power++ {
		y := bottom - float64(power-a.low)/float64(a.high-a.low)*(bottom-top)
		c.path("grid", fmt.Sprintf("M%.1f %.1f H%.1f", left, y, right))
		c.write("small", "end", left-8, y+4, decade(power))
	}
}

// decade names a power of ten of a second.
func decade(power int) string {
	n := math.Pow10(((power % 3) + 3) % 3)
	unit := map[int]string{-2: "µs", -1: "ms", 0: "s"}[int(math.Floor(float64(power)/3))]
	return fmt.Sprintf("%g %s", n, unit)
}
