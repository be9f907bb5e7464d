package segment

import "time"

// path is what is known of the way to the segment and back.
type path struct {
	// witnesses says that there are addresses whose answer proves it; else every
	// answer does.
	witnesses bool
	proven    bool
	// answered is the last time that one proved it.
	answered time.Time
}

// FirstRound is how long it takes until every address has been asked for often
// enough to be judged.
func (w *Watch) FirstRound() time.Duration { return w.patience() }

// patience is how long the path counts as working after an answer.
func (w *Watch) patience() time.Duration {
	every := max(w.config.Every, time.Duration(len(w.watched))*watchGap)
	return silentAfter*every + answerTime
}

// works says that a witness answered lately.
func (p *path) works(at time.Time, patience time.Duration) bool {
	return p.proven && at.Sub(p.answered) <= patience
}

// pathWorks notes an answer to a probe.
func (w *Watch) pathWorks(events []Event, at time.Time, x *watched) []Event {
	if w.path.witnesses && !x.Witness {
		return events
	}
	w.path.answered = at
	if w.path.proven {
		return events
	}
	w.path.proven = true
	return w.tell(events, w.event(PathProven, at, x))
}

// pathFails tells that no witness has answered for some time, unless the answers
// may be among the frames that were not judged.
func (w *Watch) pathFails(events []Event, at time.Time) []Event {
	if !w.path.proven || w.path.works(at, w.patience()) || at.Sub(w.load.blind) < w.patience() {
		return events
	}
	w.path.proven = false
	return w.tell(events, Event{Time: at, Kind: PathLost, NotBefore: w.path.answered})
}
