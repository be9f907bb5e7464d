package explore

import (
	"testing"

	"homeward/agent/ledger"
)

func scenarios() []Scenario {
	a, b, c := OwnerNamed("edge", "a"), OwnerNamed("edge", "b"), OwnerNamed("edge-2", "a")
	empty := ledger.Page{}
	release := [][]ledger.Want{nil}
	runs := func(last ...byte) [][]ledger.Want { return [][]ledger.Want{Wants(last...)} }
	return []Scenario{
		{
			Name:  "two reservers with one address in common",
			Start: empty,
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
			},
		},
		{
			Name:  "two reservers and a releaser with one address in common",
			Start: Has(empty, c, ledger.Held, 2, 4),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
				{Name: "C", Owner: c, Runs: release, Faults: 1},
			},
		},
	}
}

func TestEveryOrderOfRequestsAndFaults(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			sc.Most = 6_000_000
			found, err := Search(NewModel(sc.Start), sc)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(found)
			for outcome, n := range found.Outcomes {
				t.Logf("%8d %s", n, outcome)
			}
			if found.Violation != "" {
				t.Fatal(found.Violation)
			}
			if !found.Complete {
				t.Error("the search was cut")
			}
		})
	}
}
