package explore

import (
	"fmt"

	"homeward/agent/ledger"
)

// Actor is a process as a value: which request it makes now, and what it becomes
// with the reply.
type Actor interface {
	// Next is nil when the process has ended.
	Next() Request
	Take(reply Reply) Actor
	// Result is how it ended.
	Result() ledger.Result
	// Key is the same for actors that will do the same.
	Key() string
}

// Request is one request to a server, done whole or not at all.
type Request interface {
	// Key tells requests apart.
	Key() string
	// String is for the report of a fault.
	String() string
	// Writes says that it can change the server's state.
	Writes() bool
	// Guarded says that it is refused with ErrStale, and does nothing, when the
	// record is not as it was read.
	Guarded() bool
}

// Reply is what a request came to; printed, it tells itself from other replies.
type Reply any

// caller is a machine whose requests reach the server as they are.
type caller struct{ machine ledger.Machine }

// bookCall is a request of a machine.
type bookCall struct{ ledger.Request }

// Key includes the version, which the request's text leaves out.
func (c bookCall) Key() string {
	type bare ledger.Request
	return fmt.Sprintf("%+v", bare(c.Request))
}

// Guarded implements Request.
func (c bookCall) Guarded() bool { return c.Version != "" }

// Next implements Actor.
func (c caller) Next() Request {
	if req := c.machine.Next(); req.Op != ledger.OpDone {
		return bookCall{req}
	}
	return nil
}

// Take implements Actor.
func (c caller) Take(reply Reply) Actor {
	came, ok := reply.(ledger.Reply)
	if !ok {
		came = ledger.Reply{Err: fmt.Errorf("%T is no reply to a machine", reply)}
	}
	return caller{taken(c.machine, came)}
}

// Result implements Actor.
func (c caller) Result() ledger.Result { return c.machine.Result() }

// Key implements Actor.
func (c caller) Key() string { return fmt.Sprintf("%+v", c.machine) }

// taken gives the machine after a reply and all waits: that time goes by is no step
// of its own, because others can do anything before a request as it is.
func taken(m ledger.Machine, reply ledger.Reply) ledger.Machine {
	m.Take(reply)
	for m.Next().Op == ledger.OpWait {
		m.Take(ledger.Reply{})
	}
	return m
}

// calling is the part of a server whose requests are those of the machines.
type calling struct{}

// Start implements Server.
func (calling) Start(_ ledger.Owner, m ledger.Machine) (Actor, error) { return caller{m}, nil }

// Failed implements Server.
func (calling) Failed(err error) Reply { return ledger.Reply{Err: err} }
