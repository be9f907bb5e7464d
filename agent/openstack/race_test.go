package openstack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// choose fixes the two reserved addresses; an empty one stays the cloud's choice.
func choose(ingress, kubeapi string) func(*netplan.Spec) {
	return func(s *netplan.Spec) {
		o := *s.OpenStack
		if ingress != "" {
			o.IngressAddress = addr(ingress)
		}
		if kubeapi != "" {
			o.KubeAPIAddress = addr(kubeapi)
		}
		s.OpenStack = &o
	}
}

// addresses are the floating ones, ascending.
func (w *world) addresses() []netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []netip.Addr
	for _, f := range w.floating {
		list = append(list, f.Address)
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}

// turns lets several clients make their requests one after the other, in an order
// that the seed decides. Each request of each client waits for its turn.
type turns struct {
	mu      sync.Mutex
	random  *rand.Rand
	waiting []chan struct{}
	running int
}

func newTurns(seed uint64, clients int) *turns {
	return &turns{random: rand.New(rand.NewPCG(seed, 1)), running: clients}
}

// wait is a client's: it stops until it is its turn.
func (t *turns) wait() {
	turn := make(chan struct{})
	t.mu.Lock()
	t.waiting = append(t.waiting, turn)
	t.running--
	t.next()
	t.mu.Unlock()
	<-turn
}

// end is a client's last.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.next()
}

// next lets one go on, once all wait.
func (t *turns) next() {
	if t.running > 0 || len(t.waiting) == 0 {
		return
	}
	i := t.random.IntN(len(t.waiting))
	turn := t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.running++
	close(turn)
}

// race runs reservers of owners at once, in one of the orders, and gives their results.
func race(w *world, p *netplan.Plan, seed uint64, owners ...ledger.Owner) []Result {
	turn := newTurns(seed, len(owners))
	results := make([]Result, len(owners))
	var wg sync.WaitGroup
	for i, who := range owners {
		wg.Go(func() {
			defer turn.end()
			c := clusterOf(p, &operator{world: w, disturb: func(int, string) (bool, error) { turn.wait(); return true, nil }})
			c.Owner, c.Abreast = who, 1
			results[i] = c.Reserve(context.Background(), Options{})
		})
	}
	wg.Wait()
	return results
}

func TestTwoOperatorsOfOneCluster(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		for seed := range uint64(300) {
			w, p := newWorld(), planOf(t)
			w.coarse = coarse
			before := w.count()
			results := race(w, p, seed, owner, owner)
			for _, res := range results {
				wantOutcome(t, res, Done)
			}
			// Who was done first may have seen a network that lost: the next run settles it.
			reserve(t, p, &operator{world: w})
			if err := w.whole(p); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			release(t, p, &operator{world: w})
			if diff := cmp.Diff(before, w.count()); diff != "" {
				t.Fatalf("seed %d: after the release (-before +after):\n%s", seed, diff)
			}
		}
	}
}

// Of two that begin at once with ids of their own at most one gets a network of that
// name, and the other leaves nothing.
func TestTwoClustersOfOneName(t *testing.T) {
	other := ledger.Owner{ID: "fedcba9876543210", Cluster: "edge"}
	for _, coarse := range []bool{false, true} {
		for seed := range uint64(300) {
			w, p := newWorld(), planOf(t)
			w.coarse = coarse
			results := race(w, p, seed, owner, other)
			done := 0
			for i, res := range results {
				if res.Outcome == Done {
					done++
				} else if wantOutcome(t, res, InTheWay); w.owned([]ledger.Owner{owner, other}[i]) != 0 {
					t.Fatalf("seed %d: the loser left %d objects", seed, w.owned([]ledger.Owner{owner, other}[i]))
				}
			}
			if done > 1 {
				t.Fatalf("seed %d: both have the name: %s", seed, w)
			}
		}
	}
}

// Two clusters whose plans name one floating IP: whoever says that it is done has it,
// and that is at most one.
func TestTwoClustersOfOneFloatingIP(t *testing.T) {
	for seed := range uint64(600) {
		w := newWorld()
		w.allocated("203.0.113.80")
		plans := []*netplan.Plan{planOf(t, floatingIPs("203.0.113.80", "")), planOf(t, floatingIPs("203.0.113.80", ""), func(s *netplan.Spec) { s.Name = "other" })}
		owners := []ledger.Owner{owner, other}
		turn := newTurns(seed, 2)
		results := make([]Result, 2)
		var wg sync.WaitGroup
		for i := range plans {
			wg.Go(func() {
				defer turn.end()
				c := clusterOf(plans[i], &operator{world: w, lastWins: true, disturb: func(int, string) (bool, error) { turn.wait(); return true, nil }})
				c.Owner, c.Abreast = owners[i], 1
				results[i] = c.Reserve(context.Background(), Options{})
			})
		}
		wg.Wait()
		done := 0
		for i, res := range results {
			if res.Outcome != Done {
				wantOutcome(t, res, InTheWay)
				continue
			}
			done++
			on := w.ports[res.Holding.Floating[ingress].PortID]
			if f := w.floating[res.Holding.Floating[ingress].ID]; on == nil || f.PortID != on.ID || on.Description != marked(owners[i], ingress) {
				t.Fatalf("seed %d: %s is done, and the floating IP is on %q", seed, owners[i].Cluster, f.PortID)
			}
		}
		if done != 1 {
			t.Fatalf("seed %d: %d are done: %v %v", seed, done, results[0].Conflicts, results[1].Conflicts)
		}
	}
}

// owned counts an owner's objects.
func (w *world) owned(o ledger.Owner) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	count := func(x Object) {
		if m, err := ParseMark(x.Description); err == nil && m.Owner == o {
			n++
		}
	}
	for _, x := range w.networks {
		count(x.Object)
	}
	for _, x := range w.subnets {
		count(x.Object)
	}
	for _, x := range w.routers {
		count(x.Object)
	}
	for _, x := range w.groups {
		count(x.Object)
	}
	for _, x := range w.ports {
		count(x.Object)
	}
	for _, x := range w.floating {
		count(x.Object)
	}
	return n
}

func (w *world) String() string { return fmt.Sprint(w.count()) }
