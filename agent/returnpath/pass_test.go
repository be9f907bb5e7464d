package returnpath

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

func TestPassWritesOnlyWhatDiffers(t *testing.T) {
	k := newNode()
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	if st := a.Pass(context.Background()); !st.Ready || len(k.writes) != 7 {
		t.Fatalf("first pass: ready %v, writes %q, problems %v", st.Ready, k.writes, st.Problems)
	}
	k.writes = nil
	for range 3 {
		if st := a.Pass(context.Background()); !st.Ready || len(k.writes) > 0 {
			t.Fatalf("idle pass: ready %v, writes %q", st.Ready, k.writes)
		}
	}
}

func TestPassCountsRepairsButNotTheInstallation(t *testing.T) {
	k := newNode()
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.Pass(context.Background())
	if got := a.Status().Repairs; len(got) != 0 {
		t.Fatalf("after the installation: %v", got)
	}
	k.table = netplan.TableListing{}
	k.rules = k.rules[1:]
	a.Pass(context.Background())
	want := map[string]uint64{"nft_table": 1, "ip_rule": 1}
	if diff := cmp.Diff(want, a.Status().Repairs); diff != "" {
		t.Errorf("repairs (-want +got):\n%s", diff)
	}
}

func TestPassBelievesTheListingAndNotTheCall(t *testing.T) {
	t.Run("failed, and yet done", func(t *testing.T) {
		k := newNode()
		k.lies = true
		a, _ := newAgent(t, k, testSettings(), time.Minute)
		if st := a.Pass(context.Background()); !st.Ready {
			t.Errorf("not ready: %v", st.Problems)
		}
	})
	t.Run("failed", func(t *testing.T) {
		k := newNode()
		k.broken["table-replace"] = true
		a, _ := newAgent(t, k, testSettings(), time.Minute)
		st := a.Pass(context.Background())
		if st.Ready || st.FailedPasses != 1 || !strings.Contains(st.Problems[0].Text, errFake.Error()) {
			t.Errorf("status %+v", st)
		}
		if !a.mustRetry(st) {
			t.Error("no retry before the resync")
		}
		if len(k.rules) != 5 {
			t.Errorf("a failing step kept others from being done: rules %v", k.rules)
		}
	})
}

func TestPassTriesAgainAtOnce(t *testing.T) {
	for undone, ready := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		k := newNode()
		k.undo = undone
		a, _ := newAgent(t, k, testSettings(), time.Minute)
		if st := a.Pass(context.Background()); st.Ready != ready {
			t.Errorf("undone %d times: ready %v, want %v", undone, st.Ready, ready)
		}
	}
}

func TestPassCarriesCountersOverAForeignFlush(t *testing.T) {
	k := newNode()
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.Pass(context.Background())
	c := netplan.Counters{Marked: netplan.Counter{Packets: 5, Bytes: 500}, Local: netplan.Counter{Packets: 2, Bytes: 80}}
	k.table.Counters = c
	a.Pass(context.Background())
	k.table = netplan.TableListing{}
	if st := a.Pass(context.Background()); st.Counters != c || k.table.Counters != c {
		t.Errorf("counters after a flush: status %v, kernel %v, want %v", st.Counters, k.table.Counters, c)
	}
}

func TestMissingNICKeepsTheRest(t *testing.T) {
	k := newNode()
	s := testSettings()
	a, _ := newAgent(t, k, s, time.Minute)
	a.Pass(context.Background())
	k.links = k.links[:2]
	k.routes = k.routes[:1] // the kernel takes them with the link
	k.writes = nil
	st := a.Pass(context.Background())
	if st.Ready || st.Problems[0].Kind != ProblemNICMissing {
		t.Errorf("status %+v", st)
	}
	if len(k.writes) > 0 {
		t.Errorf("wrote %v", k.writes)
	}
	k.table = netplan.TableListing{}
	a.Pass(context.Background())
	if k.table.Interface != "ens19" {
		t.Errorf("a flush while the NIC is away: rebuilt for %q, want the last known name", k.table.Interface)
	}
	back := extLink
	back.Index, back.Name, back.Up = 9, "ens27", false
	k.links = append(k.links, back)
	if st := a.Pass(context.Background()); !st.Ready {
		t.Errorf("after the return: %v", st.Problems)
	}
	if k.table.Interface != "ens27" || !k.links[2].Up {
		t.Errorf("after the return: table for %q, link %+v", k.table.Interface, k.links[2])
	}
}

func TestMissingNICAtStartStillRestoresMarks(t *testing.T) {
	k := newNode()
	k.links = k.links[:2]
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	a.Pass(context.Background())
	if n := len(k.table.Objects); n != 8 {
		t.Errorf("%d objects: %v", n, k.table.Objects)
	}
	if slices.ContainsFunc(k.table.Objects, func(o netplan.TableObject) bool { return strings.Contains(o.Text, "iifname") }) {
		t.Error("marks for a link without a name")
	}
}

func TestTheLaterAgentWins(t *testing.T) {
	k := newNode()
	old := testSettings()
	renewed := testSettings()
	renewed.Destinations = renewed.Destinations[:1:1]
	renewed.VIP = renewed.Gateway.Next()
	first, clock := newAgent(t, k, old, time.Minute)
	second, _ := newAgent(t, k, renewed, 2*time.Minute)
	ctx := context.Background()
	first.Pass(ctx)
	if st := second.Pass(ctx); !st.Ready {
		t.Fatalf("the later one is not ready: %v", st.Problems)
	}
	k.writes = nil
	st := first.Pass(ctx)
	if st.Ready || len(k.writes) > 0 || st.Problems[0].Kind != ProblemSuperseded {
		t.Errorf("the earlier one: ready %v, writes %v, problems %v", st.Ready, k.writes, st.Problems)
	}
	t.Run("a flush is left to the later one for a moment", func(t *testing.T) {
		k.table = netplan.TableListing{}
		clock.advance(deference / 2)
		if first.Pass(ctx); len(k.writes) > 0 {
			t.Errorf("wrote %v", k.writes)
		}
		clock.advance(deference)
		if st := first.Pass(ctx); !st.Ready || len(k.writes) == 0 {
			t.Errorf("the later one is dead: ready %v, writes %v", st.Ready, k.writes)
		}
	})
}

func TestPassReportsWhatItCannotList(t *testing.T) {
	for _, part := range []string{"links", "rules", "routes", "table", "legacy"} {
		t.Run(part, func(t *testing.T) {
			k, _ := converged(t, testSettings())
			a, _ := newAgent(t, k, testSettings(), 2*time.Minute)
			k.broken[part] = true
			st := a.Pass(context.Background())
			if st.Ready || st.Problems[0].Kind != ProblemNotListed || !a.mustRetry(st) {
				t.Errorf("status %+v", st)
			}
			if len(k.writes) > 0 {
				t.Errorf("wrote %v", k.writes)
			}
		})
	}
}

func TestPlanChangesNothing(t *testing.T) {
	k := newNode()
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	steps, err := a.Plan(context.Background())
	if err != nil || len(steps) != 7 || len(k.writes) > 0 {
		t.Errorf("steps %v, writes %v, error %v", texts(steps), k.writes, err)
	}
}

func TestStatusIsACopy(t *testing.T) {
	k, _ := converged(t, testSettings())
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	st := a.Pass(context.Background())
	st.Repairs["x"] = 1
	st.Uplink.Name = "changed"
	if again := a.Status(); again.Repairs["x"] != 0 || again.Uplink.Name != "ens19" {
		t.Errorf("status shares memory: %+v", again)
	}
}
