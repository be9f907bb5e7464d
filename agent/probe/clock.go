package probe

import (
	"sync/atomic"
	"time"
)

// clock counts from the start of a run: the monotonic clock, and the time that
// the machine slept, which Go's monotonic clock leaves out. Its methods may be
// called concurrently.
type clock struct {
	start time.Time
	// sleptSinceBoot gives how long the machine has slept since it booted, or now
	// and then less.
	sleptSinceBoot func() time.Duration
	sleptAtStart   time.Duration
	slept          atomic.Int64
	// stepped is how far the wall clock has been set since the start.
	stepped time.Duration
}

// Smaller differences between two clocks come from reading one after the other,
// or from a wall clock that is slewed.
const (
	sleepNoise = 10 * time.Millisecond
	stepNoise  = 250 * time.Millisecond
)

func startClock(sleptSinceBoot func() time.Duration) *clock {
	c := &clock{start: time.Now(), sleptSinceBoot: sleptSinceBoot}
	const reads = 5
	for range reads {
		// What is read too low here would look like a sleep later.
		c.sleptAtStart = max(c.sleptAtStart, sleptSinceBoot())
	}
	return c
}

// now is the time since the start.
func (c *clock) now() time.Duration { return c.at(time.Now()) }

// at is the time since the start of a time of this process.
func (c *clock) at(t time.Time) time.Duration { return t.Sub(c.start) + time.Duration(c.slept.Load()) }

// wall is what a wall clock that was right at the start shows.
func (c *clock) wall(at time.Duration) time.Time { return c.start.Round(0).Add(at) }

// woke looks whether the machine has slept since the last call, and for how long.
// Only one goroutine may call it.
func (c *clock) woke() time.Duration {
	total := c.sleptSinceBoot() - c.sleptAtStart
	more := total - time.Duration(c.slept.Load())
	if more < sleepNoise {
		return 0
	}
	c.slept.Store(int64(total))
	return more
}

// step looks whether the wall clock was set since the last call, and by how much.
// Only one goroutine may call it.
func (c *clock) step() time.Duration {
	by := c.ahead() - c.stepped
	if by.Abs() < stepNoise {
		return 0
	}
	// Once more: whoever is kept from running between reading one clock and the
	// other sees a step that was none.
	total := c.ahead()
	if (total - c.stepped - by).Abs() >= stepNoise {
		return 0
	}
	by, c.stepped = total-c.stepped, total
	return by
}

// ahead is how far the wall clock is before what the run's clock makes of it.
func (c *clock) ahead() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(c.wall(c.at(now)))
}
