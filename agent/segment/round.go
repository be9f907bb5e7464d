package segment

import (
	"net/netip"
	"slices"
	"time"

	"homeward/netplan"
)

// Step does what is due at a time: it judges the probes whose time for answers is
// over, and gives the one address to probe now, the zero Addr for none, and when to
// come again.
func (w *Watch) Step(at time.Time) (ask netip.Addr, next time.Time, events []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if missed, ok := w.load.recovered(at); ok {
		events = w.tell(events, Event{Time: at, Kind: Recovered, Count: missed})
	}
	if n := w.told.rest(at); n > 0 {
		events = w.tell(events, Event{Time: at, Kind: Suppressed, Count: n})
	}
	if at.Before(w.next) {
		return netip.Addr{}, w.next, events
	}
	var oldest *watched
	for _, x := range w.watched {
		if x.local || x.due.After(at) {
			continue
		}
		if x.open {
			events = w.judge(events, at, x)
		}
		if !x.open && !x.due.After(at) && (oldest == nil || x.due.Before(oldest.due)) {
			oldest = x
		}
	}
	events = w.pathFails(events, at)
	if oldest != nil && !at.Before(w.sent.Add(watchGap)) {
		oldest.asked, oldest.open, oldest.due, w.sent = at, true, at.Add(answerTime), at
		oldest.answers.clear()
		ask = oldest.Address
		w.stats.Probes++
	}
	w.next = w.earliest(at)
	return ask, w.next, events
}

// earliest is the next time at which something is due.
func (w *Watch) earliest(at time.Time) time.Time {
	next := at.Add(window)
	for _, x := range w.watched {
		if x.local {
			continue
		}
		due := x.due
		if !x.open {
			due = later(due, w.sent.Add(watchGap))
		}
		if due.Before(next) {
			next = due
		}
	}
	return later(next, at.Add(time.Millisecond))
}

// Lost notes frames that arrived and were not read.
func (w *Watch) Lost(at time.Time, n uint64) (events []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Unread += n
	if n > 0 && w.load.miss(at, n) {
		events = w.tell(events, Event{Time: at, Kind: Overloaded, Count: uint64(w.config.Limit)})
	}
	return events
}

// judge closes a round: who answered the last probe for the address?
func (w *Watch) judge(events []Event, at time.Time, x *watched) []Event {
	x.open, x.due = false, x.asked.Add(w.config.Every)
	answers := x.answers.list()
	switch {
	case len(answers) == 0:
		return w.unanswered(events, at, x)
	case len(answers) > 1:
		x.misses = 0
		return w.contested(events, at, x, answers)
	}
	x.misses = 0
	one := answers[0]
	if x.holder == one.mac {
		return w.confirmed(events, at, x, one)
	}
	return w.changed(events, x, one)
}

// unanswered counts a probe that nobody answered, unless the answer may be among
// the frames that were not judged.
func (w *Watch) unanswered(events []Event, at time.Time, x *watched) []Event {
	if !w.load.blind.Before(x.asked) && !w.load.blind.IsZero() {
		return events
	}
	for _, c := range slices.Clone(x.claims.list()) {
		if at.Sub(c.last) > forget {
			x.claims.drop(c.mac)
		}
	}
	if x.misses == 0 {
		x.firstMiss = x.asked
	}
	x.misses = min(x.misses+1, silentAfter)
	if x.misses < silentAfter || x.holder.IsZero() || at.Sub(x.heard) < w.patience() || !w.path.works(at, w.patience()) {
		return events
	}
	e := w.event(Silent, x.firstMiss, x)
	e.From, e.FromMachine, e.NotBefore = x.holder, w.name(x.holder), x.answered
	x.former, x.formerAnswered = x.holder, x.answered
	x.holder, x.rivals = netplan.MAC{}, nil
	return w.tell(events, e)
}

// contested tells of several that answer one probe, whenever it is not the same
// ones as before.
func (w *Watch) contested(events []Event, at time.Time, x *watched, answers []sighting) []Event {
	if x.holder.IsZero() || x.answers.find(x.holder) == nil {
		x.holder, x.since, x.answered = answers[0].mac, answers[0].first, answers[0].last
	}
	var rivals []netplan.MAC
	for _, s := range answers {
		x.claims.drop(s.mac)
		if s.mac != x.holder {
			rivals = append(rivals, s.mac)
		}
	}
	slices.SortFunc(rivals, func(a, b netplan.MAC) int { return slices.Compare(a[:], b[:]) })
	same := slices.Equal(rivals, x.rivals)
	x.rivals = rivals
	if same {
		return events
	}
	e := w.event(Duplicate, at, x)
	e.MAC, e.Machine, e.Others = x.holder, w.name(x.holder), rivals
	return w.tell(events, e)
}

// confirmed is the holder alone answering. Who claimed the address before that
// answer has not got it; who did after it is asked once more.
func (w *Watch) confirmed(events []Event, at time.Time, x *watched, one sighting) []Event {
	if len(x.rivals) > 0 {
		x.rivals = nil
		e := w.event(Settled, at, x)
		e.MAC, e.Machine = x.holder, w.name(x.holder)
		events = w.tell(events, e)
	}
	for _, c := range slices.Clone(x.claims.list()) {
		if c.first.After(one.first) {
			w.hurry(x, at)
			continue
		}
		x.claims.drop(c.mac)
		if fresh := x.denied.refresh(c.mac, at); !fresh {
			continue
		}
		e := w.event(Contradicted, c.first, x)
		e.MAC, e.Machine, e.From, e.FromMachine = c.mac, w.name(c.mac), x.holder, w.name(x.holder)
		events = w.tell(events, e)
	}
	return events
}

// changed is another one answering alone. Its first frame may be older than the
// probe: an announcement brought it about.
func (w *Watch) changed(events []Event, x *watched, one sighting) []Event {
	first := one.first
	if c := x.claims.find(one.mac); c != nil && c.first.Before(first) {
		first = c.first
	}
	x.heard = one.last
	old, last := x.holder, x.answered
	if old.IsZero() {
		old, last = x.former, x.formerAnswered
	}
	x.claims.clear()
	x.holder, x.since, x.answered, x.rivals = one.mac, first, one.last, nil
	x.former = netplan.MAC{}
	kind := TakenOver
	switch {
	case old.IsZero() || old == one.mac:
		kind, old, last = Appeared, netplan.MAC{}, time.Time{}
	case x.Gateway:
		kind = GatewayChanged
	}
	e := w.event(kind, first, x)
	e.MAC, e.Machine, e.From, e.FromMachine = one.mac, w.name(one.mac), old, w.name(old)
	if last.Before(first) {
		e.NotBefore = last
	}
	return w.tell(events, e)
}

func (w *Watch) event(kind Kind, at time.Time, x *watched) Event {
	return Event{Time: at, Kind: kind, Address: x.Address, Use: x.Use}
}

// tell adds an event, unless there are too many.
func (w *Watch) tell(events []Event, e Event) []Event {
	w.stats.Events[e.Kind]++
	if !w.told.may(e.Time) {
		return events
	}
	return append(events, e)
}
