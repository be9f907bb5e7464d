package explore

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"homeward/agent/ledger"
)

// most is how many processes a scenario can have.
const most = 3

// Process is one command that runs against the server, and what is run after it
// when it was killed or ended without knowing.
type Process struct {
	Name  string
	Owner ledger.Owner
	// Runs are the wants of each run in turn; a run without wants is a release.
	// After the last one, it is the one that is run again.
	Runs [][]ledger.Want
	// Faults is how often it is killed or left without an answer, 0 or 1.
	Faults int
}

// Scenario is what a search begins with.
type Scenario struct {
	Name      string
	Start     ledger.Page
	Processes []Process
	// Prompt says that a request is done at once or never: no answer is given, but
	// nothing happens later.
	Prompt bool
	// Loose says that what is done late can take away a pending entry of somebody
	// else, who finds that out before holding it and makes it again, and can make a
	// held one pending. So it is with resource pools.
	Loose bool
	// Disordered says that somebody has leftovers of another plan, above what it
	// still has to claim. When they are given up just as another loses patience over
	// them, both can lose; then both run again.
	Disordered bool
	// Most is how many states are searched before the search is cut.
	Most int
}

// Found is what a search found.
type Found struct {
	States, Ends int
	// Complete says that every state that can be reached was visited.
	Complete bool
	// Outcomes counts, over all ends, how the processes ended.
	Outcomes map[string]int
	// Violation is the first fault found with the steps that led to it, empty if
	// there is none.
	Violation string
}

// String sums it up in a line.
func (f Found) String() string {
	whole := "complete"
	if !f.Complete {
		whole = "CUT"
	}
	return fmt.Sprintf("%d states, %d ends, search %s", f.States, f.Ends, whole)
}

// limits are those of the machines in a search: few waits, because each makes
// states, and no bound on tries, so that none has to be counted.
func limits() ledger.Limits { return ledger.Limits{Patience: 1, Poll: 1} }

// epoch is when every run begins: entries that are made again look the same, so
// that a late request has the best chance to hit the wrong one.
func epoch() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// start gives the machine of a process's run.
func (p Process) start(run int) (ledger.Machine, error) {
	wants := p.wants(run)
	if len(wants) == 0 {
		return ledger.NewRelease(p.Owner, limits())
	}
	return ledger.NewReserve(p.Owner, wants, epoch(), limits())
}

func (p Process) wants(run int) []ledger.Want { return p.Runs[min(run, len(p.Runs)-1)] }

// Wants gives wants of 192.0.2.N for each N.
func Wants(last ...byte) []ledger.Want {
	var wants []ledger.Want
	for _, n := range last {
		wants = append(wants, ledger.Want{Address: addr(n), Purpose: ledger.ForIngress})
	}
	return wants
}

func addr(last byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, last}) }

// OwnerNamed gives an owner with an id made of one digit.
func OwnerNamed(name, digit string) ledger.Owner {
	return ledger.Owner{ID: strings.Repeat(digit, 16), Cluster: name}
}

// Has gives a page with more entries of an owner.
func Has(page ledger.Page, o ledger.Owner, s ledger.State, last ...byte) ledger.Page {
	page.Exists = true
	for _, n := range last {
		page = with(page, ledger.Request{Address: addr(n), Record: ledger.Record{
			Owner: o, Purpose: ledger.ForIngress, State: s, Since: epoch(),
		}})
	}
	return page
}

// ByHand gives page and an entry that somebody made by hand.
func ByHand(page ledger.Page, prefix, comment string) ledger.Page {
	page.Exists = true
	page.Entries = append(slices.Clone(page.Entries), ledger.NewEntry(netip.MustParsePrefix(prefix), comment))
	ledger.SortEntries(page.Entries)
	return page
}
