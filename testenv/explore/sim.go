package explore

import (
	"context"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// Sim is a Server that is the simulator of Proxmox VE behind a Book that talks to
// it over the API: each request is made for real, once from each state.
type Sim struct {
	sim    *pvesim.Sim
	book   ledger.Book
	states []*pvesim.State
	// numbers of states by their digests.
	numbers map[string]int32
}

// NewSim gives a server whose state 0 is the simulator's present one. Book is
// what every process uses.
func NewSim(sim *pvesim.Sim, book ledger.Book) *Sim {
	s := &Sim{sim: sim, book: book, numbers: map[string]int32{}}
	s.number()
	return s
}

// number gives the number of the simulator's present state.
func (s *Sim) number() int32 {
	state := s.sim.State()
	key := state.Digest()
	n, ok := s.numbers[key]
	if !ok {
		n = int32(len(s.states))
		s.states = append(s.states, state)
		s.numbers[key] = n
	}
	return n
}

// States implements Server.
func (s *Sim) States() int { return len(s.states) }

// Do implements Server.
func (s *Sim) Do(state int32, req ledger.Request) (int32, ledger.Reply) {
	s.sim.SetState(s.states[state])
	reply := req.Do(context.Background(), s.book)
	return s.number(), reply
}

// Page implements Server.
func (s *Sim) Page(state int32) ledger.Page {
	_, reply := s.Do(state, ledger.Request{Op: ledger.OpRead})
	return reply.Page
}
