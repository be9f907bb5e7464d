package returnpath

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

// converged gives a node on which everything stands, and the agent's stamp.
func converged(t *testing.T, s Settings) (*fakeKernel, netplan.Stamp) {
	t.Helper()
	k := newNode()
	a, _ := newAgent(t, k, s, time.Minute)
	if st := a.Pass(context.Background()); !st.Ready {
		t.Fatalf("not ready: %+v", st.Problems)
	}
	k.writes = nil
	return k, a.self
}

func lookNow(k *fakeKernel, s Settings) (State, Actual) {
	actual := List(context.Background(), k, s.Table)
	var uplink *netplan.Link
	if l, err := FindUplink(actual.Links, s.ExternalMAC); err == nil {
		uplink = &l
	}
	return Desired(s, uplink, actual.Table.Interface), actual
}

func TestDiff(t *testing.T) {
	foreign := netplan.TableObject{Kind: netplan.KindRule, Where: chainOutput, Text: "[meta load mark]"}
	tests := []struct {
		name  string
		spoil func(k *fakeKernel, s *Settings)
		want  []string
	}{
		{"nothing to do", func(*fakeKernel, *Settings) {}, nil},
		{"table gone", func(k *fakeKernel, _ *Settings) { k.table = netplan.TableListing{} },
			[]string{"replace table inet homeward: table is missing"}},
		{"one element gone", func(k *fakeKernel, _ *Settings) { k.table.Objects = slices.Delete(k.table.Objects, 2, 3) },
			[]string{"replace table inet homeward: missing element in ingress4: 203.0.113.75-203.0.113.79"}},
		{"a foreign rule in our chain", func(k *fakeKernel, _ *Settings) { k.table.Objects = append(k.table.Objects, foreign) },
			[]string{"replace table inet homeward: foreign rule in output: [meta load mark]"}},
		{"our rule twice", func(k *fakeKernel, _ *Settings) {
			k.table.Objects = append(k.table.Objects, k.table.Objects[len(k.table.Objects)-1])
		}, []string{"replace table inet homeward: foreign rule in output: ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000"}},
		{"rules in another order", func(k *fakeKernel, _ *Settings) {
			o := k.table.Objects
			o[5], o[6] = o[6], o[5]
		}, []string{"replace table inet homeward: rules in another order"}},
		{"made by the nft pod", func(k *fakeKernel, _ *Settings) { k.table.Stamp = nil }, nil},
		{"link down", func(k *fakeKernel, _ *Settings) { k.links[2].Up = false }, []string{"set link ens19 up"}},
		{"link renamed", func(k *fakeKernel, _ *Settings) { k.links[2].Name = "eth7" }, []string{
			`replace table inet homeward: missing rule in prerouting: iifname "eth7" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000; foreign rule in prerouting: iifname "ens19" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000`}},
		{"link missing", func(k *fakeKernel, _ *Settings) { k.links = k.links[:2] }, nil},
		{"rule gone", func(k *fakeKernel, _ *Settings) {
			k.rules = slices.DeleteFunc(k.rules, func(r netplan.Rule) bool { return r.Priority == 1001 })
		}, []string{"add rule priority 1001 fwmark 0x2000/0x2000 lookup 251"}},
		{"rule gone, not ours to mend", func(k *fakeKernel, s *Settings) { s.Manage = false; k.rules = nil }, nil},
		{"new gateway", func(_ *fakeKernel, s *Settings) { s.Gateway = netip.MustParseAddr("203.0.113.2") }, []string{
			"add route default via 203.0.113.2 dev #3 table 251 metric 72",
			"delete route default via 203.0.113.1 dev #3 table 251 metric 72"}},
		{"gateway outside the network", func(k *fakeKernel, s *Settings) {
			s.Gateway = netip.MustParseAddr("198.51.100.1")
			k.routes = k.routes[:1]
		}, []string{
			"add route 203.0.113.0/25 dev #3 table 251 scope link metric 72",
			"add route 198.51.100.1/32 dev #3 table 251 scope link metric 72",
			"add route default via 198.51.100.1 dev #3 table 251 metric 72"}},
		{"a rule of ours that is no longer wanted", func(_ *fakeKernel, s *Settings) { s.VIP = netip.Addr{} }, []string{
			"delete rule priority 1000 from 203.0.113.80/32 lookup 251",
			"delete rule priority 1010 from 203.0.113.80/32 unreachable"}},
		{"rules not listed", func(k *fakeKernel, _ *Settings) { k.rules = nil; k.broken["rules"] = true }, nil},
		{"routes not listed", func(k *fakeKernel, _ *Settings) { k.routes = nil; k.broken["routes"] = true }, nil},
		{"table not listed", func(k *fakeKernel, _ *Settings) { k.table.Objects = nil; k.broken["table"] = true }, nil},
		{"same routes by Talos", func(k *fakeKernel, _ *Settings) {
			for i := range k.routes {
				k.routes[i].Protocol, k.routes[i].Metric = 4, 1024
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := testSettings()
			k, self := converged(t, s)
			tt.spoil(k, &s)
			desired, actual := lookNow(k, s)
			got := texts(Diff(desired, actual, s.Manage, self))
			if diff := cmp.Diff(tt.want, got, cmp.Transformer("empty", func(x []string) []string { return append([]string{}, x...) })); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffOfAnEmptyNodeAddsWhatFailsClosedFirst(t *testing.T) {
	s := testSettings()
	desired, actual := lookNow(newNode(), s)
	var got []string
	for _, step := range Diff(desired, actual, true, netplan.Stamp{}) {
		got = append(got, string(step.Op)+" "+string(step.Rule.Action))
	}
	want := []string{
		"rule-add unreachable", "rule-add unreachable", "route-add ", "route-add ", "rule-add lookup", "rule-add lookup", "table-replace ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func TestNothingIsDeletedOfAPartialListing(t *testing.T) {
	k, self := converged(t, testSettings())
	s := testSettings()
	s.VIP = netip.Addr{} // two rules are no longer wanted
	s.CIDR = netip.MustParsePrefix("203.0.113.0/24")
	desired, actual := lookNow(k, s)
	actual.RulesErr, actual.RoutesErr = errFake, errFake
	if steps := Diff(desired, actual, true, self); len(steps) > 0 {
		t.Errorf("steps %v", texts(steps))
	}
}

func TestStamps(t *testing.T) {
	other := netplan.Stamp{Start: 5 * time.Minute, Settings: [8]byte{9}}
	earlier := netplan.Stamp{Start: time.Second, Settings: [8]byte{9}}
	s := testSettings()
	k, self := converged(t, s)
	same := netplan.Stamp{Start: 5 * time.Minute, Settings: self.Settings}
	tests := []struct {
		name    string
		stamp   netplan.Stamp
		spoil   bool
		steps   int
		written netplan.Stamp
	}{
		{"later agent, other settings: give way", other, true, 0, netplan.Stamp{}},
		{"earlier agent, other settings: take over though the table is the same", earlier, false, 1, self},
		{"later agent, same settings: leave", same, false, 0, netplan.Stamp{}},
		{"later agent, same settings, damaged: repair in its name", same, true, 1, same},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			desired, actual := lookNow(k, s)
			actual.Table.Stamp = &tt.stamp
			if tt.spoil {
				actual.Table.Objects = actual.Table.Objects[1:]
			}
			steps := Diff(desired, actual, true, self)
			if len(steps) != tt.steps {
				t.Fatalf("steps %v, want %d", texts(steps), tt.steps)
			}
			if tt.steps == 1 && steps[0].Stamp != tt.written {
				t.Errorf("written by %v, want %v", steps[0].Stamp, tt.written)
			}
		})
	}
}

func TestTwoAgentsNeverBothGiveWay(t *testing.T) {
	a := netplan.Stamp{Start: time.Second, Settings: [8]byte{1}}
	b := netplan.Stamp{Start: time.Second, Settings: [8]byte{2}}
	_, aYields := Superseded(a, Actual{Table: netplan.TableListing{Stamp: &b}})
	_, bYields := Superseded(b, Actual{Table: netplan.TableListing{Stamp: &a}})
	if aYields == bYields {
		t.Errorf("both say %v", aYields)
	}
}

// TestApplyingTheDiffConverges spoils a node at random and holds the property
// that one round of steps gives the state, and a second has nothing to do.
func TestApplyingTheDiffConverges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		s := testSettings()
		k, self := converged(t, s)
		before := randomSpoil(rng, k)
		foreign := foreignThings(k)
		desired, actual := lookNow(k, s)
		for _, step := range Diff(desired, actual, true, self) {
			if err := step.apply(context.Background(), k); err != nil {
				t.Fatal(err)
			}
		}
		desired, actual = lookNow(k, s)
		if again := Diff(desired, actual, true, self); len(again) > 0 {
			t.Fatalf("round %d, spoiled by %v: still to do %v", round, before, texts(again))
		}
		if !slices.Equal(desired.Objects, actual.Table.Objects) {
			t.Fatalf("round %d: table differs", round)
		}
		if p := routingProblems(s, desired, actual); len(p) > 0 {
			t.Fatalf("round %d, spoiled by %v: %v", round, before, p)
		}
		if diff := cmp.Diff(foreign, foreignThings(k), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Fatalf("round %d: touched what is not ours:\n%s", round, diff)
		}
	}
}

func foreignThings(k *fakeKernel) []any {
	var out []any
	for _, r := range k.rules {
		if r.Protocol != netplan.AgentProtocol {
			out = append(out, r)
		}
	}
	for _, r := range k.routes {
		if r.Protocol != netplan.AgentProtocol {
			out = append(out, r)
		}
	}
	return out
}

// randomSpoil does some of the things that happen to a node.
func randomSpoil(rng *rand.Rand, k *fakeKernel) []string {
	spoils := []struct {
		name string
		do   func()
	}{
		{"drop an object", func() {
			if n := len(k.table.Objects); n > 0 {
				i := rng.IntN(n)
				k.table.Objects = slices.Delete(k.table.Objects, i, i+1)
			}
		}},
		{"double an object", func() {
			if n := len(k.table.Objects); n > 0 {
				k.table.Objects = append(k.table.Objects, k.table.Objects[rng.IntN(n)])
			}
		}},
		{"shuffle objects", func() {
			rng.Shuffle(len(k.table.Objects), func(i, j int) {
				k.table.Objects[i], k.table.Objects[j] = k.table.Objects[j], k.table.Objects[i]
			})
		}},
		{"flush", func() { k.table = netplan.TableListing{} }},
		{"unsign", func() { k.table.Stamp = nil }},
		{"drop a rule", func() {
			i := rng.IntN(len(k.rules))
			k.rules = slices.Delete(k.rules, i, i+1)
			if len(k.rules) == 0 {
				k.rules = newNode().rules
			}
		}},
		{"stale rule of ours", func() {
			k.rules = append(k.rules, netplan.Rule{
				Priority: netplan.Priority(1000 + rng.IntN(20)), Source: netip.MustParsePrefix("0.0.0.0/0"),
				Mark: 0x1000, Mask: 0x1000, Action: netplan.ActionLookup, Table: 250, Protocol: netplan.AgentProtocol,
			})
		}},
		{"drop our routes", func() { k.routes = k.routes[:1] }},
		{"stale route of ours", func() {
			k.routes = append(k.routes, netplan.Route{
				Table: 251, Destination: netip.MustParsePrefix("198.51.100.0/24"), Link: 3, Scope: netplan.ScopeLink,
				Metric: netplan.AgentRouteMetric, Protocol: netplan.AgentProtocol,
			})
		}},
		{"link down", func() { k.links[2].Up = false }},
		{"link renamed", func() { k.links[2].Name += "x" }},
		{"link replugged", func() {
			k.links[2].Index += 10
			k.links[2].Up = false
			k.routes = k.routes[:1]
		}},
	}
	var done []string
	for range rng.IntN(5) {
		s := spoils[rng.IntN(len(spoils))]
		s.do()
		done = append(done, s.name)
	}
	return done
}
