package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func shelves(set, pools Page, writeSet, writePools bool) (Shelf, Shelf) {
	return Shelf{Kind: IPSet, Book: NewRehearsal(set), Writable: writeSet, Right: "Sys.Modify on /"},
		Shelf{Kind: Pools, Book: NewRehearsal(pools), Writable: writePools, Right: "Pool.Allocate on /pool/hw-vmbr0-1"}
}

func TestOneSegmentHasOneRecord(t *testing.T) {
	claimed := has(Page{}, theirs, Held, 1)
	for name, c := range map[string]struct {
		set, pools           Page
		writeSet, writePools bool
		kind                 Kind
		says                 string
	}{
		"free, all rights":          {Page{}, Page{}, true, true, IPSet, ""},
		"free, no firewall":         {Page{}, Page{}, false, true, Pools, ""},
		"free, no rights":           {Page{}, Page{}, false, false, "", "Sys.Modify on /, or Pool.Allocate"},
		"empty records":             {Page{Exists: true}, Page{Exists: true}, false, true, Pools, ""},
		"claimed in the set":        {claimed, Page{}, true, true, IPSet, ""},
		"in the set, no firewall":   {claimed, Page{}, false, true, "", "1 claims are kept as ipset: the token needs Sys.Modify on /"},
		"claimed in pools":          {Page{}, claimed, true, true, Pools, ""},
		"in pools, firewall only":   {Page{}, claimed, true, false, "", "Pool.Allocate on /pool/hw-vmbr0-1"},
		"in both, all rights":       {claimed, claimed, true, true, IPSet, ""},
		"in both, no firewall":      {claimed, claimed, false, true, "", "Sys.Modify on /"},
		"in pools, no right at all": {Page{}, claimed, false, false, "", "kept as pools"},
	} {
		t.Run(name, func(t *testing.T) {
			set, pools := shelves(c.set, c.pools, c.writeSet, c.writePools)
			pair, err := Choose(context.Background(), set, pools)
			var right *RightError
			if c.says != "" {
				if !errors.As(err, &right) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || pair.Kind() != c.kind {
				t.Errorf("got %s, %v", pair.Kind(), err)
			}
		})
	}
}

func TestARecordThatCannotBeReadIsNotEmpty(t *testing.T) {
	set, pools := shelves(Page{}, Page{}, true, true)
	pools.Book = &stubborn{Book: pools.Book, errs: map[Op][]error{OpRead: {ErrRefused, nil, ErrRefused}}}
	if _, err := Choose(context.Background(), set, pools); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "pools") {
		t.Errorf("got %v", err)
	}
	pair, err := Choose(context.Background(), set, pools)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pair.Read(context.Background()); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsClaimedBesideTheOtherKind(t *testing.T) {
	for name, c := range map[string]struct {
		own, other Page
		yields     bool
		outcome    Outcome
		conflicts  int
	}{
		"another address is held there":     {Page{}, has(Page{}, theirs, Held, 9), false, Failed, 0},
		"a wanted address is held there":    {Page{}, has(Page{}, theirs, Held, 2), false, Lost, 1},
		"we have it there ourselves":        {Page{}, has(Page{}, ours, Held, 1), false, Failed, 0},
		"it is pending there for ever":      {Page{}, has(Page{}, theirs, Pending, 9), false, Failed, 0},
		"who yields does not wait":          {Page{}, has(Page{}, theirs, Pending, 9), true, Failed, 0},
		"what was held here before remains": {has(Page{}, ours, Held, 1), has(Page{}, theirs, Held, 2), false, Lost, 1},
	} {
		t.Run(name, func(t *testing.T) {
			own := NewRehearsal(c.own)
			pair := Pair{Book: own, kind: IPSet, other: NewRehearsal(c.other), yields: c.yields}
			m, err := reserve(wants(ForIngress, 1, 2))
			if err != nil {
				t.Fatal(err)
			}
			waits := 0
			result := Driver{Book: pair, Sleep: counting(&waits)}.Run(context.Background(), m)
			var wrong *WrongKindError
			if result.Outcome != c.outcome || len(result.Conflicts) != c.conflicts || !errors.As(result.Err, &wrong) {
				t.Errorf("%+v", result)
			}
			if len(own.Requests) > 0 {
				t.Errorf("it wrote %v", own.Requests)
			}
			if c.yields && waits > 0 {
				t.Error("it waits")
			}
		})
	}
}

// TestTwoKindsBegunAtOnce lets one side claim in the set and the other in pools,
// in every order of their first requests and then by turns, so that nobody loses
// patience: never do both get through, and never none.
func TestTwoKindsBegunAtOnce(t *testing.T) {
	const steps = 14
	for order := range 1 << steps {
		set, pools := NewRehearsal(Page{}), NewRehearsal(Page{})
		sides := []Pair{{Book: set, kind: IPSet, other: pools}, {Book: pools, kind: Pools, other: set, yields: true}}
		machines := make([]Machine, 2)
		for i, o := range []Owner{ours, theirs} {
			m, err := NewReserve(o, wants(ForIngress, byte(i+1)), now, DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			machines[i] = m
		}
		step := func(i int) bool {
			req := machines[i].Next()
			machines[i].Take(req.Do(context.Background(), sides[i]))
			return req.Op != OpDone
		}
		for n := range steps {
			step(order >> n & 1)
		}
		for going := true; going; {
			first, second := step(0), step(1)
			going = first || second
		}
		a, b := machines[0].Result().Outcome, machines[1].Result().Outcome
		if (a == Done) == (b == Done) {
			t.Fatalf("order %b: set %s, pools %s", order, a, b)
		}
	}
}
