package ledger

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Machine is one run of the protocol as a value: Next says which request to make,
// Take what it brought. It does nothing itself. An assignment copies it, and the
// copy goes its own way. Use NewReserve or NewRelease; the zero Machine is none.
//
// # The rules
//
// A page of the record says what to do next, so a run that begins in the middle of
// another one's leftovers goes on there, and after an unknown outcome the page
// tells what became of it.
//
//   - An entry of somebody else that covers a wanted address, held or not ours to
//     read or wider than one address, ends the run before it writes, or rolls it
//     back.
//   - Addresses are added in ascending order, pending. An entry of another that is
//     pending too is waited for: its owner may lose yet. Whoever waits for an
//     address has no pending entry above it; leftovers that are out of order are
//     given up first.
//   - When all are ours, each is changed to held, ascending. When a page shows all
//     held, the plan is ours; what it no longer has goes then, and not before.
//   - Nothing held is ever removed: it is made pending first, and a pending entry
//     is removed only while the record is exactly as it was read with the entry in
//     it. So a removal that the server does long after we gave it up hits a pending
//     entry of ours or nothing, never what a later run relies on, and never
//     somebody else's.
//   - A loser takes back its pending entries, highest first, and what it made held
//     itself. What was held before stays.
//
// # Why one of any set of racing reservers gets its whole plan
//
// Take those that begin without leftovers and are neither killed nor refused by
// the server. A reserver loses by an entry that is held, and then its owner had all
// of its plan, or by waiting too long at x for a pending entry of P. Say P loses as
// well, also by waiting, at y. P got x before it waited, and had nothing pending
// above y while it waited or after: so x < y. Along such a chain of losers the
// addresses only rise, so it ends at one who does not lose, however the waits
// fell out. For the same reason a circle of waiting reservers cannot be.
//
// A reserver that was killed counts by what it left. Its pending entries stop the
// others until it is run again, and then it goes on from them, or until somebody
// releases them; what it has held is its own as any other's. Claims go up and a
// roll-back goes down, so what it left of one plan is that plan's lower end, in
// order, and everything above is true of its rerun too. Only the leftovers of
// another plan can stand above what is still to be claimed. They are given up
// before a wait, so that the circle cannot be either; but who loses patience over
// one just as it is given up, and the one that gives it up and then waits for that
// loser's entries, can both lose, and both can be run again.
type Machine struct {
	owner     Owner
	wants     []Want
	since     time.Time
	limits    Limits
	releasing bool

	next Request
	// page is what the record looks like as far as we know: as it was read, and
	// with what we added since, less the entries that do not concern us. have says
	// that there is one, fresh that its version is the record's, crowded that there
	// are entries that do not concern us.
	page                 Page
	have, fresh, crowded bool

	losing    bool
	conflicts []Conflict
	cause     error
	// known are the pending entries that we know to be ours, promoted those that
	// this run made held; loose are additions that the server may still do. Never
	// written in place, because copies of the machine share them.
	known, promoted, loose []netip.Addr

	// doubt is the last request of unknown outcome, until that is known.
	doubt    Request
	waited   time.Duration
	setbacks setbacks
	result   Result
}

// NewReserve gives a machine that reserves wants (in any order) for the owner, and
// gives back what the owner has beyond them. Now is what new entries say as since.
func NewReserve(o Owner, wants []Want, now time.Time, l Limits) (Machine, error) {
	if err := o.Check(); err != nil {
		return Machine{}, err
	}
	wants, err := sorted(wants)
	if err != nil {
		return Machine{}, err
	}
	if len(wants) == 0 {
		return Machine{}, fmt.Errorf("reserving nothing for %s: to give everything back is a release", o.Cluster)
	}
	m := Machine{owner: o, wants: wants, since: now.UTC().Truncate(time.Second), limits: l.checked()}
	m.read()
	return m, nil
}

// NewRelease gives a machine that gives back everything of the owner, highest
// first, and drops the record when nothing is left in it.
func NewRelease(o Owner, l Limits) (Machine, error) {
	if err := o.Check(); err != nil {
		return Machine{}, err
	}
	m := Machine{owner: o, limits: l.checked(), releasing: true}
	m.read()
	return m, nil
}

// Next gives the request that is to be made now, the same until Take.
func (m *Machine) Next() Request { return m.next }

// Result gives how it went, once Next is OpDone.
func (m *Machine) Result() Result { return m.result }

// Abort makes a reserver roll back, as if it had lost, and a release stop. The next
// request, where it was begun and what it brought is not known, counts as one of
// unknown outcome.
func (m *Machine) Abort(cause error, begun bool) {
	if m.next.Op == OpDone {
		return
	}
	if begun {
		m.inDoubt(m.next)
	}
	if m.releasing || m.losing {
		m.cause, m.result.Left = cause, m.remains()
		m.finish(Failed)
		return
	}
	m.have = false
	m.lose(nil, cause)
}

// read asks for a new page, and forgets the old one.
func (m *Machine) read() {
	m.forget()
	m.next = Request{Op: OpRead}
}

// forget drops the page.
func (m *Machine) forget() {
	m.page, m.have, m.fresh, m.crowded = Page{}, false, false, false
}

// open keeps what concerns us of a page that was read.
func (m *Machine) open(p Page) {
	var ours []Entry
	for _, e := range p.Entries {
		if e.OwnedBy(m.owner) || len(coveredBy(e.Prefix, m.wants)) > 0 {
			ours = append(ours, e)
		}
	}
	m.crowded = len(ours) < len(p.Entries)
	p.Entries = ours
	m.page, m.have, m.fresh = p, true, true
}

// write asks for a change that needs the record's version, or for a page first.
func (m *Machine) write(r Request) {
	if !m.fresh {
		m.read()
		return
	}
	r.Version = m.page.Version
	m.next = r
}

// decide settles the next request from the page.
func (m *Machine) decide() {
	switch {
	case !m.have:
		m.read()
	case m.releasing:
		m.release()
	case m.losing:
		m.giveUp()
	default:
		m.reserve()
	}
}

// withdraw takes an entry of ours back: a held one is made pending first, where
// the server guards what it does by the version.
func (m *Machine) withdraw(e Entry) {
	if e.Record.State == Held && m.page.Version != "" {
		r := e.Record
		r.State = Pending
		m.write(Request{Op: OpChange, Address: e.Prefix.Addr(), Record: r})
		return
	}
	m.write(Request{Op: OpRemove, Address: e.Prefix.Addr()})
}

// lose begins the roll-back.
func (m *Machine) lose(conflicts []Conflict, cause error) {
	m.losing, m.conflicts, m.cause = true, conflicts, cause
	m.setbacks, m.waited = setbacks{}, 0
	m.decide()
}

// including gives list with a, sorted, as a new slice.
func including(list []netip.Addr, a netip.Addr) []netip.Addr {
	at, ok := slices.BinarySearchFunc(list, a, netip.Addr.Compare)
	if ok {
		return list
	}
	return slices.Insert(slices.Clone(list), at, a)
}

// without gives list less a, as a new slice; nil when nothing is left.
func without(list []netip.Addr, a netip.Addr) []netip.Addr {
	var rest []netip.Addr
	for _, b := range list {
		if b != a {
			rest = append(rest, b)
		}
	}
	return rest
}
