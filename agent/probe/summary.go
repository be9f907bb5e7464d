package probe

import (
	"maps"
	"time"
)

// Summary is what a run has measured, so far or at its end. Its JSON form is
// stable: fields are added, never renamed; lengths are in nanoseconds.
type Summary struct {
	Mode     Mode          `json:"mode"`
	Interval time.Duration `json:"interval_ns"`
	Timeout  time.Duration `json:"timeout_ns"`
	Start    time.Time     `json:"start"`
	Length   time.Duration `json:"length_ns"`
	// Targets in the order in which they were given.
	Targets []TargetSummary `json:"targets"`
	// Away are the first 1,000 times that the probe did not run.
	Away      []Away        `json:"away"`
	AwayCount int           `json:"away_count"`
	AwayTotal time.Duration `json:"away_total_ns"`
	// ClockSteps are the first 1,000.
	ClockSteps []ClockStep `json:"clock_steps"`
	// OwnFailures counts attempts that failed on this machine, by reason.
	OwnFailures map[string]int64 `json:"own_failures"`
	// Lag is how late attempts began.
	Lag *Latency `json:"lag,omitempty"`
	// Missed counts attempts that fell out because the schedule stood still, and
	// Late those whose end this machine noticed too late to judge.
	Missed int64 `json:"missed"`
	Late   int64 `json:"late"`
	// LostEvents counts events that a reader was too slow for.
	LostEvents int64 `json:"lost_events"`
}

// TargetSummary is what is known of one target. Its JSON form is stable.
type TargetSummary struct {
	Target  string `json:"target"`
	Address string `json:"address"`
	// Attempts is the sum of Answered, Failed and Unknown.
	Attempts int64 `json:"attempts"`
	Answered int64 `json:"answered"`
	Failed   int64 `json:"failed"`
	// Unknown attempts failed on this machine or could not be judged.
	Unknown int64 `json:"unknown"`
	// Causes counts the failed ones.
	Causes map[Cause]int64 `json:"causes"`
	// Statuses counts HTTP's.
	Statuses map[int]int64 `json:"statuses,omitempty"`
	// Connect is of the TCP handshake; Answer of TLS's end, HTTP's first byte or
	// the echo, from the start of the attempt.
	Connect *Latency `json:"connect,omitempty"`
	Answer  *Latency `json:"answer,omitempty"`
	// Outages are the 200 longest, in the order of time, the open one last.
	Outages       []Outage      `json:"outages"`
	OutageCount   int64         `json:"outage_count"`
	OutageTotal   time.Duration `json:"outage_total_ns"`
	OutageLongest time.Duration `json:"outage_longest_ns"`
	// BlindLongest is the longest time from one attempt that says anything to the
	// next, or to an end of the run: usually little more than the interval.
	BlindLongest time.Duration `json:"blind_longest_ns"`
	// Interface is on whose segment the target is; then MAC is who answers.
	Interface      string      `json:"interface,omitempty"`
	MAC            string      `json:"mac,omitempty"`
	MACChanges     []MACChange `json:"mac_changes,omitempty"`
	MACChangeCount int         `json:"mac_change_count,omitempty"`
	// Last is the newest time of an answer; Up says that the newest attempt that
	// could be judged succeeded.
	Last time.Duration `json:"last_ns,omitempty"`
	Up   bool          `json:"up"`
	// Timeline is kept if the settings ask for it, and not in JSON.
	Timeline *Timeline `json:"-"`
}

// Summary gives what has been measured so far. It may be called at any time.
func (p *Prober) Summary() Summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.summary()
}

// summary needs p.mu.
func (p *Prober) summary() *Summary {
	s := &Summary{
		Mode: p.settings.Mode, Interval: p.settings.Interval, Timeout: p.settings.Timeout,
		Start: p.clock.wall(0), Length: p.length,
		Away: append([]Away{}, p.away...), AwayCount: p.awayCount, AwayTotal: p.awayTotal,
		ClockSteps: append([]ClockStep{}, p.steps...), OwnFailures: maps.Clone(p.own),
		Lag: p.lag.latency(), Missed: p.missed, Late: p.late, LostEvents: p.lostEvents,
	}
	if s.Length == 0 {
		s.Length = p.clock.now()
	}
	for _, t := range p.tracks {
		target := t.summary(p.clock)
		target.BlindLongest = max(t.blind, s.Length-t.judged)
		s.Targets = append(s.Targets, target)
	}
	return s
}

func (t *track) summary(c *clock) TargetSummary {
	s := TargetSummary{
		Target: t.target.Name, Address: t.target.Address.String(),
		Attempts: t.attempts, Answered: t.answered, Failed: t.attempts - t.answered - t.unknown, Unknown: t.unknown,
		Causes: maps.Clone(t.failures), Statuses: maps.Clone(t.statuses), Connect: t.connect.latency(),
		Outages: []Outage{}, OutageCount: t.outageCount, OutageTotal: t.outageTotal, OutageLongest: t.outageMax,
		Interface: t.link.name, MAC: t.link.mac, MACChanges: append([]MACChange(nil), t.link.changes...), MACChangeCount: t.link.count,
		Last: max(t.last.connect, t.last.answer), Up: t.finder.hasGood && t.finder.open == nil,
	}
	if t.answer.h != nil {
		s.Answer = t.answer.latency()
	}
	for i := range t.outages {
		s.Outages = append(s.Outages, t.outages[i].dated(c))
	}
	if open := t.finder.soFar(); open != nil {
		s.Outages = append(s.Outages, open.dated(c))
		s.OutageCount++
		s.OutageTotal += open.Length
		s.OutageLongest = max(s.OutageLongest, open.Length)
	}
	if t.timeline != nil {
		s.Timeline = &Timeline{Width: t.timeline.Width, Bins: append([]Bin(nil), t.timeline.Bins...)}
	}
	return s
}
