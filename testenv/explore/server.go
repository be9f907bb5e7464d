package explore

import (
	"fmt"

	"homeward/agent/ledger"
)

// Server is a record's server whose states are numbered.
type Server interface {
	// Start gives the actor of a machine that has made no request yet.
	Start(o ledger.Owner, m ledger.Machine) (Actor, error)
	// Do makes an actor's request in a state and gives the state after it.
	Do(state int32, req Request) (after int32, reply Reply)
	// Failed is the reply to a request that came to an error of a Book.
	Failed(err error) Reply
	// Page is the whole truth about the record in a state.
	Page(state int32) ledger.Page
	// States is how many states it has seen so far.
	States() int
}

// Model is a Server in memory, of the record alone. Its version is the content
// itself, so that a record that is changed and changed back has its old version
// again, as the digest of a Proxmox firewall set has.
type Model struct {
	calling
	pages     []ledger.Page
	numbers   map[string]int32
	Unguarded bool
}

// NewModel gives a model whose state 0 is start.
func NewModel(start ledger.Page) *Model {
	m := &Model{numbers: map[string]int32{}}
	m.number(start)
	return m
}

// Page implements Server.
func (m *Model) Page(state int32) ledger.Page { return m.pages[state] }

// States implements Server.
func (m *Model) States() int { return len(m.pages) }

// Do implements Server.
func (m *Model) Do(state int32, req Request) (int32, Reply) {
	page := m.pages[state]
	call, ok := req.(bookCall)
	if !ok {
		return state, m.Failed(fmt.Errorf("%s is no call of a book", req))
	}
	if call.Op == ledger.OpRead {
		if m.Unguarded {
			page.Version = ""
		}
		return state, ledger.Reply{Page: page}
	}
	after, err := Apply(page, call.Request)
	if err != nil {
		return state, ledger.Reply{Err: err}
	}
	return m.number(after), ledger.Reply{}
}

// number gives the state of a page, a new one if need be.
func (m *Model) number(page ledger.Page) int32 {
	key := content(page)
	n, ok := m.numbers[key]
	if !ok {
		n = int32(len(m.pages))
		page.Version = key
		m.pages = append(m.pages, page)
		m.numbers[key] = n
	}
	return n
}
