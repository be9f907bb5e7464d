package probe

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sleeper is a machine that sleeps for a time at a time of the run.
type sleeper struct{ at, length time.Duration }

// install makes the run's machine sleep; the target's world is asked by a clock
// that stands still meanwhile, as the process is.
func (s sleeper) install(p *Prober) {
	start := time.Now()
	p.clock.sleptSinceBoot = func() time.Duration {
		if time.Since(start) >= s.at {
			return s.length
		}
		return 0
	}
}

func TestSleepIsNoOutage(t *testing.T) {
	const length = 10 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: cut(0, 0), prepare: sleeper{1050 * ms, length}.install}
		s, events, _ := w.run(t, t.Context(), settings(2, 100*ms, HandshakeLimit, length+3*time.Second))
		if s.AwayCount != 1 || !s.Away[0].Slept || (s.Away[0].Length-length).Abs() > 300*ms {
			t.Errorf("away: %+v", s.Away)
		}
		for _, target := range s.Targets {
			if target.OutageCount != 0 || target.Answered < 25 || target.Failed != 0 {
				t.Errorf("%+v", target)
			}
		}
		if s.Missed < 11_000 {
			t.Errorf("missed %d", s.Missed)
		}
		if j := s.Judge(time.Minute); len(j.Unknown) != 2 || len(j.Broken) != 0 {
			t.Errorf("a bound of a minute after %v away is judged %+v", length, j)
		}
		told := 0
		for _, e := range events {
			if e.Kind == EventAway {
				told++
			}
		}
		if told != 1 {
			t.Errorf("away told %d times", told)
		}
	})
}

func TestSleepCutsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: cut(time.Second, 4*time.Second), prepare: sleeper{2050 * ms, time.Hour}.install}
		s, _, _ := w.run(t, t.Context(), settings(1, 100*ms, HandshakeLimit, time.Hour+6*time.Second))
		got := s.Targets[0].Outages
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		// Those that hung when it fell asleep say nothing.
		if o := got[0]; o.State != OutageUnseen || o.AtMost != 0 || o.Length > 300*ms {
			t.Errorf("before the sleep: %+v", o)
		}
		if o := got[1]; o.State != OutageOver || o.AtMost != 0 || !o.BeganUnseen || o.Length > 2*time.Second {
			t.Errorf("after it: %+v", o)
		}
		if j := s.Judge(2 * time.Hour); len(j.Unknown) != 1 || len(j.Broken) != 0 {
			t.Errorf("judged %+v", j)
		}
	})
}

// What fell silent because this machine was too late to listen says nothing.
func TestLateTimeoutsAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		w := &world{rtt: ms, down: func(string, time.Duration) result {
			if n.Add(1) == 5 {
				time.Sleep(HandshakeLimit + 300*ms)
				return result{verdict: failed, cause: "late " + CauseTimeout}
			}
			return result{}
		}}
		w.rename = map[Cause]Cause{"late " + CauseTimeout: CauseTimeout}
		s, _, _ := w.run(t, t.Context(), settings(1, 100*ms, HandshakeLimit, 3*time.Second))
		if got := s.Targets[0]; got.OutageCount != 0 || got.Unknown != 1 || s.Late != 1 {
			t.Errorf("late %d, %+v", s.Late, got)
		}
	})
}

func TestStandingStillSpoilsTimeouts(t *testing.T) {
	p := &Prober{stallFrom: 2 * time.Second, stallTo: 2500 * ms}
	f := &flight{}
	for _, c := range []struct {
		name         string
		began, ended time.Duration
		want         bool
	}{
		{"deadline before it", 1000 * ms, 1900 * ms, false},
		{"deadline in it", 1300 * ms, 2210 * ms, true},
		{"deadline after it", 1700 * ms, 2600 * ms, false},
		{"noticed too late", 3000 * ms, 4100 * ms, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result{verdict: failed, cause: CauseTimeout, limit: HandshakeLimit}
			if got := p.unjudgeable(f, c.began, c.ended, &r); got != c.want {
				t.Errorf("unjudgeable: %v", got)
			}
			r.cause = CauseRefused
			if p.unjudgeable(f, c.began, c.ended, &r) {
				t.Error("a refusal came, late or not")
			}
		})
	}
}

// A machine so busy that the two clocks are read apart has not slept.
func TestClocksThatAreReadApartAreNoSleep(t *testing.T) {
	const truth = time.Hour
	readings := []time.Duration{truth - 400*ms, truth, truth - 10*ms, truth, truth, truth - 500*ms, truth, truth + time.Second}
	c := startClock(func() time.Duration {
		first := readings[0]
		readings = readings[1:]
		return first
	})
	for _, want := range []time.Duration{0, 0, time.Second} {
		if got := c.woke(); got != want {
			t.Errorf("slept %v, want %v", got, want)
		}
	}
}

func TestClockThatIsSetMovesNothing(t *testing.T) {
	c := startClock(func() time.Duration { return 0 })
	if by := c.step(); by != 0 {
		t.Errorf("a clock that nobody set stepped by %v", by)
	}
	// As if it had been an hour ahead, and was now set right.
	c.stepped = time.Hour
	if by := c.step(); (by + time.Hour).Abs() > time.Second {
		t.Errorf("stepped by %v", by)
	}
	if by := c.step(); by != 0 {
		t.Errorf("told twice: %v", by)
	}
}

func TestCountIsOfAttemptsThatWereMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: cut(0, 0), prepare: sleeper{1050 * ms, time.Minute}.install}
		s := settings(2, 100*ms, HandshakeLimit, 0)
		s.Count = 30
		got, _, _ := w.run(t, t.Context(), s)
		for _, target := range got.Targets {
			if target.Attempts != 30 {
				t.Errorf("%d attempts at %s", target.Attempts, target.Target)
			}
		}
		if got.Missed == 0 {
			t.Error("nothing fell out: the test tests nothing")
		}
	})
}
