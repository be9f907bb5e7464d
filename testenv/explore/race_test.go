package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/agent/ledger"
)

// TestManyReserversAtOnce lets 24 reservers of overlapping plans run as
// goroutines. Each page that the record ever has is checked.
func TestManyReserversAtOnce(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { raceOnce(t, seed) })
	}
}

// racer is a reserver of the race.
type racer struct {
	owner  ledger.Owner
	wants  []ledger.Want
	result ledger.Result
}

// racers are 24 with plans of some addresses that overlap in a ring of 48.
func racers(each int) []*racer {
	var list []*racer
	for i := range 24 {
		owner := ledger.Owner{ID: fmt.Sprintf("%016x", i+1), Cluster: "edge" + strings.Repeat("-edge", i%3)}
		at := func(n int) byte { return byte(1 + (2*i+n)%48) }
		var last []byte
		for n := range each {
			last = append(last, at(n))
		}
		list = append(list, &racer{owner: owner, wants: Wants(last...)})
	}
	return list
}

func raceOnce(t *testing.T, seed uint64) {
	owners := map[string]ledger.Record{}
	last := ledger.Page{}
	book := NewMemory(ledger.Page{}, func(p ledger.Page) {
		// Called one at a time: no held entry ever changes or goes, because nobody
		// here gives anything up.
		for _, e := range last.Entries {
			now, _ := p.Of(e.Prefix.Addr())
			if e.Record.State == ledger.Held && now.Comment != e.Comment {
				t.Errorf("%s was held by %s and became %q", e.Prefix, e.Record.Owner.ID, now.Comment)
			}
		}
		last = p
	})
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	book.Delay = func() {
		mu.Lock()
		d := time.Duration(random.IntN(200)) * time.Microsecond
		mu.Unlock()
		time.Sleep(d)
	}
	racers := racers(5)
	race(t, racers, func(*racer) ledger.Book { return book }, time.Millisecond)

	winners := 0
	for _, r := range racers {
		checkRacer(t, last, r)
		if r.result.Outcome == ledger.Done {
			winners++
			for _, w := range r.wants {
				owners[w.Address.String()] = ledger.Record{Owner: r.owner}
			}
		}
	}
	if winners == 0 {
		t.Error("nobody got its plan")
	}
	if len(last.Entries) != len(owners) {
		t.Errorf("%d entries are left, winners have %d", len(last.Entries), len(owners))
	}
	t.Logf("%d of %d got their plans, %d writes", winners, len(racers), book.Writes())
}

// race runs all at once, every second of theirs taking as long as second says.
func race(t *testing.T, racers []*racer, book func(*racer) ledger.Book, second time.Duration) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for _, r := range racers {
		m, err := ledger.NewReserve(r.owner, r.wants, epoch(), ledger.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		driver := ledger.Driver{Book: book(r), Sleep: func(ctx context.Context, d time.Duration) error {
			return ledger.Sleep(ctx, time.Duration(d.Seconds()*float64(second)))
		}}
		wg.Go(func() {
			<-start
			r.result = driver.Run(context.Background(), m)
		})
	}
	close(start)
	wg.Wait()
}

// checkRacer checks that a winner has its plan, and a loser nothing and a reason.
func checkRacer(t *testing.T, page ledger.Page, r *racer) {
	t.Helper()
	owned := page.Owned(r.owner)
	switch r.result.Outcome {
	case ledger.Done:
		drift, err := ledger.DriftOf(page, r.wants, r.owner)
		if err != nil || drift.Any() {
			t.Errorf("%s is done with %+v (%v)", r.owner.ID, drift, err)
		}
	case ledger.Lost:
		if len(owned) > 0 {
			t.Errorf("%s lost and still has %s", r.owner.ID, describe(owned))
		}
		if len(r.result.Conflicts) == 0 {
			t.Errorf("%s lost and does not say to whom", r.owner.ID)
		}
	default:
		t.Errorf("%s ended %s: %v", r.owner.ID, r.result.Outcome, r.result.Err)
	}
}
