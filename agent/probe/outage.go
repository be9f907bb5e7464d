package probe

import "time"

// Outage is a run of failed attempts: see the package's comment. Its JSON form is
// stable; lengths are in nanoseconds.
type Outage struct {
	// Start is when the first attempt that failed began, and End when the first
	// that succeeded again did. While the outage is open, or when the probe went
	// away in it, End is when the last attempt that failed began.
	Start  time.Time     `json:"start"`
	End    time.Time     `json:"end"`
	Length time.Duration `json:"length_ns"`
	// AtLeast is from the first failure to the last.
	AtLeast time.Duration `json:"at_least_ns"`
	// AtMost is from the success before to the success after; zero is unknown,
	// because there is no such success or the probe was away between.
	AtMost time.Duration `json:"at_most_ns,omitempty"`
	// State says how the outage ended.
	State OutageState `json:"state"`
	// BeganUnseen: the target had not answered before since the probe began or
	// came back, so the start may lie before it.
	BeganUnseen bool `json:"began_unseen,omitempty"`
	// Causes counts the failed attempts.
	Causes map[Cause]int `json:"causes"`

	start, end time.Duration
}

// OutageState says how an outage ended.
type OutageState string

// The states.
const (
	// OutageOver: the target answered again.
	OutageOver OutageState = "over"
	// OutageOpen: the target did not answer at the end of the run.
	OutageOpen OutageState = "open"
	// OutageUnseen: the probe was away when it ended, or went on.
	OutageUnseen OutageState = "end_unseen"
)

// maxOutages is how many outages of a target are kept: the longest.
const maxOutages = 200

// finder makes outages of one target's attempts, which it is told in the order
// in which they began. It does not know the time.
type finder struct {
	// lastGood is the start of the last success since the probe began or came
	// back.
	lastGood time.Duration
	hasGood  bool
	open     *Outage
	// lastFail is the start of the last failure of the open outage.
	lastFail time.Duration
}

// good is told a success; it gives the outage that it ends, if any.
func (f *finder) good(start time.Duration) (over *Outage) {
	if o := f.open; o != nil {
		over = f.shut(OutageOver, start)
		if f.hasGood {
			over.AtMost = start - f.lastGood
		}
	}
	f.lastGood, f.hasGood = start, true
	return over
}

// bad is told a failure; it gives the outage that it begins, if any.
func (f *finder) bad(start time.Duration, cause Cause) (began *Outage) {
	f.lastFail = start
	if f.open == nil {
		f.open = &Outage{start: start, BeganUnseen: !f.hasGood, Causes: map[Cause]int{}}
		began = f.open
	}
	f.open.Causes[cause]++
	return began
}

// away is told that the probe was away; it gives the outage that this cuts.
func (f *finder) away() (cut *Outage) {
	f.hasGood = false
	if f.open == nil {
		return nil
	}
	return f.shut(OutageUnseen, f.lastFail)
}

// soFar gives the open outage as it stands, or nil.
func (f *finder) soFar() *Outage {
	if f.open == nil {
		return nil
	}
	o := *f.open
	o.finish(OutageOpen, f.lastFail, f.lastFail)
	return &o
}

func (f *finder) shut(state OutageState, end time.Duration) *Outage {
	o := f.open
	f.open = nil
	o.finish(state, end, f.lastFail)
	return o
}

func (o *Outage) finish(state OutageState, end, lastFail time.Duration) {
	o.State, o.end = state, end
	o.Length, o.AtLeast = end-o.start, lastFail-o.start
}

// dated gives the outage with its times.
func (o *Outage) dated(c *clock) Outage {
	d := *o
	d.Start, d.End = c.wall(o.start), c.wall(o.end)
	d.Causes = make(map[Cause]int, len(o.Causes))
	for cause, n := range o.Causes {
		d.Causes[cause] = n
	}
	return d
}
