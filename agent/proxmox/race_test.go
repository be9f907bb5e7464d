package proxmox

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// racer is one of many who reserve at once.
type racer struct {
	owner  ledger.Owner
	wants  []string
	result ledger.Result
}

// racers gives plans that overlap in many ways: runs of four addresses out of
// sixteen, so that each meets half of the others.
func racers(n int) []*racer {
	list := make([]*racer, n)
	for i := range list {
		r := &racer{owner: ledger.Owner{ID: fmt.Sprintf("%016x", i+1), Cluster: fmt.Sprintf("c%02d", i+1)}}
		for k := range 4 {
			r.wants = append(r.wants, fmt.Sprintf("192.0.2.%d", 10+(i*3+k*5)%16))
		}
		list[i] = r
	}
	return list
}

// hurried is a Sleep fifty times as fast as the machines think.
func hurried(ctx context.Context, d time.Duration) error { return ledger.Sleep(ctx, d/50) }

// TestManyReserveAtOnce has 24 reservers on the endpoints of three nodes.
func TestManyReserveAtOnce(t *testing.T) {
	for _, s := range stands() {
		t.Run(s.name, func(t *testing.T) {
			held := newWatch(t)
			sim := simulate(t, pvesim.Options{Saved: held.saved})
			if err := sim.Change(s.state); err != nil {
				t.Fatal(err)
			}
			all := racers(24)
			var group sync.WaitGroup
			for i, r := range all {
				book := s.open(t, sim.client(fmt.Sprintf("pve%d", i%3+1)), r.owner)
				m := reserving(r.owner, r.wants...)(t)
				group.Go(func() {
					d := ledger.Driver{Book: book, Sleep: hurried, Grace: time.Second}
					r.result = d.Run(context.Background(), m)
				})
			}
			group.Wait()
			judge(t, s, sim, all)
		})
	}
}

// judge holds that winners have all of their plan, losers nothing and the names of
// who has what, and that there is a winner.
func judge(t *testing.T, s stand, sim *lab, all []*racer) {
	t.Helper()
	page, err := s.open(t, sim.client("pve1"), alice).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	winners := 0
	for _, r := range all {
		var mine []string
		for _, e := range page.Owned(r.owner) {
			if e.Record.State == ledger.Held {
				mine = append(mine, e.Prefix.Addr().String())
			} else {
				t.Errorf("%s is left pending for %s", e.Prefix, r.owner.Cluster)
			}
		}
		slices.Sort(mine)
		plan := slices.Sorted(slices.Values(r.wants))
		switch r.result.Outcome {
		case ledger.Done:
			winners++
			if !slices.Equal(mine, plan) {
				t.Errorf("%s won %v and has %v", r.owner.Cluster, plan, mine)
			}
		case ledger.Lost:
			if len(mine) > 0 {
				t.Errorf("%s lost and has %v", r.owner.Cluster, mine)
			}
			if len(r.result.Conflicts) == 0 || r.result.Conflicts[0].Entry.Record.Owner == r.owner {
				t.Errorf("%s lost to nobody: %v", r.owner.Cluster, r.result.Conflicts)
			}
		default:
			t.Errorf("%s: %s: %v", r.owner.Cluster, r.result.Outcome, r.result.Err)
		}
	}
	if winners == 0 {
		t.Error("everybody lost")
	}
	t.Logf("%d of %d won, %d requests", winners, len(all), len(sim.Log()))
	macs := map[string]bool{}
	for _, e := range page.Entries {
		macs[strings.ToUpper(IPAMAddress(e.Record.Owner, e.Prefix.Addr()).String())] = true
	}
	for _, line := range ipamOf(sim.State()) {
		if words := strings.Fields(line); !macs[words[len(words)-1]] {
			t.Errorf("nobody holds %s", line)
		}
	}
}

// watch sees every state: what is held stays with its owner until that one gives it
// up.
type watch struct {
	t      *testing.T
	mu     sync.Mutex
	owners map[string]string
}

func newWatch(t *testing.T) *watch { return &watch{t: t, owners: map[string]string{}} }

func (w *watch) saved(st *pvesim.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[string]string{}
	note := func(address, comment string) {
		r, err := ledger.ParseRecord(comment)
		if err != nil || r.State != ledger.Held {
			return
		}
		if other := now[address]; other != "" && other != r.Owner.ID {
			w.t.Errorf("%s is held by %s and %s", address, other, r.Owner.ID)
		}
		now[address] = r.Owner.ID
	}
	members, _ := st.Set("cluster", ledgerName)
	for _, m := range members {
		note(m.CIDR, m.Comment)
	}
	pools := st.Pools()
	for id, p := range pools {
		// A pool in an address of somebody else claims nothing.
		address, owner := path.Dir(id), path.Base(id)
		if above, err := ledger.ParseRecord(pools[address].Comment); err == nil && ownerPool(above.Owner) == owner {
			note(strings.TrimPrefix(address, ledgerName+"/"), p.Comment)
		}
	}
	for address, owner := range w.owners {
		if next := now[address]; next != "" && next != owner {
			w.t.Errorf("%s goes from %s to %s in one step", address, owner, next)
		}
	}
	w.owners = now
	return nil
}

// TestManyReserveAtOnceThroughFaults adds a fault to every seventh request: nobody
// ever takes what is another's, and a rerun of each mends what was left.
func TestManyReserveAtOnceThroughFaults(t *testing.T) {
	for _, s := range stands()[:2] {
		t.Run(s.name, func(t *testing.T) {
			held := newWatch(t)
			h := &hook{}
			kinds := []pvesim.Fault{
				{Answer: pvesim.AnswerTimedOut}, {Answer: pvesim.AnswerTimedOut, Apply: pvesim.ApplyNever},
				{Answer: pvesim.AnswerDrop}, {Refuse: pvesim.RefuseLock}, {Answer: pvesim.AnswerTruncated},
			}
			sim := simulate(t, pvesim.Options{Saved: held.saved, Hook: h.call})
			h.set(func(r pvesim.Request) pvesim.Fault {
				if r.N%7 == 0 {
					return kinds[r.N/7%len(kinds)]
				}
				return pvesim.Fault{}
			})
			all := racers(12)
			var group sync.WaitGroup
			for i, r := range all {
				client := sim.client(fmt.Sprintf("pve%d", i%3+1))
				group.Go(func() {
					d := ledger.Driver{Book: s.open(t, client, r.owner), Sleep: hurried, Grace: time.Second}
					r.result = d.Run(context.Background(), reserving(r.owner, r.wants...)(t))
				})
			}
			group.Wait()
			h.set(nil)
			for _, r := range all {
				r.result = s.run(t, sim.client("pve1"), r.owner, reserving(r.owner, r.wants...))
			}
			for _, r := range all { // those who lost to what a later one still had to give up
				r.result = s.run(t, sim.client("pve1"), r.owner, reserving(r.owner, r.wants...))
			}
			judge(t, s, sim, all)
		})
	}
}
