package returnpath

import "time"

// Clock is the time as the agent sees it. All waiting goes by Elapsed and After,
// which no change of the wall clock touches.
type Clock interface {
	// Wall is the date, for reports only.
	Wall() time.Time
	// Elapsed never goes back.
	Elapsed() time.Duration
	// After sends once when d has elapsed.
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct {
	// Start is when Elapsed is zero; take it from time.Now.
	Start time.Time
}

// Wall implements Clock.
func (SystemClock) Wall() time.Time { return time.Now().Round(0) }

// Elapsed implements Clock by the monotonic reading that Start carries.
func (c SystemClock) Elapsed() time.Duration { return time.Since(c.Start) }

// After implements Clock; Go's timers are monotonic.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
