package returnpath

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"homeward/netplan"
)

// Config is what an [Agent] is made of. All fields are needed.
type Config struct {
	Settings Settings
	Kernel   Kernel
	Prober   GatewayProber
	Clock    Clock
	Log      *slog.Logger
	// Boot is how long the node had been up (CLOCK_BOOTTIME) when this agent
	// started. Of two agents with different settings the later one writes.
	Boot time.Duration
	// Resync is how long at most the agent goes without a pass.
	Resync time.Duration
}

// Agent keeps one node's return path. Its methods but Run may be called by any
// goroutine.
type Agent struct {
	cfg  Config
	self netplan.Stamp
	// changed wakes the loop when the gateway's state changed.
	changed chan struct{}
	// uplinkMoved wakes the gateway loop when the external link changed.
	uplinkMoved chan struct{}

	mu     sync.Mutex
	status Status
	// turned is when the loop last came round, by Clock.Elapsed.
	turned time.Duration

	// What the loop alone remembers from pass to pass.
	lastName     string           // the external link's last known name
	lastCounters netplan.Counters // survive a table that someone deleted
	superseded   *supersession
	journal      journal
	converged    bool // at least one pass has reached the state
}

// supersession is when a later agent's table was last seen.
type supersession struct {
	by   netplan.Stamp
	seen time.Duration
}

// deference is how long an agent that has given way leaves a vanished table to
// the later agent, before it takes that one for dead.
const deference = 3 * time.Second

// New makes an agent; it does nothing before Run, Pass or Plan.
func New(cfg Config) *Agent {
	return &Agent{
		cfg:         cfg,
		self:        netplan.Stamp{Start: cfg.Boot, Settings: cfg.Settings.Digest()},
		changed:     make(chan struct{}, 1),
		uplinkMoved: make(chan struct{}, 1),
		status:      Status{Repairs: map[string]uint64{}, Started: cfg.Clock.Wall(), Settings: cfg.Settings.status(), ResyncSeconds: cfg.Resync.Seconds()},
	}
}

// Plan lists the node and gives the steps that a pass would do. It changes
// nothing. The error says what could not be listed.
func (a *Agent) Plan(ctx context.Context) ([]Step, error) {
	_, actual, steps, _ := a.look(ctx)
	return steps, actual.Err()
}

// look lists the node and compares. nicErr says why there is no external link.
func (a *Agent) look(ctx context.Context) (desired State, actual Actual, steps []Step, nicErr error) {
	s := a.cfg.Settings
	actual = List(ctx, a.cfg.Kernel, s.Table)
	var uplink *netplan.Link
	if actual.LinksErr == nil {
		l, err := FindUplink(actual.Links, s.ExternalMAC)
		if nicErr = err; err == nil {
			uplink = &l
			a.lastName = l.Name
		}
	}
	name := actual.Table.Interface
	if name == "" {
		name = a.lastName
	}
	a.remember(&actual)
	desired = Desired(s, uplink, name)
	steps = Diff(desired, actual, s.Manage, a.self)
	if a.defers(actual) {
		steps = nil
	}
	return desired, actual, steps, nicErr
}

// remember keeps the counters over a table that someone else deleted or damaged.
func (a *Agent) remember(actual *Actual) {
	if actual.TableErr != nil {
		return
	}
	c := &actual.Table.Counters
	for _, p := range []struct{ now, last *netplan.Counter }{
		{&c.Marked, &a.lastCounters.Marked},
		{&c.Forwarded, &a.lastCounters.Forwarded},
		{&c.Local, &a.lastCounters.Local},
	} {
		if p.now.Packets < p.last.Packets {
			*p.now = *p.last
		}
		*p.last = *p.now
	}
}

// defers says that a table is missing or unsigned which a later agent wrote a
// moment ago: that one is about to repair it.
func (a *Agent) defers(actual Actual) bool {
	now := a.cfg.Clock.Elapsed()
	if by, ok := Superseded(a.self, actual); ok {
		a.superseded = &supersession{by: by, seen: now}
		return true
	}
	if a.superseded == nil || actual.TableErr != nil {
		return a.superseded != nil
	}
	if actual.Table.Stamp == nil && now-a.superseded.seen < deference {
		return true
	}
	a.superseded = nil
	return false
}

// apply does the steps one after the other; a failed one does not keep the
// others from being tried.
func (a *Agent) apply(ctx context.Context, steps []Step) error {
	var errs []error
	for _, s := range steps {
		if err := s.apply(ctx, a.cfg.Kernel); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
