package ledger

import (
	"errors"
	"fmt"
	"net/netip"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	// Done: the whole plan is held and nothing else; of a release, nothing is.
	Done Outcome = "done"
	// Lost: others have an address of the plan, see Conflicts.
	Lost Outcome = "lost"
	// Failed: the server would not, or the record is of the other kind, see Err.
	Failed Outcome = "failed"
	// Unknown: the server did not say whether it wrote, see Uncertain. Running it
	// again mends that.
	Unknown Outcome = "unknown"
)

// Result is how a run ended and what it did.
type Result struct {
	Outcome Outcome
	// Conflicts are all entries of others that cover wanted addresses, by address.
	Conflicts []Conflict
	// Uncertain are the addresses of which the server may still write or remove an
	// entry of ours, ascending.
	Uncertain []netip.Addr
	// Left are entries of ours that should have gone and could not be removed,
	// ascending, as far as we know.
	Left []netip.Addr
	// Added and Removed count the entries that this run made and took away, as far
	// as the server confirmed it; a Driver counts them.
	Added, Removed int
	// Err is why it Failed or is Unknown, and a WrongKindError also when it Lost
	// by entries of the other kind; nil otherwise.
	Err error
}

// WrongKindError says that the segment's claims stand in the record of the other
// kind, so that nothing may be claimed in this one.
type WrongKindError struct {
	// Entries are those of the other kind.
	Entries []Entry
}

// Error implements error.
func (e *WrongKindError) Error() string {
	return fmt.Sprintf("the segment has %d claims in the record of the other kind, the first of %s", len(e.Entries), e.Entries[0].Prefix.Addr())
}

// refused rolls back what can be rolled back, and stops where not even reading or
// removing is allowed.
func (m *Machine) refused(r Request, err error) {
	if m.releasing || m.losing || r.Op == OpRead {
		m.exhausted(err)
		return
	}
	m.have = false
	m.lose(nil, err)
}

// exhausted ends a run that tried long enough, or begins its roll-back.
func (m *Machine) exhausted(err error) {
	uncertain := err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrBusy) &&
		!errors.Is(err, ErrStale) && !errors.Is(err, ErrTaken) && !errors.Is(err, ErrGone)
	switch {
	case uncertain:
		m.cause = err
		m.finish(Unknown)
	case m.losing && err == nil:
		// The page kept lacking what is ours: somebody took it away.
		m.known = nil
		m.lost()
	case m.releasing || m.losing || errors.Is(err, ErrRefused):
		if m.cause == nil {
			m.cause = err
		}
		m.result.Left = m.remains()
		m.finish(Failed)
	default:
		m.have = false
		m.lose(nil, err)
	}
}

// remains are the entries of ours that we know of and that should have gone.
func (m *Machine) remains() []netip.Addr {
	left := m.known
	for _, e := range m.page.Owned(m.owner) {
		if m.releasing || e.Record.State == Pending {
			left = including(left, e.Prefix.Addr())
		}
	}
	return left
}

// lost ends a roll-back.
func (m *Machine) lost() {
	if len(m.conflicts) > 0 {
		m.finish(Lost)
		return
	}
	m.finish(Failed)
}

// dropped ends a run whose last step was to drop the record.
func (m *Machine) dropped() {
	if m.losing {
		m.lost()
		return
	}
	m.finish(Done)
}

// finish ends the run. Nothing but the result is kept.
func (m *Machine) finish(o Outcome) {
	r := m.result
	if o != Done {
		r.Uncertain = m.loose
		if m.doubt.Address.IsValid() {
			r.Uncertain = including(r.Uncertain, m.doubt.Address)
		}
		if len(r.Uncertain) > 0 {
			o = Unknown
		}
	}
	r.Outcome, r.Conflicts, r.Err = o, m.conflicts, m.cause
	if o == Unknown && r.Err == nil {
		r.Err = ErrUnknown
	}
	*m = Machine{owner: m.owner, wants: m.wants, releasing: m.releasing, next: Request{Op: OpDone}, result: r}
}
