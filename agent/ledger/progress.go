package ledger

// Stage is what a run is at.
type Stage string

// The stages.
const (
	StageRead     Stage = "reading the record"
	StageClaim    Stage = "claiming"
	StageWait     Stage = "waiting for another reservation to end"
	StageHold     Stage = "holding"
	StageGiveBack Stage = "giving back"
	StageRollBack Stage = "rolling back"
	StageEnd      Stage = "ended"
)

// Progress is how far a run is: Done of Of addresses of the stage. What is given
// back has no total, Done is then how many are left.
type Progress struct {
	Stage    Stage
	Done, Of int
}

// Progress gives how far the run is; not ok while that has to be read first, and
// then the last answer still holds.
func (m *Machine) Progress() (p Progress, ok bool) {
	switch {
	case m.next.Op == OpDone:
		return Progress{Stage: StageEnd}, true
	case m.next.Op == OpWait && m.have:
		return Progress{Stage: StageWait, Of: len(m.wants)}, true
	case !m.have:
		return Progress{Stage: StageRead}, false
	case m.releasing:
		return Progress{Stage: StageGiveBack, Done: len(m.page.Owned(m.owner))}, true
	case m.losing:
		return Progress{Stage: StageRollBack, Done: len(m.page.Owned(m.owner))}, true
	}
	return m.advance(), true
}

// advance counts how much of the plan is ours, and when all is, how much is held.
func (m *Machine) advance() Progress {
	ours, held := 0, 0
	for _, w := range m.wants {
		if e, ok := m.page.Of(w.Address); ok && e.OwnedBy(m.owner) {
			ours++
			if e.Record.State == Held {
				held++
			}
		}
	}
	switch {
	case ours < len(m.wants):
		return Progress{Stage: StageClaim, Done: ours, Of: len(m.wants)}
	case held < len(m.wants):
		return Progress{Stage: StageHold, Done: held, Of: len(m.wants)}
	}
	extra := len(m.page.Owned(m.owner)) - ours
	return Progress{Stage: StageGiveBack, Done: extra}
}
