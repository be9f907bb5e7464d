package probe

import (
	"context"
	"time"
)

// awayAfter is how long the schedule may stand still before that counts as being
// away; shorter, the attempts that fell out are counted as missed.
const awayAfter = time.Second

// maxKept is how many times away and clock steps are kept: the first.
const maxKept = 1000

// slot gives the time of the k-th attempt of the run, counted over all targets:
// they take turns, evenly spread over the interval. It is computed anew each time
// from the start, so that no error adds up.
func (p *Prober) slot(k int64) time.Duration {
	n := int64(len(p.tracks))
	return time.Duration(k/n)*p.settings.Interval + time.Duration(k%n)*p.settings.Interval/time.Duration(n)
}

// slotAfter gives the first attempt that is due at a time or later.
func (p *Prober) slotAfter(at time.Duration) int64 {
	n := int64(len(p.tracks))
	k := int64(at/p.settings.Interval) * n
	for p.slot(k) < at {
		k++
	}
	return k
}

// schedule launches attempts until ctx, the duration or the count ends.
func (p *Prober) schedule(ctx context.Context) {
	w := &waiter{p: p}
	n := int64(len(p.tracks))
	// With a count, how many attempts are left; what falls out is made up for.
	left := n * int64(p.settings.Count)
	for k := int64(0); left > 0 || p.settings.Count == 0; k++ {
		due := p.slot(k)
		if end := p.settings.Duration; end > 0 && due >= end {
			w.until(ctx, end)
			return
		}
		if !w.until(ctx, due) {
			return
		}
		now := p.clock.now()
		if now-due > p.settings.Interval {
			w.awake = p.stoodStill(max(w.awake, due-p.settings.Interval), max(w.awake, due))
			next := p.slotAfter(p.clock.now())
			p.miss(k, next)
			k = next - 1
			continue
		}
		if t := p.tracks[k%n]; p.settings.Count == 0 || t.launched < p.settings.Count {
			left--
			p.launch(t, now-due)
		}
	}
}

// waiter waits for the schedule.
type waiter struct {
	p *Prober
	// awake is when the schedule was last known to run.
	awake time.Duration
}

// until waits until a time since the start of the run, and has results taken; it
// is false when ctx ended first.
func (w *waiter) until(ctx context.Context, due time.Duration) bool {
	for now := w.p.clock.now(); now < due; now = w.p.clock.now() {
		// Not longer, so that a sleep in a long interval is noticed at once.
		step := min(due-now, awayAfter/4)
		w.p.runner.pause(ctx, step)
		if ctx.Err() != nil {
			return false
		}
		// First, since what ended while the schedule stood still is doubtful.
		w.awake = w.p.stoodStill(now, now+step)
		w.p.runner.collect()
	}
	w.p.runner.collect()
	return ctx.Err() == nil
}

// stoodStill looks whether the schedule has stood still since a time at which it
// is known to have run, when it meant to run on at another. It gives the time now.
func (p *Prober) stoodStill(since, meant time.Duration) time.Duration {
	slept := p.slept(meant)
	now := p.clock.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if by := p.clock.step(); by != 0 && len(p.steps) < maxKept {
		step := ClockStep{Time: p.clock.wall(now), By: by}
		p.steps = append(p.steps, step)
		p.emit(Event{Kind: EventClockStep, Time: step.Time, ClockStep: &step})
	}
	if now-meant >= p.stallNoise() {
		p.stallFrom, p.stallTo = since, now+p.stallNoise()
	}
	if now-meant < awayAfter && slept < awayAfter {
		return now
	}
	p.epoch++
	p.awayCount++
	p.awayTotal += now - since
	away := Away{Start: p.clock.wall(since), Length: now - since, Slept: slept > 0}
	if len(p.away) < maxKept {
		p.away = append(p.away, away)
	}
	for _, t := range p.tracks {
		p.tell(t, t.away())
	}
	p.emit(Event{Kind: EventAway, Time: away.Start, Away: &away})
	return now
}

// slept looks how long the machine has slept since the last look, some times a
// second, or when it is later than was meant. Two clocks are read for it, and that
// for each of thousands of attempts would be dear.
func (p *Prober) slept(meant time.Duration) time.Duration {
	const period = 5 * time.Millisecond
	now := p.clock.now()
	if now-p.looked < period && now-meant < period {
		return 0
	}
	p.looked = now
	return p.clock.woke()
}

// stallNoise is how late the schedule may be without doubt on what ended
// meanwhile.
func (p *Prober) stallNoise() time.Duration { return max(p.settings.Timeout/4, 10*time.Millisecond) }

// miss counts the attempts from one to before another as not made.
func (p *Prober) miss(from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int64(len(p.tracks))
	for i, t := range p.tracks {
		// How many of from..to-1 are this target's turns.
		turns := turnsBefore(to, int64(i), n) - turnsBefore(from, int64(i), n)
		t.missed += turns
		p.missed += turns
	}
}

// turnsBefore is how many numbers below k leave the remainder i when divided by n.
func turnsBefore(k, i, n int64) int64 { return (k + n - 1 - i) / n }
