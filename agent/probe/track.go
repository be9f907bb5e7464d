package probe

import (
	"cmp"
	"slices"
	"time"
)

// flight is an attempt under way, or a mark between attempts that says that the
// probe was away.
type flight struct {
	start  time.Duration
	epoch  int
	done   bool
	away   bool
	result result
}

// track is what is known of one target. Attempts overlap and end in any order;
// they are judged in the order in which they began. It is not for concurrent use.
type track struct {
	target Target
	// launched counts the attempts that have begun.
	launched int
	flights  []*flight
	finder   finder

	attempts, answered, unknown, missed int64
	failures                            map[Cause]int64
	statuses                            map[int]int64
	connect, answer                     times
	timeline                            *Timeline

	outages     []Outage // not dated
	outageCount int64
	outageTotal time.Duration
	outageMax   time.Duration
	last        result
	// judged is when the newest attempt began that says anything, and blind the
	// longest time from one such to the next.
	judged, blind time.Duration

	link neighbour
}

func newTrack(t Target, s *Settings) *track {
	tr := &track{target: t, failures: map[Cause]int64{}, statuses: map[int]int64{}, connect: newTimes()}
	if s.Mode != ModeTCP {
		tr.answer = newTimes()
	}
	if s.Timeline {
		tr.timeline = &Timeline{Width: s.Interval}
	}
	return tr
}

// begin notes an attempt that begins.
func (t *track) begin(start time.Duration, epoch int) *flight {
	t.launched++
	f := &flight{start: start, epoch: epoch}
	t.flights = append(t.flights, f)
	return f
}

// change is what the attempts judged at once have changed.
type change struct{ began, ended *Outage }

// end takes the result of an attempt and judges all that can be judged now.
func (t *track) end(f *flight, r result) []change {
	f.result, f.done = r, true
	return t.judge()
}

// away marks that the probe was away after the attempts that have begun.
func (t *track) away() []change {
	t.flights = append(t.flights, &flight{away: true, done: true})
	return t.judge()
}

// abandon judges what has ended and forgets the rest: the end of a run.
func (t *track) abandon() []change {
	t.flights = slices.DeleteFunc(t.flights, func(f *flight) bool { return !f.done })
	return t.judge()
}

func (t *track) judge() []change {
	var changes []change
	n := 0
	for ; n < len(t.flights) && t.flights[n].done; n++ {
		if c := t.take(t.flights[n]); c != (change{}) {
			changes = append(changes, c)
		}
	}
	if n > 0 {
		t.flights = slices.Delete(t.flights, 0, n)
	}
	return changes
}

func (t *track) take(f *flight) change {
	if f.away {
		return change{ended: t.keep(t.finder.away())}
	}
	r := &f.result
	t.attempts++
	t.last = *r
	if t.timeline != nil {
		t.timeline.add(f.start, r)
	}
	if r.status != 0 {
		t.statuses[r.status]++
	}
	if r.verdict != unknown {
		t.blind = max(t.blind, f.start-t.judged)
		t.judged = f.start
	}
	switch r.verdict {
	case unknown:
		t.unknown++
	case failed:
		t.failures[r.cause]++
		return change{began: t.finder.bad(f.start, r.cause)}
	case answered:
		t.answered++
		if r.connect > 0 {
			t.connect.add(r.connect)
		}
		if r.answer > 0 {
			t.answer.add(r.answer)
		}
		return change{ended: t.keep(t.finder.good(f.start))}
	}
	return change{}
}

// keep counts an outage that has ended, and keeps it if it is among the longest.
func (t *track) keep(o *Outage) *Outage {
	if o == nil {
		return nil
	}
	t.outageCount++
	t.outageTotal += o.Length
	t.outageMax = max(t.outageMax, o.Length)
	if len(t.outages) < maxOutages {
		t.outages = append(t.outages, *o)
		return o
	}
	// In the order of time, and of equal lengths the first stay.
	shortest := 0
	for i := range t.outages {
		if cmp.Compare(t.outages[i].Length, t.outages[shortest].Length) <= 0 {
			shortest = i
		}
	}
	if t.outages[shortest].Length < o.Length {
		t.outages = append(slices.Delete(t.outages, shortest, shortest+1), *o)
	}
	return o
}
