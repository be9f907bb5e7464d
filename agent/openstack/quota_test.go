package openstack

import (
	"context"
	"errors"
	"strings"
	"testing"

	"homeward/agent/ledger"
)

// A quota that does not do is told before anything is made, with its numbers.
func TestTheQuotaIsLookedAtFirst(t *testing.T) {
	w := newWorld()
	w.quota = Quota{KindPort: {Limit: 4}, KindFloating: {Limit: 1}, KindRule: {Limit: 100}}
	o := &operator{world: w}
	res := clusterOf(planOf(t), o).Reserve(context.Background(), Options{})
	wantOutcome(t, res, Failed)
	var q *QuotaError
	if o.writes != 0 || !errors.As(res.Err, &q) || !errors.Is(res.Err, ledger.ErrRefused) {
		t.Fatalf("%d writes, %v", o.writes, res.Err)
	}
	for _, want := range []string{"ports: 5 more needed, 4 of 4 free", "floating IPs: 2 more needed, 1 of 1 free", "openstack quota set"} {
		if !strings.Contains(res.Err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, res.Err)
		}
	}
}

// Where others use it up meanwhile, what was made stays and is found when there is room.
func TestTheQuotaRunsOut(t *testing.T) {
	w := newWorld()
	o := &operator{world: w}
	o.disturb = func(_ int, what string) (bool, error) {
		if what == "create port" {
			w.mu.Lock()
			w.quota = Quota{KindPort: {Limit: 3}}
			w.mu.Unlock()
		}
		return true, nil
	}
	c := clusterOf(planOf(t), o)
	c.Abreast = 1
	res := c.Reserve(context.Background(), Options{})
	wantOutcome(t, res, Failed)
	if !strings.Contains(res.Err.Error(), "0 of 3 free") || !strings.Contains(res.Err.Error(), "OverQuota") {
		t.Errorf("it says %v", res.Err)
	}
	w.quota = Quota{}
	reserve(t, planOf(t), &operator{world: w})
	if err := w.whole(planOf(t)); err != nil {
		t.Error(err)
	}
}
