package explore

import (
	"flag"
	"testing"

	"homeward/agent/ledger"
)

// runs is one run, repeated when need be.
func runs(last ...byte) [][]ledger.Want { return [][]ledger.Want{Wants(last...)} }

// scenarios are what is searched. Two clusters have one name, and two share an id,
// as after a copied homeward.id.
func scenarios() []Scenario {
	a, b, c := OwnerNamed("edge", "a"), OwnerNamed("edge", "b"), OwnerNamed("edge-2", "a")
	empty, release := ledger.Page{}, [][]ledger.Want{nil}
	return []Scenario{
		{
			Name:  "two reservers and a releaser with one address in common",
			Start: Has(empty, c, ledger.Held, 2, 4),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
				{Name: "C", Owner: c, Runs: release, Faults: 1},
			},
		},
		{
			Name:  "two reservers of the same addresses",
			Start: empty,
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(1, 2), Faults: 1},
			},
		},
		{
			Name:  "three reservers in a ring",
			Start: empty,
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2)},
				{Name: "B", Owner: b, Runs: runs(2, 3)},
				{Name: "C", Owner: c, Runs: runs(1, 3)},
			},
		},
		{
			Name:  "leftovers out of order on both sides",
			Start: Has(Has(empty, a, ledger.Pending, 2), b, ledger.Pending, 1), Disordered: true,
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(1, 2), Faults: 1},
			},
		},
		{
			Name:  "leftovers of the same plan on both sides",
			Start: Has(Has(empty, a, ledger.Pending, 1), b, ledger.Pending, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
			},
		},
		{
			Name:  "a leftover that is no longer wanted",
			Start: Has(empty, a, ledger.Pending, 3), Disordered: true,
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
			},
		},
		{
			Name:  "a pool that moves to an address which another takes",
			Start: Has(empty, a, ledger.Held, 1, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(2, 3), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(3, 4), Faults: 1},
			},
		},
		{
			Name:  "a pool that gives up what another waits for",
			Start: Has(empty, a, ledger.Held, 1, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
			},
		},
		{
			Name:  "two operators of one cluster and a third party",
			Start: empty,
			Processes: []Process{
				{Name: "A1", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "A2", Owner: a, Runs: runs(1, 2)},
				{Name: "B", Owner: b, Runs: runs(2, 3)},
			},
		},
		{
			Name:  "a release that did not end and then a reservation",
			Start: Has(empty, a, ledger.Held, 1, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: [][]ledger.Want{nil, Wants(1, 2)}, Faults: 1},
				{Name: "B", Owner: b, Runs: runs(2, 3), Faults: 1},
			},
		},
		{
			Name:  "a change that did not end and then the old plan again",
			Start: Has(empty, a, ledger.Held, 1, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: [][]ledger.Want{Wants(2, 3), Wants(1, 2)}, Faults: 1},
				{Name: "B", Owner: b, Runs: runs(1, 3), Faults: 1},
			},
		},
		{
			Name:  "a dead cluster's claims are released while its address is reserved",
			Start: Has(Has(empty, c, ledger.Pending, 1), c, ledger.Held, 2),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "C", Owner: c, Runs: release, Faults: 1},
			},
		},
		{
			Name:  "claims by hand stay, also wider ones",
			Start: ByHand(ByHand(empty, "192.0.2.2/32", "printer"), "192.0.2.4/30", ""),
			Processes: []Process{
				{Name: "A", Owner: a, Runs: runs(1, 2), Faults: 1},
				{Name: "B", Owner: b, Runs: runs(1, 3), Faults: 1},
				{Name: "C", Owner: c, Runs: runs(3, 5), Faults: 1},
			},
		},
	}
}

var all = flag.Bool("all", false, "search the largest scenario over the model as well")

// enough states for every scenario: the largest has 3.4 million.
const enough = 8_000_000

func TestEveryOrderOfRequestsAndFaults(t *testing.T) {
	t.Parallel()
	for i, sc := range scenarios() {
		// The first takes most of the time; the simulator's test has it in any case.
		if i == 0 && !*all {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			sc.Most = enough
			explore(t, NewModel(sc.Start), sc)
		})
	}
}

// TestWithoutVersions is the record in resource pools, where nothing guards a
// removal: what is done late there can hit the wrong one, so nothing is.
func TestWithoutVersions(t *testing.T) {
	for _, sc := range scenarios() {
		// Two commands of one owner can do each other's removals there, late for one
		// of them.
		if owners(sc) < len(sc.Processes) {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			sc.Most, sc.Prompt = enough, true
			model := NewModel(sc.Start)
			model.Unguarded = true
			explore(t, model, sc)
		})
	}
}

func owners(sc Scenario) int {
	set := map[ledger.Owner]bool{}
	for _, p := range sc.Processes {
		set[p.Owner] = true
	}
	return len(set)
}

func explore(t *testing.T, server Server, sc Scenario) {
	t.Helper()
	found, err := Search(server, sc)
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
}
