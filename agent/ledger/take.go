package ledger

import (
	"errors"
	"hash/fnv"
	"net/netip"
	"strconv"
	"time"
)

// Limits bound how long a run tries.
type Limits struct {
	// Patience is how long in total a reserver waits for others that are in the
	// middle of a reservation, Poll how long between two looks.
	Patience, Poll time.Duration
	// Settle is the wait after a removal of unknown outcome from a record without
	// versions, so that the server has given it up before anything else is done.
	Settle time.Duration
	// Tries is how often in a row a request is repeated that came to nothing
	// because others were quicker (ErrStale) or first (ErrTaken). One of them got on
	// each time, so many tries end nevertheless. Zero: nothing is counted and
	// everything repeated, as often as need be.
	Tries int
}

// DefaultLimits are right for a Proxmox cluster: its own waiters give up after
// 10 s, its proxy after 30 s.
func DefaultLimits() Limits {
	return Limits{Patience: 30 * time.Second, Poll: time.Second, Settle: 45 * time.Second, Tries: 250}
}

// checked gives l with a poll that takes time, so that every wait ends.
func (l Limits) checked() Limits {
	if l.Poll <= 0 {
		l.Poll = DefaultLimits().Poll
	}
	return l
}

// Bounds of what does not depend on how many others there are, in tries in a row.
const (
	maxBusy     = 12
	maxUnknown  = 4
	maxOutdated = 3
)

// The waits between two tries.
const (
	backoffFirst = 50 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// setbacks are what went wrong in a row. Each write of ours that succeeds begins
// a new row.
type setbacks struct {
	stale, taken, busy, unknown, outdated, vanished int
}

func (s setbacks) total() int {
	return s.stale + s.taken + s.busy + s.unknown + s.outdated + s.vanished
}

// Take tells what the request that Next gave has brought.
func (m *Machine) Take(reply Reply) {
	req := m.next
	switch {
	case req.Op == OpDone:
	case req.Op == OpWait:
		m.read()
	case req.Op == OpDrop:
		// Whether the empty record went makes no difference to anybody.
		m.dropped()
	case reply.Err != nil:
		m.failed(req, reply.Err)
	case req.Op == OpRead:
		m.open(reply.Page)
		m.settle()
		m.decide()
	default:
		m.done(req)
		m.decide()
	}
}

// settle draws from a page what became of requests of unknown outcome.
func (m *Machine) settle() {
	for _, a := range m.loose {
		e, ok := m.page.Of(a)
		// An entry that is there although we did not add it again is that of the
		// first request, which can then do nothing more.
		if ok && e.OwnedBy(m.owner) && !contains(m.known, a) {
			m.loose = without(m.loose, a)
		}
	}
	for _, e := range m.page.Owned(m.owner) {
		if e.Record.State == Pending {
			m.known = including(m.known, e.Prefix.Addr())
		}
	}
	if m.doubt.Op == OpRemove && m.happened(m.doubt) {
		m.known = without(m.known, m.doubt.Address)
	}
	if m.doubt.Op == "" || m.happened(m.doubt) {
		m.setbacks.unknown = 0
		m.doubt = Request{}
	}
}

// happened says whether the page shows what a request was to do.
func (m *Machine) happened(r Request) bool {
	e, ok := m.page.Of(r.Address)
	ours := ok && e.OwnedBy(m.owner)
	switch r.Op {
	case OpCreate:
		return m.page.Exists
	case OpAdd:
		return ours
	case OpChange:
		return ours && e.Record.State == r.Record.State && e.Record.Purpose == r.Record.Purpose
	}
	return !ours
}

// done notes a write that the server has done.
func (m *Machine) done(r Request) {
	m.setbacks, m.doubt = setbacks{}, Request{}
	m.fresh = false
	switch r.Op {
	case OpCreate:
		m.page.Exists = true
	case OpAdd:
		m.known = including(m.known, r.Address)
		m.page = m.page.with(r.Address, r.Record)
	case OpChange:
		m.noteChange(r)
		m.have = false
	case OpRemove:
		m.known = without(m.known, r.Address)
		m.have = false
	}
}

// noteChange keeps which entries this run made held, so that a loser can undo it.
func (m *Machine) noteChange(r Request) {
	e, _ := m.page.Of(r.Address)
	switch {
	case r.Record.State == Pending:
		m.promoted = without(m.promoted, r.Address)
	case e.Record.State == Pending:
		m.promoted = including(m.promoted, r.Address)
	}
}

// failed handles a request that brought an error.
func (m *Machine) failed(r Request, err error) {
	switch {
	case errors.Is(err, ErrRefused):
		m.refused(r, err)
	case errors.Is(err, ErrBusy):
		m.setback(&m.setbacks.busy, m.limits.bound(maxBusy), err)
	case errors.Is(err, ErrTaken):
		m.setback(&m.setbacks.taken, m.limits.Tries, err)
	case errors.Is(err, ErrGone) && r.Op == OpAdd:
		m.setback(&m.setbacks.vanished, m.limits.Tries, err)
	case errors.Is(err, ErrStale), errors.Is(err, ErrGone):
		m.setback(&m.setbacks.stale, m.limits.Tries, err)
	default:
		m.inDoubt(r)
		m.unknown(r, err)
	}
}

// inDoubt notes a request of which nobody knows whether it is done.
func (m *Machine) inDoubt(r Request) {
	if !r.Writes() {
		return
	}
	m.doubt = Request{Op: r.Op, Address: r.Address, Record: r.Record}
	switch r.Op {
	case OpAdd:
		m.loose = including(m.loose, r.Address)
	case OpChange:
		m.noteChange(r)
	}
}

func (m *Machine) unknown(r Request, err error) {
	guarded := r.Version != "" || r.Op == OpAdd || r.Op == OpCreate
	m.setback(&m.setbacks.unknown, m.limits.bound(maxUnknown), err)
	if m.next.Op == OpWait && r.Writes() && !guarded {
		m.next.Wait = max(m.next.Wait, m.limits.Settle)
	}
}

// bound is most, or zero where the limits have none.
func (l Limits) bound(most int) int {
	if l.Tries == 0 {
		return 0
	}
	return most
}

// setback waits before the next look at the record, or gives in after more than
// most of them, where that is not zero.
func (m *Machine) setback(count *int, most int, err error) {
	if most > 0 {
		if *count++; *count > most {
			m.exhausted(err)
			return
		}
	}
	m.pause()
}

// pause waits before the next look at the record.
func (m *Machine) pause() {
	m.forget()
	m.next = Request{Op: OpWait, Wait: backoff(m.owner, max(1, m.setbacks.total()))}
}

// backoff doubles with every try, and differs from owner to owner so that many
// who met once do not meet again.
func backoff(o Owner, try int) time.Duration {
	d := min(backoffFirst<<min(try-1, 10), backoffMost)
	h := fnv.New32a()
	h.Write([]byte(o.ID + strconv.Itoa(try)))
	return d/2 + d*time.Duration(h.Sum32()%1024)/1024
}

func contains(list []netip.Addr, a netip.Addr) bool {
	for _, b := range list {
		if a == b {
			return true
		}
	}
	return false
}
