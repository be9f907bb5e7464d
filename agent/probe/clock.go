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
	// sleptSinceBoot gives how long the machine has slept since it booted.
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
	return &clock{start: time.Now(), sleptSinceBoot: sleptSinceBoot, sleptAtStart: sleptSinceBoot()}
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
	now := time.Now()
	total := now.Round(0).Sub(c.wall(c.at(now)))
	by := total - c.stepped
	if by.Abs() < stepNoise {
		return 0
	}
	c.stepped = total
	return by
}
