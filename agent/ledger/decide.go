package ledger

import (
	"net/netip"
	"slices"
)

// reserve settles what a reserver does next.
func (m *Machine) reserve() {
	foreign := Conflicts(m.page, m.wants, m.owner)
	if slices.ContainsFunc(foreign, func(c Conflict) bool { return !c.Entry.passing() }) {
		m.lose(foreign, nil)
		return
	}
	if m.elsewhere(foreign) {
		return
	}
	if w, ok := m.missing(); ok {
		m.claim(w, foreign)
		return
	}
	m.waited = 0
	if e, w, ok := m.unsettled(); ok {
		r := e.Record
		r.State, r.Purpose = Held, w.Purpose
		m.write(Request{Op: OpChange, Address: w.Address, Record: r})
		return
	}
	if e, ok := m.highest(func(e Entry) bool { return !m.wanted(e) }); ok {
		m.withdraw(e)
		return
	}
	if !m.fresh {
		m.read()
		return
	}
	m.finish(Done)
}

// claim adds the lowest address that is not ours yet, or waits for it.
func (m *Machine) claim(w Want, foreign []Conflict) {
	taken := slices.ContainsFunc(foreign, func(c Conflict) bool { return c.Addresses[0] == w.Address })
	switch {
	case taken:
		above := func(e Entry) bool { return e.Record.State == Pending && w.Address.Less(e.Prefix.Addr()) }
		if e, ok := m.highest(above); ok {
			m.withdraw(e)
			return
		}
		m.await(foreign, nil)
	case !m.page.Exists:
		m.make(Request{Op: OpCreate})
	default:
		r := Record{Owner: m.owner, Purpose: w.Purpose, State: Pending, Since: m.since}
		m.make(Request{Op: OpAdd, Address: w.Address, Record: r})
	}
}

// make asks for a new entry or record, which needs no version.
func (m *Machine) make(r Request) {
	m.fresh, m.page.Version = false, ""
	m.next = r
}

// elsewhere handles entries in the record of the other kind, and says whether that
// settled what is next. Both kinds can be begun at once on a segment without
// claims. Each side writes before it looks at the other's record, so that at least
// one sees the other before it holds anything; the one that yields never waits. Who
// holds something goes on, because the other side will see that and lose.
func (m *Machine) elsewhere(foreign []Conflict) bool {
	other := m.page.Elsewhere
	firm := slices.ContainsFunc(other, func(e Entry) bool { return !e.passing() })
	_, holding := m.highest(func(e Entry) bool { return e.Record.State == Held })
	if len(other) == 0 || holding && !firm {
		return false
	}
	cause := &WrongKindError{Entries: other}
	foreign = append(foreign, Conflicts(Page{Entries: other}, m.wants, m.owner)...)
	if m.page.Yields || firm {
		m.lose(foreign, cause)
		return true
	}
	m.await(foreign, cause)
	return true
}

// await waits a little for others to finish or to lose, and loses itself when that
// took too long.
func (m *Machine) await(foreign []Conflict, cause error) {
	if m.waited >= m.limits.Patience {
		m.lose(foreign, cause)
		return
	}
	m.waited += m.limits.Poll
	m.next = Request{Op: OpWait, Wait: m.limits.Poll}
}

// giveUp settles what a loser does next.
func (m *Machine) giveUp() {
	mine := func(e Entry) bool {
		return e.Record.State == Pending || slices.Contains(m.promoted, e.Prefix.Addr())
	}
	if e, ok := m.highest(mine); ok {
		m.withdraw(e)
		return
	}
	if m.outdated() {
		m.setback(&m.setbacks.outdated, maxOutdated, nil)
		return
	}
	if m.page.Exists && !m.crowded && len(m.page.Entries) == 0 {
		m.next = Request{Op: OpDrop}
		return
	}
	m.lost()
}

// outdated says that the page lacks what we know to be ours: it is older than what
// we know, or somebody took it away.
func (m *Machine) outdated() bool {
	return slices.ContainsFunc(m.known, func(a netip.Addr) bool {
		e, ok := m.page.Of(a)
		return !ok || !e.OwnedBy(m.owner)
	})
}

// release settles what a release does next.
func (m *Machine) release() {
	if e, ok := m.highest(func(Entry) bool { return true }); ok {
		m.withdraw(e)
		return
	}
	if m.page.Exists && !m.crowded && len(m.page.Entries) == 0 {
		m.next = Request{Op: OpDrop}
		return
	}
	m.finish(Done)
}

// missing gives the lowest want that is not ours.
func (m *Machine) missing() (Want, bool) {
	for _, w := range m.wants {
		if e, ok := m.page.Of(w.Address); !ok || !e.OwnedBy(m.owner) {
			return w, true
		}
	}
	return Want{}, false
}

// unsettled gives the lowest want whose entry does not say yet what it should.
func (m *Machine) unsettled() (Entry, Want, bool) {
	for _, w := range m.wants {
		if e, _ := m.page.Of(w.Address); e.Record.State != Held || e.Record.Purpose != w.Purpose {
			return e, w, true
		}
	}
	return Entry{}, Want{}, false
}

// highest gives our highest entry of which ok is true.
func (m *Machine) highest(ok func(Entry) bool) (Entry, bool) {
	for _, e := range slices.Backward(m.page.Entries) {
		if e.OwnedBy(m.owner) && ok(e) {
			return e, true
		}
	}
	return Entry{}, false
}

func (m *Machine) wanted(e Entry) bool {
	_, ok := find(m.wants, e.Prefix.Addr())
	return ok
}
