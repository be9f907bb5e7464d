package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/testenv/pvesim"
)

// recordName is the record that the simulator's processes race for.
const recordName = "hw-vmbr0-1691"

// simulated are the states of a simulator, numbered by their digests.
type simulated struct {
	sim     *pvesim.Sim
	book    ledger.Book
	states  []*pvesim.State
	numbers map[string]int32
}

// newSimulated numbers the simulator's present state 0. Book reads the record.
func newSimulated(sim *pvesim.Sim, book ledger.Book) simulated {
	s := simulated{sim: sim, book: book, numbers: map[string]int32{}}
	s.number()
	return s
}

// number gives the number of the simulator's present state.
func (s *simulated) number() int32 {
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
func (s *simulated) States() int { return len(s.states) }

// Page implements Server. The page is empty where it cannot be read, and then the
// first check fails.
func (s *simulated) Page(state int32) ledger.Page {
	s.sim.SetState(s.states[state])
	page, err := s.book.Read(context.Background())
	if err != nil {
		return ledger.Page{}
	}
	return page
}

// Sim is a Server that is the simulator of Proxmox VE behind the book of a
// firewall set, which makes one request to the API for each of a machine. Each is
// made for real, once from each state.
type Sim struct {
	calling
	simulated
}

// NewSim gives a server whose state 0 is the simulator's present one.
func NewSim(sim *pvesim.Sim, client *proxmox.Client) (*Sim, error) {
	book, err := proxmox.NewIPSetBook(client, recordName)
	if err != nil {
		return nil, err
	}
	return &Sim{simulated: newSimulated(sim, book)}, nil
}

// Do implements Server.
func (s *Sim) Do(state int32, req Request) (int32, Reply) {
	call, ok := req.(bookCall)
	if !ok {
		return state, s.Failed(fmt.Errorf("%s is no call of a book", req))
	}
	s.sim.SetState(s.states[state])
	reply := call.Do(context.Background(), s.book)
	return s.number(), reply
}

// PoolSim is a Server that is the simulator behind the book of resource pools. Its
// requests are those to the API, of which a call of that book takes several.
type PoolSim struct {
	simulated
	client *proxmox.Client
}

// NewPoolSim gives a server whose state 0 is the simulator's present one. Anybody
// is an owner with which the record can be read.
func NewPoolSim(sim *pvesim.Sim, client *proxmox.Client, anybody ledger.Owner) (*PoolSim, error) {
	book, err := proxmox.NewPoolBook(client, recordName, anybody)
	if err != nil {
		return nil, err
	}
	return &PoolSim{simulated: newSimulated(sim, book), client: client}, nil
}

// Start implements Server.
func (s *PoolSim) Start(o ledger.Owner, m ledger.Machine) (Actor, error) {
	return pooled{owner: o, machine: m}.advance(recordName)
}

// Failed implements Server.
func (s *PoolSim) Failed(err error) Reply { return apiReply{err: err} }

// Do implements Server.
func (s *PoolSim) Do(state int32, req Request) (int32, Reply) {
	call, ok := req.(apiCall)
	if !ok {
		return state, s.Failed(fmt.Errorf("%s is no request to the API", req))
	}
	s.sim.SetState(s.states[state])
	var data json.RawMessage
	var err error
	switch ctx := context.Background(); call.method {
	case http.MethodGet:
		err = s.client.Get(ctx, call.path, call.params, &data)
	case http.MethodPost:
		err = s.client.Post(ctx, call.path, call.params, &data)
	case http.MethodPut:
		err = s.client.Put(ctx, call.path, call.params, &data)
	default:
		err = s.client.Delete(ctx, call.path, call.params, &data)
	}
	return s.number(), apiReply{data: string(data), err: err}
}
