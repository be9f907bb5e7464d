package probe

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a network whose targets answer or not by the time since the start.
type world struct {
	rtt time.Duration
	// down gives what an attempt meets; answered is an answer after rtt.
	down func(target string, at time.Duration) result
	// prepare, if not nil, changes the prober before it runs.
	prepare func(*Prober)
	// rename gives causes that are told otherwise than the world behaves.
	rename map[Cause]Cause
	mu     sync.Mutex
	// starts are the attempts' own, by target.
	starts map[string][]time.Duration
}

func settings(n int, interval, timeout, duration time.Duration) Settings {
	s := Settings{Mode: ModeTCP, Interval: interval, Timeout: timeout, Duration: duration}
	for i := range n {
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 443)
		s.Targets = append(s.Targets, Target{Name: a.String(), Host: a.Addr().String(), Address: a})
	}
	return s
}

// run probes the world in time that only passes when all wait for it.
func (w *world) run(t *testing.T, ctx context.Context, s Settings) (Summary, []Event, *Prober) {
	t.Helper()
	w.starts = map[string][]time.Duration{}
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	try := func(target *Target) result {
		at := time.Since(start)
		w.mu.Lock()
		w.starts[target.Name] = append(w.starts[target.Name], at)
		w.mu.Unlock()
		r := w.down(target.Name, at)
		r.limit = s.Timeout
		switch {
		case r.verdict == answered:
			r.connect = w.rtt
			time.Sleep(w.rtt)
		case r.cause == CauseTimeout:
			time.Sleep(s.Timeout)
		}
		if to, ok := w.rename[r.cause]; ok {
			r.cause = to
		}
		return r
	}
	p.newRunner = func(_ *Settings, finish finish) runner { return newCrew(try, finish) }
	if w.prepare != nil {
		w.prepare(p)
	}
	p.Run(ctx)
	var events []Event
	for e := range p.Events() {
		events = append(events, e)
	}
	return p.Summary(), events, p
}

// cut is down by time-out in a part of the run.
func cut(from, to time.Duration) func(string, time.Duration) result {
	return func(_ string, at time.Duration) result {
		if at >= from && at < to {
			return result{verdict: failed, cause: CauseTimeout}
		}
		return result{}
	}
}

const ms = time.Millisecond

func TestAnOutageIsMeasuredToOneInterval(t *testing.T) {
	for _, length := range []time.Duration{50 * ms, 300 * ms, 1 * time.Second, 10 * time.Second} {
		t.Run(length.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{rtt: 3 * ms, down: cut(2005*ms, 2005*ms+length)}
				s, _, _ := w.run(t, t.Context(), settings(1, 20*ms, HandshakeLimit, 20*time.Second))
				target := s.Targets[0]
				if len(target.Outages) != 1 {
					t.Fatalf("outages: %+v", target.Outages)
				}
				o := target.Outages[0]
				if (o.Length-length).Abs() > 20*ms || o.AtLeast > length || o.AtMost < length || o.State != OutageOver || o.BeganUnseen {
					t.Errorf("a cut of %v is measured as %+v", length, o)
				}
				if o.AtMost-o.AtLeast != 40*ms {
					t.Errorf("at least %v, at most %v: not one interval to each side", o.AtLeast, o.AtMost)
				}
			})
		})
	}
}

func TestAttemptsThatHangDelayNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: cut(0, time.Hour)}
		s, _, _ := w.run(t, t.Context(), settings(3, 100*ms, 5*time.Second, 10*time.Second))
		for i, target := range s.Targets {
			var want []time.Duration
			for k := range 100 {
				want = append(want, time.Duration(k)*100*ms+time.Duration(i)*100*ms/3)
			}
			if diff := cmp.Diff(want, w.starts[target.Target]); diff != "" {
				t.Errorf("starts of %s (-want +got):\n%s", target.Target, diff)
			}
			if target.Failed != 100 || target.Causes[CauseTimeout] != 100 {
				t.Errorf("failed %d, %v", target.Failed, target.Causes)
			}
		}
		if got := s.Judge(0); len(got.Broken) != 3 || len(got.Unknown) != 0 {
			t.Errorf("judged %+v", got)
		}
	})
}

func TestCountEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: cut(0, 0)}
		s := settings(2, 100*ms, HandshakeLimit, 0)
		s.Count = 7
		got, _, _ := w.run(t, t.Context(), s)
		if got.Targets[0].Answered != 7 || got.Targets[1].Answered != 7 {
			t.Errorf("answered %d and %d", got.Targets[0].Answered, got.Targets[1].Answered)
		}
	})
}

func TestOwnFailuresAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: func(_ string, at time.Duration) result {
			if at >= time.Second && at < 2*time.Second {
				return result{verdict: unknown, own: "too many open files"}
			}
			return result{}
		}}
		s, events, _ := w.run(t, t.Context(), settings(1, 100*ms, HandshakeLimit, 3*time.Second))
		target := s.Targets[0]
		if target.OutageCount != 0 || target.Unknown != 10 || target.Answered != 20 {
			t.Errorf("%+v", target)
		}
		told := 0
		for _, e := range events {
			if e.Kind == EventOwnFailure {
				told++
			}
		}
		if told != 1 {
			t.Errorf("own failures told %d times", told)
		}
		if j := s.Judge(10 * time.Second); len(j.Unknown) != 1 || len(j.Broken) != 0 {
			t.Errorf("judged %+v", j)
		}
	})
}

func TestOwnFailuresWidenAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rtt: ms, down: func(_ string, at time.Duration) result {
			switch {
			case at >= 2*time.Second && at < 3*time.Second:
				return result{verdict: failed, cause: CauseRefused}
			case at >= time.Second && at < 2*time.Second:
				return result{verdict: unknown, own: "too many open files"}
			}
			return result{}
		}}
		s, _, _ := w.run(t, t.Context(), settings(1, 100*ms, HandshakeLimit, 4*time.Second))
		o := s.Targets[0].Outages[0]
		if o.Length != time.Second || o.AtLeast != 900*ms || o.AtMost != 2100*ms {
			t.Errorf("%+v", o)
		}
	})
}

func TestInterruptedRunStillJudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w := &world{rtt: ms, down: cut(2*time.Second, time.Hour)}
		s, events, _ := w.run(t, ctx, settings(1, 100*ms, HandshakeLimit, 0))
		o := s.Targets[0].Outages[0]
		if o.State != OutageOpen || o.Length < 2900*ms || s.Targets[0].Up {
			t.Errorf("%+v", o)
		}
		if j := s.Judge(2 * time.Second); len(j.Broken) != 1 {
			t.Errorf("an open outage of %v keeps the bound of 2s: %+v", o.Length, j)
		}
		if j := s.Judge(10 * time.Second); len(j.Broken) != 0 {
			t.Errorf("%+v", j)
		}
		var kinds []EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if diff := cmp.Diff([]EventKind{EventStart, EventOutageStart}, kinds); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
