package explore

import "homeward/agent/ledger"

// Server is a record's server whose states are numbered.
type Server interface {
	// Do makes a request in a state and gives the state after it. The request is one
	// that a machine made, and is neither a wait nor the end.
	Do(state int32, req ledger.Request) (after int32, reply ledger.Reply)
	// Page is the whole truth about the record in a state.
	Page(state int32) ledger.Page
}

// Model is a Server in memory, of the record alone. Its version is the content
// itself, so that a record that is changed and changed back has its old version
// again, as the digest of a Proxmox firewall set has.
type Model struct {
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

// Do implements Server.
func (m *Model) Do(state int32, req ledger.Request) (int32, ledger.Reply) {
	page := m.pages[state]
	if req.Op == ledger.OpRead {
		if m.Unguarded {
			page.Version = ""
		}
		return state, ledger.Reply{Page: page}
	}
	if m.Unguarded {
		req.Version = page.Version
	}
	after, err := Apply(page, req)
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
