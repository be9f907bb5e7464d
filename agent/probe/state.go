package probe

import "time"

// State is how a target stands now: what a live view needs, cheap to make.
type State struct {
	Target string
	// Up says that the newest attempt that could be judged succeeded, and Down
	// that it failed; neither before the first.
	Up, Down bool
	// Cause is why it failed.
	Cause                       Cause
	Attempts, Answered, Unknown int64
	// Last is how long the newest attempt took, if it was answered.
	Last time.Duration
	// OutageCount and OutageLongest are with the open one, whose length is DownFor.
	OutageCount            int64
	OutageLongest, DownFor time.Duration
	MAC                    string
}

// States gives every target's state, in the order in which they were given, and
// the time since the start. It may be called at any time.
func (p *Prober) States() ([]State, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.now()
	list := make([]State, 0, len(p.tracks))
	for _, t := range p.tracks {
		s := State{
			Target: t.target.Name, Up: t.finder.hasGood && t.finder.open == nil, Down: t.finder.open != nil,
			Attempts: t.attempts, Answered: t.answered, Unknown: t.unknown,
			OutageCount: t.outageCount, OutageLongest: t.outageMax, MAC: t.link.mac,
		}
		switch t.last.verdict {
		case answered:
			s.Last = max(t.last.connect, t.last.answer)
		case failed:
			s.Cause = t.last.cause
		}
		if o := t.finder.open; o != nil {
			s.DownFor = now - o.start
			s.OutageCount++
			s.OutageLongest = max(s.OutageLongest, s.DownFor)
		}
		list = append(list, s)
	}
	return list, now
}
