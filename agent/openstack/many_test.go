package openstack

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// latency is how long each request of a [slowly] takes, in the bubble's own time.
const latency = 100 * time.Millisecond

// slowly gives an operator whose requests take their time, and the most that it has had
// under way at once.
func slowly(w *world) (o *operator, most func() int) {
	var mu sync.Mutex
	var now, peak int
	o = &operator{world: w, disturb: func(int, string) (bool, error) {
		mu.Lock()
		now++
		peak = max(peak, now)
		mu.Unlock()
		time.Sleep(latency)
		mu.Lock()
		now--
		mu.Unlock()
		return true, nil
	}}
	return o, func() int { return peak }
}

// A hundred machines are made with as many requests at once as is said and no more, and
// with the same number of requests as one by one. The bubble's clock counts latencies,
// so that what it saves is a number and no measurement.
func TestAHundredMachines(t *testing.T) {
	p := planOf(t, workers(99))
	count := map[int][2]int{}
	took := map[int]time.Duration{}
	for _, abreast := range []int{1, 3, 0} {
		want := abreast
		if want == 0 {
			want = defaultAbreast
		}
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			before := w.count()
			o, most := slowly(w)
			c := clusterOf(p, o)
			c.Abreast = abreast
			start := time.Now()
			wantOutcome(t, c.Reserve(context.Background(), Options{}), Done)
			took[want], count[want] = time.Since(start), [2]int{o.reads, o.writes}
			if most() != want {
				t.Errorf("%d requests were under way at once, want %d", most(), want)
			}
			if err := w.whole(p); err != nil {
				t.Error(err)
			}
			again, _ := slowly(w)
			reserve(t, p, again)
			if again.writes != 0 || again.reads > 6 {
				t.Errorf("the second run made %d writes and %d reads", again.writes, again.reads)
			}
			release(t, p, &operator{world: w})
			for kind, n := range w.count() {
				if n != before[kind] {
					t.Errorf("after the release there are %d of %s, before %d", n, kind, before[kind])
				}
			}
		})
	}
	if count[1] != count[3] || count[1] != count[defaultAbreast] {
		t.Errorf("reads and writes by how many are under way: %v", count)
	}
	// Each of the 102 ports is made and tagged: nothing else is much.
	if one, many := took[1], took[defaultAbreast]; many*5 > one {
		t.Errorf("one by one it takes %s, %d at once %s", one, defaultAbreast, many)
	}
	t.Logf("reads and writes %v, time at %s a request: %v", count[1], latency, took)
}
