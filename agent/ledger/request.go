package ledger

import (
	"context"
	"fmt"
	"net/netip"
	"time"
)

// Op is what a request asks for.
type Op string

// The requests of a machine: the methods of a Book, and two more.
const (
	OpRead   Op = "read"
	OpCreate Op = "create"
	OpAdd    Op = "add"
	OpChange Op = "change"
	OpRemove Op = "remove"
	OpDrop   Op = "drop"
	// OpWait: nothing is to be done for the time of Wait.
	OpWait Op = "wait"
	// OpDone: the machine has its Result.
	OpDone Op = "done"
)

// Request is one call of a Book's method, a wait, or the end. Which fields count
// depends on Op.
type Request struct {
	Op      Op
	Address netip.Addr
	Record  Record
	Version string
	Wait    time.Duration
}

// Reply is what a request brought: a Page when it was OpRead and Err is nil.
type Reply struct {
	Page Page
	Err  error
}

// Writes says whether the request can change the record.
func (r Request) Writes() bool {
	switch r.Op {
	case OpRead, OpWait, OpDone:
		return false
	}
	return true
}

// Do makes the request. A wait or the end is none.
func (r Request) Do(ctx context.Context, b Book) Reply {
	switch r.Op {
	case OpRead:
		page, err := b.Read(ctx)
		return Reply{Page: page, Err: err}
	case OpCreate:
		return Reply{Err: b.Create(ctx)}
	case OpAdd:
		return Reply{Err: b.Add(ctx, r.Address, r.Record)}
	case OpChange:
		return Reply{Err: b.Change(ctx, r.Address, r.Record, r.Version)}
	case OpRemove:
		return Reply{Err: b.Remove(ctx, r.Address, r.Version)}
	case OpDrop:
		return Reply{Err: b.Drop(ctx)}
	}
	return Reply{}
}

// String says what the request does, for a log and for --dry-run.
func (r Request) String() string {
	switch r.Op {
	case OpCreate:
		return "create the segment's record"
	case OpAdd:
		return fmt.Sprintf("add %s: %s", r.Address, r.Record)
	case OpChange:
		return fmt.Sprintf("change %s: %s", r.Address, r.Record)
	case OpRemove:
		return fmt.Sprintf("remove %s", r.Address)
	case OpDrop:
		return "drop the segment's empty record"
	case OpWait:
		return fmt.Sprintf("wait %s", r.Wait)
	}
	return string(r.Op)
}
