package pvesim

import (
	"sync"
	"sync/atomic"
	"time"
)

// Times are how long things take. In the zero value nothing takes time, which is
// what tests want; RealTimes is what was measured.
type Times struct {
	// Latency is added to every request.
	Latency time.Duration
	// BadToken passes before a wrong token is refused, NoQuorum before a write
	// without a quorum is.
	BadToken, NoQuorum time.Duration
	// Write is how long a write holds the cluster-wide lock. Others ask for the lock
	// every Poll, and give up after GiveUp.
	Write, Poll, GiveUp time.Duration
	// Hung passes before status 595 or 596 is answered for a node.
	Hung time.Duration
}

// RealTimes are the times of a real cluster of three nodes.
func RealTimes() Times {
	return Times{
		BadToken: 3 * time.Second, NoQuorum: 10 * time.Second, Hung: 30 * time.Second,
		Write: 95 * time.Millisecond, Poll: time.Second, GiveUp: 10 * time.Second,
	}
}

// Options are how a simulator is set up; the zero value is a fresh cluster.
type Options struct {
	// State to begin with; nil is NewState().
	State *State
	Times Times
	// Sleep is time.Sleep when nil.
	Sleep func(time.Duration)
	// Hook is asked about each request that came with a good token; nil is no fault.
	// It is called from many goroutines at once.
	Hook func(Request) Fault
	// Observe is told of each request with a good token when its answer is ready.
	Observe func(Record)
	// Saved is called with the new state after each write, before its answer, one at
	// a time; an error is answered with status 500. The write has happened then.
	Saved func(*State) error
	// WithoutLog keeps no log of requests, for those who make millions.
	WithoutLog bool
}

// Sim is a simulated cluster. All methods can be called at any time from any
// goroutine.
type Sim struct {
	options Options
	schema  *schema
	locks   lockTable
	journal journal
	serial  atomic.Int64

	mu    sync.Mutex
	state *State
	// behind has the state that a lagging node still shows.
	behind map[string]*State
	late   []func()
	saving sync.Mutex
}

// New starts a simulator. The error is one of the options.
func New(o Options) (*Sim, error) {
	s := &Sim{options: o, behind: map[string]*State{}, locks: lockTable{held: map[string]bool{}}}
	var err error
	if s.schema, err = loadSchema(handlers()); err != nil {
		return nil, err
	}
	if o.State == nil {
		o.State = NewState()
	}
	if s.options.Sleep == nil {
		s.options.Sleep = time.Sleep
	}
	s.state = o.State.Clone()
	return s, nil
}

// State gives a copy of the present state.
func (s *Sim) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Clone()
}

// SetState replaces the state, of which the simulator takes a copy. What lagging
// nodes show and what waits to be written is forgotten.
func (s *Sim) SetState(st *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = st.Clone()
	s.late = nil
	clear(s.behind)
}

// Change edits the state as somebody else would who works on the cluster directly.
func (s *Sim) Change(edit func(*State) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Clone()
	if err := edit(st); err != nil {
		return err
	}
	s.state = st
	return nil
}

// Lag lets a node show the present state until Catch, or until it writes itself.
func (s *Sim) Lag(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind[node] = s.state.Clone()
}

// Catch lets a lagging node show the present state again.
func (s *Sim) Catch(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.behind, node)
}

// Settle makes the writes that a fault has put off, in the order in which they
// came, and gives their number.
func (s *Sim) Settle() int {
	s.mu.Lock()
	late := s.late
	s.late = nil
	s.mu.Unlock()
	for _, f := range late {
		f()
	}
	return len(late)
}

func (s *Sim) sleep(d time.Duration) {
	if d > 0 {
		s.options.Sleep(d)
	}
}
