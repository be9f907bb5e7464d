package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func newTestTrack(timeline bool) *track {
	s := settings(1, 10*ms, HandshakeLimit, 0)
	s.Timeline = timeline
	return newTrack(s.Targets[0], &s)
}

func TestAttemptsAreJudgedInTheOrderOfTheirStart(t *testing.T) {
	tr := newTestTrack(false)
	good, bad := result{connect: ms}, result{verdict: failed, cause: CauseTimeout}
	first, hangs, last := tr.begin(0, 0), tr.begin(10*ms, 0), tr.begin(20*ms, 0)
	if c := tr.end(last, good); c != nil || tr.attempts != 0 {
		t.Errorf("judged before those that began earlier: %+v", c)
	}
	if c := tr.end(first, good); c != nil || tr.attempts != 1 {
		t.Errorf("%d judged, %+v", tr.attempts, c)
	}
	changes := tr.end(hangs, bad)
	if len(changes) != 2 || changes[0].began == nil || changes[1].ended == nil || changes[1].ended.Length != 10*ms {
		t.Errorf("%+v", changes)
	}
	if len(tr.flights) != 0 {
		t.Errorf("%d attempts are kept", len(tr.flights))
	}
}

func TestTheLongestOutagesAreKept(t *testing.T) {
	tr := newTestTrack(false)
	at := time.Duration(0)
	step := func(r result) {
		tr.end(tr.begin(at, 0), r)
		at += 10 * ms
	}
	const long = 5
	for i := range 3 * maxOutages {
		step(result{connect: ms})
		step(result{verdict: failed, cause: CauseTimeout})
		for range (i % 100) / 99 * long {
			step(result{verdict: failed, cause: CauseReset})
		}
	}
	step(result{connect: ms})
	if tr.outageCount != 3*maxOutages || len(tr.outages) != maxOutages || tr.outageMax != (long+1)*10*ms {
		t.Errorf("%d outages, %d kept, longest %v", tr.outageCount, len(tr.outages), tr.outageMax)
	}
	kept := 0
	for i, o := range tr.outages {
		if o.Length == tr.outageMax {
			kept++
		}
		if i > 0 && o.start < tr.outages[i-1].start {
			t.Errorf("outage %d is before the one before it", i)
		}
	}
	if kept != 6 {
		t.Errorf("%d of the 6 long outages are kept", kept)
	}
}

func TestTimelineHalvesWhenItIsFull(t *testing.T) {
	line := &Timeline{Width: 10 * ms}
	n := 5 * maxBins
	for i := range n {
		r := result{connect: time.Duration(i+1) * time.Microsecond}
		if i == 7 {
			r = result{verdict: failed}
		}
		line.add(time.Duration(i)*10*ms, &r)
	}
	if line.Width != 80*ms || len(line.Bins) != n/8 {
		t.Errorf("%d bins of %v", len(line.Bins), line.Width)
	}
	want := Bin{Answered: 7, Failed: 1, Fastest: time.Microsecond, Slowest: 7 * time.Microsecond}
	if diff := cmp.Diff(want, line.Bins[0]); diff != "" {
		t.Errorf("first bin (-want +got):\n%s", diff)
	}
	var answered uint32
	for _, b := range line.Bins {
		answered += b.Answered
	}
	if int(answered) != n-1 {
		t.Errorf("%d answered of %d", answered, n-1)
	}
	line.add(365*24*time.Hour, &result{})
	if len(line.Bins) > maxBins {
		t.Errorf("%d bins after a year", len(line.Bins))
	}
}

func TestPercentilesAreRightToOnePercent(t *testing.T) {
	d := newTimes()
	if d.latency() != nil {
		t.Error("a distribution of nothing")
	}
	for i := 1; i <= 10_000; i++ {
		d.add(time.Duration(i) * 10 * time.Microsecond)
	}
	want := &Latency{Count: 10_000, Min: 10 * time.Microsecond, P50: 50 * ms, P90: 90 * ms, P99: 99 * ms, P999: 99900 * time.Microsecond, Max: 100 * ms}
	near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= max(a, b)/100 })
	if diff := cmp.Diff(want, d.latency(), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d.add(-time.Second)
	d.add(1000 * time.Hour)
	if got := d.latency(); got.Count != 10_002 || got.Min > time.Microsecond || got.Max > 2*time.Hour {
		t.Errorf("%+v", got)
	}
}

func TestJudge(t *testing.T) {
	good := TargetSummary{Target: "good", Attempts: 10, Answered: 10}
	down := TargetSummary{Target: "down", Attempts: 10, Failed: 10, Causes: map[Cause]int64{CauseTimeout: 9, CauseReset: 1}}
	flaky := TargetSummary{Target: "flaky", Attempts: 10, Answered: 5, Failed: 5, OutageLongest: 2 * time.Second}
	blind := TargetSummary{Target: "blind", Attempts: 3, Unknown: 3}
	blinded := TargetSummary{Target: "blinded", Attempts: 9, Answered: 9, BlindLongest: 2 * time.Second}
	unseen := TargetSummary{Target: "unseen", Attempts: 9, Answered: 5, OutageLongest: time.Second, Outages: []Outage{{State: OutageUnseen, Length: time.Second}}}
	for _, c := range []struct {
		name    string
		s       Summary
		bound   time.Duration
		broken  int
		unknown int
	}{
		{"all well", Summary{Targets: []TargetSummary{good}}, time.Second, 0, 0},
		{"never answered", Summary{Targets: []TargetSummary{good, down}}, 0, 1, 0},
		{"never answered, once", Summary{Targets: []TargetSummary{down}}, time.Second, 1, 0},
		{"an outage without a bound", Summary{Targets: []TargetSummary{flaky}}, 0, 0, 0},
		{"an outage of the bound", Summary{Targets: []TargetSummary{flaky}}, 2 * time.Second, 0, 0},
		{"an outage above it", Summary{Targets: []TargetSummary{flaky}}, 2*time.Second - 1, 1, 0},
		{"nothing known", Summary{Targets: []TargetSummary{blind}}, 0, 0, 1},
		{"own failures", Summary{Targets: []TargetSummary{good}, OwnFailures: map[string]int64{"too many open files": 1}}, 0, 0, 1},
		{"blind for less", Summary{Targets: []TargetSummary{blinded}}, 2 * time.Second, 0, 0},
		{"blind for longer", Summary{Targets: []TargetSummary{blinded}}, 2*time.Second - 1, 0, 1},
		{"blind without a bound", Summary{Targets: []TargetSummary{blinded}}, 0, 0, 0},
		{"an end unseen", Summary{Targets: []TargetSummary{unseen}}, 2 * time.Second, 0, 1},
		{"an end unseen, too long already", Summary{Targets: []TargetSummary{unseen}}, 500 * ms, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := c.s.Judge(c.bound)
			if len(j.Broken) != c.broken || len(j.Unknown) != c.unknown {
				t.Errorf("%+v", j)
			}
		})
	}
	if diff := cmp.Diff("1 reset, 9 timeout", CauseList(down.Causes), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
