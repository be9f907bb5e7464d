package pvesim

import (
	"slices"
	"sync"
)

// Record is one request in the log.
type Record struct {
	Request
	Status int
	// Dropped says that the client got no answer at all.
	Dropped bool
}

// Replug is a NIC that was taken from under a running VM and put back, or came, or
// went.
type Replug struct {
	VMID int
	NIC  string
}

// Replugs gives them in the order in which they happened.
func (s *Sim) Replugs() []Replug {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.replugs)
}

// journal is what was asked.
type journal struct {
	mu       sync.Mutex
	records  []Record
	unknown  []string
	replugs  []Replug
	refused  int
	inFlight int
	most     int
}

// Log gives the requests that came with a good token, in the order in which they
// were answered. No secret is in it.
func (s *Sim) Log() []Record {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.records)
}

// Unknown gives the requests for methods that the simulator does not have, as
// "GET /path": a test that uses one has not tested what it thinks.
func (s *Sim) Unknown() []string {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.unknown)
}

// BadTokens gives the number of requests without a good token.
func (s *Sim) BadTokens() int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.refused
}

// MostInFlight gives the largest number of requests that were under way at once.
func (s *Sim) MostInFlight() int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.most
}

// ClearLog forgets requests and numbers.
func (s *Sim) ClearLog() {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.journal.records, s.journal.unknown, s.journal.replugs = nil, nil, nil
	s.journal.refused, s.journal.most = 0, s.journal.inFlight
}

func (j *journal) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.inFlight++
	j.most = max(j.most, j.inFlight)
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.inFlight--
}

func (j *journal) note(edit func(*journal)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	edit(j)
}
