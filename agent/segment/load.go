package segment

import "time"

const (
	// DefaultLimit is how many frames a second are judged. A segment of 1,000 hosts
	// has some hundred; what is above this is a loop or an attack, and reading it
	// would cost the host a processor.
	DefaultLimit = 20_000
	// window is the time in which frames are counted.
	window = time.Second
)

// load counts frames and says when there are more than can be judged.
type load struct {
	limit  int
	began  time.Time // of the window
	frames int
	// high is since when it is too much, zero when it is not; calm the windows in a
	// row that were not; missed the frames that were not judged.
	high   bool
	calm   int
	missed uint64
	// blind is the last time at which a frame was not judged.
	blind time.Time
}

// count notes a frame; started says that the load has just become too much.
func (l *load) count(at time.Time) (started bool) {
	l.turn(at)
	l.frames++
	if l.frames <= l.limit {
		return false
	}
	return l.miss(at, 1)
}

// miss notes frames that were not judged.
func (l *load) miss(at time.Time, n uint64) (started bool) {
	l.missed += n
	l.blind = at
	l.calm = 0
	started = !l.high
	l.high = true
	return started
}

// over says that this window's frames are all judged.
func (l *load) over() bool { return l.frames > l.limit }

// turn begins a new window when it is time.
func (l *load) turn(at time.Time) {
	if at.Sub(l.began) < window {
		return
	}
	if l.high && l.frames <= l.limit && at.Sub(l.blind) > window {
		l.calm++
	}
	l.began, l.frames = at, 0
}

// recovered says that the load has been bearable for some time, and how many
// frames were missed meanwhile.
func (l *load) recovered(at time.Time) (missed uint64, ok bool) {
	const calmWindows = 2
	l.turn(at)
	if !l.high || l.calm < calmWindows {
		return 0, false
	}
	missed, l.missed, l.high, l.calm = l.missed, 0, false, 0
	return missed, true
}

// The bounds of what is told: a burst, and how many a second in the long run.
const (
	tellBurst = 50
	tellRate  = 5
)

// teller keeps a storm of events from filling a disk.
type teller struct {
	tokens     float64
	at         time.Time
	suppressed uint64
}

func newTeller(at time.Time) teller { return teller{tokens: tellBurst, at: at} }

// may says whether one more event may be told.
func (t *teller) may(at time.Time) bool {
	if at.After(t.at) {
		t.tokens = min(tellBurst, t.tokens+at.Sub(t.at).Seconds()*tellRate)
		t.at = at
	}
	if t.tokens < 1 {
		t.suppressed++
		return false
	}
	t.tokens--
	return true
}

// rest gives how many events were suppressed, once it is quiet enough to tell.
func (t *teller) rest(at time.Time) uint64 {
	if t.suppressed == 0 || t.tokens+at.Sub(t.at).Seconds()*tellRate < tellBurst/2 {
		return 0
	}
	n := t.suppressed
	t.suppressed = 0
	return n
}
