package probe

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrTooFewFiles says that this process may not have as many open files as the
// run can need.
var ErrTooFewFiles = errors.New("too few open files")

// Prober is one run.
type Prober struct {
	settings Settings
	clock    *clock
	events   chan Event
	// newRunner gives what makes the attempts of a run, and runner is it.
	newRunner func(*Settings, finish) runner
	runner    runner
	// looked is when the schedule last looked whether the machine has slept.
	looked time.Duration

	mu     sync.Mutex
	tracks []*track
	// epoch counts how often the probe was away.
	epoch     int
	away      []Away
	awayTotal time.Duration
	awayCount int
	steps     []ClockStep
	lag       times
	missed    int64
	late      int64
	own       map[string]int64
	// stallFrom and stallTo are when the schedule last stood still.
	stallFrom, stallTo time.Duration
	// length is set when the schedule ends, and over when all is judged.
	length     time.Duration
	over       bool
	lostEvents int64
}

// New prepares a run. The error is of the settings, or wraps ErrTooFewFiles.
func New(s Settings) (*Prober, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := checkDescriptors(s.descriptors()); err != nil {
		return nil, err
	}
	p := &Prober{
		settings: s, events: make(chan Event, eventBuffer), newRunner: newRunner,
		clock: startClock(sleptSinceBoot), lag: newTimes(), own: map[string]int64{},
	}
	for _, t := range s.Targets {
		p.tracks = append(p.tracks, newTrack(t, &p.settings))
	}
	p.findSegments()
	return p, nil
}

// Run probes until ctx, the duration or the count ends, and then waits for the
// attempts that are under way: as long as they may take, but only up to a second
// when ctx ended. It may be called once.
func (p *Prober) Run(ctx context.Context) {
	defer close(p.events)
	p.runner = p.newRunner(&p.settings, p.finish)
	defer p.runner.close()
	p.mu.Lock()
	p.clock = startClock(p.clock.sleptSinceBoot)
	p.emit(Event{Kind: EventStart, Time: p.clock.wall(0), Start: p.begun()})
	p.mu.Unlock()

	watching, stop := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { p.watchNeighbours(watching) })
	p.schedule(ctx)
	p.mu.Lock()
	p.length = p.clock.now()
	p.mu.Unlock()
	p.land(ctx)
	stop()
	watcher.Wait()

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tracks {
		p.tell(t, t.abandon())
	}
	p.over = true
}

// begun tells what is probed. p.mu is held.
func (p *Prober) begun() *Start {
	s := &Start{Mode: p.settings.Mode, Interval: p.settings.Interval, Timeout: p.settings.Timeout}
	for _, t := range p.tracks {
		s.Targets = append(s.Targets, StartTarget{Target: t.target.Name, Address: t.target.Address.String(), Interface: t.link.name})
	}
	return s
}

// land waits for the attempts under way.
func (p *Prober) land(ctx context.Context) {
	const patience = time.Second
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })()
	p.runner.drain(waiting)
}

// launch begins an attempt that is late by some time.
func (p *Prober) launch(t *track, late time.Duration) {
	p.mu.Lock()
	p.lag.add(late)
	f := t.begin(p.clock.now(), p.epoch)
	p.mu.Unlock()
	p.runner.begin(t, f)
}

// finish takes the result of an attempt.
func (p *Prober) finish(t *track, f *flight, began, ended time.Time, r result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return // abandoned
	}
	if p.unjudgeable(f, p.clock.at(began), p.clock.at(ended), &r) {
		p.late++
		r = result{verdict: unknown}
	}
	if r.own != "" {
		if p.own[r.own]++; p.own[r.own] == 1 {
			p.emit(Event{Kind: EventOwnFailure, Time: p.clock.wall(f.start), Target: t.target.Name, OwnFailure: r.own})
		}
	}
	p.tell(t, t.end(f, r))
}

// unjudgeable says that a result may come from this machine standing still while
// the attempt was under way: its deadline passed although an answer was there.
// The time of an answer is as doubtful then. p.mu is held.
func (p *Prober) unjudgeable(f *flight, began, ended time.Duration, r *result) bool {
	if f.epoch != p.epoch {
		return true
	}
	if r.verdict != failed || r.cause != CauseTimeout {
		return false
	}
	const slack = 100 * time.Millisecond
	deadline := began + r.limit
	return ended-deadline > min(slack, r.limit/2) || (p.stallFrom < deadline && deadline <= p.stallTo)
}

// tell sends what has changed of a target. p.mu is held.
func (p *Prober) tell(t *track, changes []change) {
	for _, c := range changes {
		if o := c.ended; o != nil {
			dated := o.dated(p.clock)
			p.emit(Event{Kind: EventOutageEnd, Time: dated.End, Target: t.target.Name, Outage: &dated})
		}
		if o := c.began; o != nil {
			e := Event{Kind: EventOutageStart, Time: p.clock.wall(o.start), Target: t.target.Name}
			for cause := range o.Causes {
				e.Cause = cause
			}
			p.emit(e)
		}
	}
}
