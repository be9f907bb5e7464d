package probe

import "time"

// EventKind names what happened. The texts are stable.
type EventKind string

// The kinds of events.
const (
	// EventStart comes first.
	EventStart EventKind = "start"
	// EventOutageStart and EventOutageEnd come when the attempts before have been
	// judged, so up to a timeout later than the time they carry.
	EventOutageStart EventKind = "outage_start"
	EventOutageEnd   EventKind = "outage_end"
	EventMACChange   EventKind = "mac_change"
	// EventAway: the probe itself stood still.
	EventAway EventKind = "away"
	// EventClockStep: the wall clock was set.
	EventClockStep EventKind = "clock_step"
	// EventOwnFailure comes once for each reason that attempts failed on this
	// machine.
	EventOwnFailure EventKind = "own_failure"
	// EventSummary comes last. Whoever writes the stream adds it, from
	// Prober.Summary.
	EventSummary EventKind = "summary"
)

// Event is one line of a stream. Its JSON form is stable: fields are added, never
// renamed.
type Event struct {
	Kind EventKind `json:"event"`
	// Time is when it happened.
	Time   time.Time `json:"time"`
	Target string    `json:"target,omitempty"`
	Start  *Start    `json:"start,omitempty"`
	// Cause of the first failure of an outage that starts.
	Cause     Cause      `json:"cause,omitempty"`
	Outage    *Outage    `json:"outage,omitempty"`
	MACChange *MACChange `json:"mac_change,omitempty"`
	Away      *Away      `json:"away,omitempty"`
	ClockStep *ClockStep `json:"clock_step,omitempty"`
	// OwnFailure is the reason.
	OwnFailure string   `json:"own_failure,omitempty"`
	Summary    *Summary `json:"summary,omitempty"`
}

// Start is what a run probes. Its JSON form is stable, lengths in nanoseconds.
type Start struct {
	Mode     Mode          `json:"mode"`
	Interval time.Duration `json:"interval_ns"`
	Timeout  time.Duration `json:"timeout_ns"`
	Targets  []StartTarget `json:"targets"`
}

// StartTarget is one target of a run that starts. Its JSON form is stable.
type StartTarget struct {
	Target string `json:"target"`
	// Address is what the name was resolved to, with the port.
	Address string `json:"address"`
	// Interface is on whose segment the target is; empty is none.
	Interface string `json:"interface,omitempty"`
}

// Away is a time in which the probe itself did not run. Its JSON form is stable.
type Away struct {
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length_ns"`
	// Slept says that the machine slept; otherwise the process was stopped, or
	// its machine was too busy or stood still.
	Slept bool `json:"slept"`
}

// ClockStep is a wall clock that was set. Its JSON form is stable.
type ClockStep struct {
	// Time is by the clock of the start, as all times of a run.
	Time time.Time     `json:"time"`
	By   time.Duration `json:"by_ns"`
}

// eventBuffer is how many events wait for a slow reader. The measurement never
// waits: what does not fit is counted and lost.
const eventBuffer = 10_000

// emit sends an event, or counts it as lost. p.mu is held.
func (p *Prober) emit(e Event) {
	select {
	case p.events <- e:
	default:
		p.lostEvents++
	}
}

// Events gives what happens, from the start of Run; it is closed when Run
// returns.
func (p *Prober) Events() <-chan Event { return p.events }
