package openstack

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReserveMakesEverythingOnce(t *testing.T) {
	w, p := newWorld(), planOf(t)
	before := w.count()
	reserve(t, p, &operator{world: w})
	if err := w.whole(p); err != nil {
		t.Fatal(err)
	}
	again := &operator{world: w}
	res := reserve(t, p, again)
	if again.writes != 0 || again.reads > 6 || len(res.Steps) != 0 {
		t.Errorf("the second run made %d writes and %d reads", again.writes, again.reads)
	}
	for _, g := range w.groups {
		if len(g.Rules) != 2+6 {
			t.Errorf("%d rules: %v", len(g.Rules), g.Rules)
		}
	}
	release(t, p, &operator{world: w})
	if diff := cmp.Diff(before, w.count()); diff != "" {
		t.Errorf("after the release (-before +after):\n%s", diff)
	}
	last := &operator{world: w}
	release(t, p, last)
	if last.writes != 0 {
		t.Errorf("a second release wrote %d times", last.writes)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w, p := newWorld(), planOf(t)
	o := &operator{world: w}
	c := clusterOf(p, o)
	c.Owner.ID = ""
	res := c.Reserve(context.Background(), Options{DryRun: true})
	wantOutcome(t, res, Rehearsed)
	if o.writes != 0 || len(res.Steps) == 0 {
		t.Errorf("%d writes, %d steps", o.writes, len(res.Steps))
	}
	reserve(t, p, &operator{world: w})
	o = &operator{world: w}
	res = clusterOf(p, o).Release(context.Background(), Options{DryRun: true})
	wantOutcome(t, res, Rehearsed)
	if o.writes != 0 || len(res.Steps) == 0 {
		t.Errorf("release: %d writes, %d steps", o.writes, len(res.Steps))
	}
}
