package openstack

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
)

var errKilled = errors.New("killed")

// mishap is what happens to one request.
type mishap struct {
	name string
	done bool
	err  error
	// kills ends the client with that request.
	kills bool
}

var mishaps = []mishap{
	{"killed before it is sent", false, errKilled, true},
	{"killed before the answer", true, errKilled, true},
	{"no answer, not done", false, &Error{Method: "POST", Path: "/x", class: ledger.ErrUnknown}, false},
	{"no answer, done", true, &Error{Method: "POST", Path: "/x", class: ledger.ErrUnknown}, false},
	{"conflict", false, &Error{Method: "POST", Path: "/x", Status: 409, class: ledger.ErrStale}, false},
}

// befall lets the mishap befall request at, and gives the context that ends with it.
func (m mishap) befall(o *operator, at int) (ctx context.Context) {
	ctx, kill := context.WithCancelCause(context.Background())
	o.disturb = func(n int, _ string) (bool, error) {
		if n != at {
			return true, nil
		}
		if m.kills {
			kill(errKilled)
		}
		return m.done, m.err
	}
	return ctx
}

// Whatever happens to any one request, a rerun ends as one run would have, and a
// release leaves nothing.
func TestAnyOneRequestMayFail(t *testing.T) {
	p := planOf(t)
	for _, m := range mishaps {
		t.Run(m.name, func(t *testing.T) {
			for at, over := 0, false; !over; at++ {
				w := newWorld()
				before := w.count()
				o := &operator{world: w}
				res := clusterOf(p, o).Reserve(m.befall(o, at), Options{})
				over = o.at <= at
				check(t, at, m, res, over)
				reserve(t, p, &operator{world: w})
				if err := w.whole(p); err != nil {
					t.Fatalf("request %d: after the rerun: %v", at, err)
				}
				release(t, p, &operator{world: w})
				if diff := cmp.Diff(before, w.count()); diff != "" {
					t.Fatalf("request %d: after the release (-before +after):\n%s", at, diff)
				}
			}
		})
	}
}

// check looks at how the disturbed run ended: it never says more than is so.
func check(t *testing.T, at int, m mishap, res Result, over bool) {
	t.Helper()
	if m.kills && !over && res.Outcome != Unknown {
		t.Errorf("request %d: killed, and it says %s: %v", at, res.Outcome, res.Err)
	}
	if res.Outcome == InTheWay {
		t.Errorf("request %d: %v", at, res.Conflicts)
	}
}

// Every write is done and none is answered: each is found, and all ends well.
func TestNoWriteIsAnswered(t *testing.T) {
	w, p := newWorld(), planOf(t)
	before := w.count()
	o := &operator{world: w, disturb: func(_ int, what string) (bool, error) {
		if what == "list" || what == "quota" {
			return true, nil
		}
		return true, &Error{Method: "POST", Path: "/x", class: ledger.ErrUnknown}
	}}
	c := clusterOf(p, o)
	c.Abreast = 1
	wantOutcome(t, c.Reserve(context.Background(), Options{}), Done)
	if err := w.whole(p); err != nil {
		t.Error(err)
	}
	wantOutcome(t, c.Release(context.Background(), Options{}), Done)
	if diff := cmp.Diff(before, w.count()); diff != "" {
		t.Errorf("after the release (-before +after):\n%s", diff)
	}
}

func TestAReleaseMayFailAnywhere(t *testing.T) {
	p := planOf(t)
	for _, m := range mishaps {
		t.Run(m.name, func(t *testing.T) {
			for at, over := 0, false; !over; at++ {
				w := newWorld()
				before := w.count()
				reserve(t, p, &operator{world: w})
				o := &operator{world: w}
				clusterOf(p, o).Release(m.befall(o, at), Options{})
				over = o.at <= at
				release(t, p, &operator{world: w})
				if diff := cmp.Diff(before, w.count()); diff != "" {
					t.Fatalf("request %d: (-before +after):\n%s", at, diff)
				}
			}
		})
	}
}

// A run that is killed within a change of the plan ends as the change would have.
func TestAChangeMayBeKilledAnywhere(t *testing.T) {
	first, second := planOf(t, choose("10.0.0.5", "10.0.0.6")), planOf(t, choose("10.0.0.7", ""), workers(4))
	for _, m := range mishaps {
		t.Run(m.name, func(t *testing.T) {
			for at, over := 0, false; !over; at++ {
				w := newWorld()
				reserve(t, first, &operator{world: w})
				floating := fmt.Sprint(w.addresses())
				o := &operator{world: w}
				clusterOf(second, o).Reserve(m.befall(o, at), Options{})
				over = o.at <= at
				res := reserve(t, second, &operator{world: w})
				if err := w.whole(second); err != nil {
					t.Fatalf("request %d: %v", at, err)
				}
				if got := fmt.Sprint(w.addresses()); got != floating {
					t.Fatalf("request %d: floating IPs were %s, and are %s", at, floating, got)
				}
				if a := res.Holding.Ports[ingress].Fixed[0].Address; a != addr("10.0.0.7") {
					t.Fatalf("request %d: ingress has %s", at, a)
				}
			}
		})
	}
}
