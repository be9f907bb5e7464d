package explore

import (
	"fmt"

	"homeward/agent/ledger"
)

// numbering numbers actors, requests and replies, and remembers what follows
// from what: the search asks the same thing millions of times.
type numbering struct {
	server Server

	actors     []Actor
	actorNo    map[string]int32
	requests   []Request
	requestNo  map[string]int32
	requestOf  []int32 // by actor, none of one that has ended
	replies    []Reply
	replyNo    map[string]int32
	stale      int32
	took       table[int32]  // actor, reply -> actor
	served     table[served] // server state, request -> what came
	unanswered int32         // the reply of unknown outcome
}

type served struct {
	after, reply int32
}

// table remembers a value by two numbers.
type table[T any] [][]cell[T]

type cell[T any] struct {
	known bool
	value T
}

// at gives the cell of two numbers.
func (t *table[T]) at(row, column int32) *cell[T] {
	for int(row) >= len(*t) {
		*t = append(*t, nil)
	}
	r := &(*t)[row]
	if int(column) >= len(*r) {
		*r = append(*r, make([]cell[T], int(column)+1-len(*r))...)
	}
	return &(*r)[column]
}

func newNumbering(s Server) *numbering {
	n := &numbering{
		server:  s,
		actorNo: map[string]int32{}, requestNo: map[string]int32{}, replyNo: map[string]int32{},
	}
	n.unanswered = n.reply(s.Failed(ledger.ErrUnknown))
	n.stale = n.reply(s.Failed(ledger.ErrStale))
	return n
}

func (n *numbering) actor(a Actor) int32 {
	key := a.Key()
	no, ok := n.actorNo[key]
	if !ok {
		no = int32(len(n.actors))
		n.actorNo[key] = no
		n.actors = append(n.actors, a)
		n.requestOf = append(n.requestOf, n.request(a.Next()))
	}
	return no
}

func (n *numbering) request(r Request) int32 {
	if r == nil {
		return none
	}
	key := r.Key()
	no, ok := n.requestNo[key]
	if !ok {
		no = int32(len(n.requests))
		n.requestNo[key] = no
		n.requests = append(n.requests, r)
	}
	return no
}

func (n *numbering) reply(r Reply) int32 {
	key := fmt.Sprintf("%+v", r)
	no, ok := n.replyNo[key]
	if !ok {
		no = int32(len(n.replies))
		n.replyNo[key] = no
		n.replies = append(n.replies, r)
	}
	return no
}

// take gives the actor after a reply.
func (n *numbering) take(actor, reply int32) int32 {
	if c := n.took.at(actor, reply); c.known {
		return c.value
	}
	after := n.actor(n.actors[actor].Take(n.replies[reply]))
	*n.took.at(actor, reply) = cell[int32]{true, after}
	return after
}

// serve gives what a request does in a state of the server.
func (n *numbering) serve(state, request int32) served {
	if c := n.served.at(state, request); c.known {
		return c.value
	}
	after, reply := n.server.Do(state, n.requests[request])
	came := served{after, n.reply(reply)}
	*n.served.at(state, request) = cell[served]{true, came}
	return came
}

// ended says whether an actor makes no more requests.
func (n *numbering) ended(actor int32) bool { return n.requestOf[actor] == none }

// result is how an actor ended.
func (n *numbering) result(actor int32) ledger.Result { return n.actors[actor].Result() }

// most is the highest count of anything numbered.
func (n *numbering) most() int {
	return max(len(n.actors), len(n.requests), n.server.States())
}
