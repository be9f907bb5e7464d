package explore

import (
	"fmt"

	"homeward/agent/ledger"
)

// numbering numbers machines, requests and replies, and remembers what follows
// from what: the search asks the same thing millions of times.
type numbering struct {
	server Server

	machines   []ledger.Machine
	machineNo  map[string]int32
	requests   []ledger.Request
	requestNo  map[string]int32
	requestOf  []int32 // by machine
	replies    []ledger.Reply
	replyNo    map[string]int32
	stale      int32
	took       map[[2]int32]int32  // machine, reply -> machine
	served     map[[2]int32]served // server state, request -> what came
	unanswered int32               // the reply of unknown outcome
}

type served struct {
	after, reply int32
}

func newNumbering(s Server) *numbering {
	n := &numbering{
		server:    s,
		machineNo: map[string]int32{}, requestNo: map[string]int32{}, replyNo: map[string]int32{},
		took: map[[2]int32]int32{}, served: map[[2]int32]served{},
	}
	n.unanswered = n.reply(ledger.Reply{Err: ledger.ErrUnknown})
	n.stale = n.reply(ledger.Reply{Err: ledger.ErrStale})
	return n
}

// machine numbers m, after all waits: that time goes by is no step of its own,
// because others can do anything before a request as it is.
func (n *numbering) machine(m ledger.Machine) int32 {
	for m.Next().Op == ledger.OpWait {
		m.Take(ledger.Reply{})
	}
	key := fmt.Sprintf("%+v", m)
	no, ok := n.machineNo[key]
	if !ok {
		no = int32(len(n.machines))
		n.machineNo[key] = no
		n.machines = append(n.machines, m)
		n.requestOf = append(n.requestOf, n.request(m.Next()))
	}
	return no
}

func (n *numbering) request(r ledger.Request) int32 {
	// Without the methods of a request, whose text leaves the version out.
	type bare ledger.Request
	key := fmt.Sprintf("%+v", bare(r))
	no, ok := n.requestNo[key]
	if !ok {
		no = int32(len(n.requests))
		n.requestNo[key] = no
		n.requests = append(n.requests, r)
	}
	return no
}

func (n *numbering) reply(r ledger.Reply) int32 {
	key := fmt.Sprintf("%+v", r)
	no, ok := n.replyNo[key]
	if !ok {
		no = int32(len(n.replies))
		n.replyNo[key] = no
		n.replies = append(n.replies, r)
	}
	return no
}

// take gives the machine after a reply.
func (n *numbering) take(machine, reply int32) int32 {
	key := [2]int32{machine, reply}
	after, ok := n.took[key]
	if !ok {
		m := n.machines[machine]
		m.Take(n.replies[reply])
		after = n.machine(m)
		n.took[key] = after
	}
	return after
}

// serve gives what a request does in a state of the server.
func (n *numbering) serve(state, request int32) served {
	key := [2]int32{state, request}
	s, ok := n.served[key]
	if !ok {
		after, reply := n.server.Do(state, n.requests[request])
		s = served{after, n.reply(reply)}
		n.served[key] = s
	}
	return s
}

// next gives the request of a machine.
func (n *numbering) next(machine int32) ledger.Request { return n.requests[n.requestOf[machine]] }
