package returnpath

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"

	"github.com/google/go-cmp/cmp"
)

func TestFindUplink(t *testing.T) {
	veth := netplan.Link{Index: 5, Name: "veth0", MAC: extMAC}
	tap := netplan.Link{Index: 9, Name: "tap0", MAC: extMAC}
	bond := netplan.Link{Index: 6, Name: "bond0", MAC: extMAC, Stacked: true}
	stolen := netplan.Link{Index: 7, Name: "ens20", MAC: extMAC, PermanentMAC: privMAC}
	changed := netplan.Link{Index: 8, Name: "ens21", MAC: privMAC, PermanentMAC: extMAC}
	tests := []struct {
		name  string
		links []netplan.Link
		want  string
		err   error
	}{
		{"by permanent MAC", []netplan.Link{prvLink, extLink}, "ens19", nil},
		{"by permanent MAC though the current one is another", []netplan.Link{changed}, "ens21", nil},
		{"never by a current MAC that is not the permanent one", []netplan.Link{stolen}, "", ErrNoUplink},
		{"by current MAC where there is no permanent one", []netplan.Link{prvLink, veth}, "veth0", nil},
		{"not something stacked on it", []netplan.Link{extLink, bond}, "ens19", nil},
		{"not a copy of its MAC, like a bridge's", []netplan.Link{veth, extLink}, "ens19", nil},
		{"two by permanent MAC", []netplan.Link{extLink, changed}, "", ErrAmbiguousUplink},
		{"two by current MAC", []netplan.Link{veth, tap}, "", ErrAmbiguousUplink},
		{"none", []netplan.Link{prvLink}, "", ErrNoUplink},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FindUplink(tt.links, extMAC)
			if !errors.Is(err, tt.err) || got.Name != tt.want {
				t.Errorf("got %q, %v; want %q, %v", got.Name, err, tt.want, tt.err)
			}
			if errors.Is(err, ErrAmbiguousUplink) && !strings.Contains(err.Error(), tt.links[0].Name+", "+tt.links[1].Name) {
				t.Errorf("error %q does not name the two", err)
			}
		})
	}
}

func TestReversePath(t *testing.T) {
	pod := netplan.Link{Index: 12, Name: "cali1", Up: true}
	for _, link := range []netplan.Link{extLink, prvLink, pod} {
		for filter := range 3 {
			for validMark := range 2 {
				rp := netplan.ReversePath{RPFilter: filter, SrcValidMark: validMark}
				external := link.Index == extLink.Index
				want := filter == 1 && (external || validMark == 1)
				k, _ := converged(t, testSettings())
				k.links = append(k.links, pod)
				k.rp = map[string]netplan.ReversePath{link.Name: rp}
				desired, actual := lookNow(k, testSettings())
				got := checkReversePath(context.Background(), k, desired, actual)
				if (len(got) == 1) != want || len(got) > 1 {
					t.Errorf("%s %+v: %v, want a problem: %v", link.Name, rp, got, want)
				}
				if len(got) == 1 && (!got[0].Blocking || !strings.Contains(got[0].Text, link.Name) || !strings.Contains(got[0].Remedy, "rp_filter=2")) {
					t.Errorf("%s %+v: %+v", link.Name, rp, got[0])
				}
			}
		}
	}
}

// TestReversePathWhereMainIsPreferred: what is behind the default gateway stays out
// of reach of a strict check, and what the external link drops is another matter.
func TestReversePathWhereMainIsPreferred(t *testing.T) {
	pod := netplan.Link{Index: 12, Name: "cali1", Up: true}
	s := testSettings()
	s.PreferMain = true
	for link, want := range map[netplan.Link][]bool{extLink: {true}, prvLink: {false}, pod: nil} {
		k, _ := converged(t, s)
		k.links = append(k.links, pod)
		k.rp = map[string]netplan.ReversePath{link.Name: {RPFilter: 1, SrcValidMark: 1}}
		desired, actual := lookNow(k, s)
		var got []bool
		for _, p := range checkReversePath(context.Background(), k, desired, actual) {
			got = append(got, p.Blocking)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: which problems block (-want +got):\n%s", link.Name, diff)
		}
	}
}

func TestReversePathForgetsLinksThatGo(t *testing.T) {
	k, _ := converged(t, testSettings())
	k.rp = map[string]netplan.ReversePath{"gone:ens18": {RPFilter: 1}}
	desired, actual := lookNow(k, testSettings())
	if got := checkReversePath(context.Background(), k, desired, actual); len(got) > 0 {
		t.Errorf("problems %v", got)
	}
}

func TestCheckedRoutes(t *testing.T) {
	s := testSettings()
	s.Manage = false
	k, _ := converged(t, testSettings())
	k.rules = k.rules[:2] // the VIP's lookup and the mark's
	k.routes = append(k.routes[:2], netplan.Route{
		Table: 251, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("203.0.113.9"), Link: 3, Scope: netplan.ScopeGlobal, Protocol: 3,
	})
	desired, actual := lookNow(k, s)
	var got []string
	for _, p := range routingProblems(s, desired, actual) {
		got = append(got, p.Text)
	}
	want := []string{
		"rule priority 1011 fwmark 0x2000/0x2000 unreachable is missing",
		"rule priority 1010 from 203.0.113.80/32 unreachable is missing",
		"route default via 203.0.113.9 dev #3 table 251 takes the place of default via 203.0.113.1 dev #3 table 251 metric 72",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestTheLowerMetricDecides(t *testing.T) {
	for metric, problem := range map[uint32]bool{0: true, 50: true, 2000: false} {
		k, _ := converged(t, testSettings())
		k.routes = append(k.routes, netplan.Route{
			Table: 251, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("203.0.113.9"), Link: 3, Scope: netplan.ScopeGlobal, Metric: metric,
		})
		desired, actual := lookNow(k, testSettings())
		got := routingProblems(testSettings(), desired, actual)
		if (len(got) == 1 && got[0].Kind == ProblemRouteShadowed) != problem {
			t.Errorf("metric %d: %v, want a problem: %v", metric, got, problem)
		}
		if steps := additions(desired, actual); len(steps) > 0 {
			t.Errorf("metric %d: adds again what is there: %v", metric, texts(steps))
		}
	}
}

func TestShadowingRules(t *testing.T) {
	everywhere := netip.MustParsePrefix("0.0.0.0/0")
	base := netplan.Rule{Priority: 900, Source: everywhere, Action: netplan.ActionLookup, Table: 254}
	with := func(change func(*netplan.Rule)) netplan.Rule {
		r := base
		change(&r)
		return r
	}
	tests := []struct {
		name string
		rule netplan.Rule
		want bool
	}{
		{"everything to main", base, true},
		{"our mark to main", with(func(r *netplan.Rule) { r.Mark, r.Mask = 0x2000, 0x2000 }), true},
		{"everything but our mark", with(func(r *netplan.Rule) { r.Mark, r.Mask = 0, 0x2000 }), false},
		{"another mark", with(func(r *netplan.Rule) { r.Mark, r.Mask = 0x200, 0xf00 }), false},
		{"behind ours", with(func(r *netplan.Rule) { r.Priority = 2000 }), false},
		{"one source", with(func(r *netplan.Rule) { r.Source = netip.MustParsePrefix("10.0.0.5/32") }), false},
		{"everything but another's mark", with(func(r *netplan.Rule) { r.Mark, r.Mask, r.Others = 0x100000, 0x100000, "not" }), true},
		{"everything but our mark, said otherwise", with(func(r *netplan.Rule) { r.Mark, r.Mask, r.Others = 0x2000, 0x2000, "not" }), false},
		{"a selector more", with(func(r *netplan.Rule) { r.Others = "iif ens18" }), false},
		{"a table without a default route", with(func(r *netplan.Rule) { r.Table = 77 }), false},
		{"the earlier scheme's table, out of the same link", with(func(r *netplan.Rule) { r.Table = 100 }), false},
		{"everything to main, but its default route", with(func(r *netplan.Rule) { r.SuppressDefault = true }), false},
		{"our own table", with(func(r *netplan.Rule) { r.Table = 251 }), false},
		{"blackhole", with(func(r *netplan.Rule) { r.Action, r.Table = "action 6", 0 }), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, _ := converged(t, testSettings())
			k.rules = append(k.rules, tt.rule)
			k.routes = append(k.routes, netplan.Route{Table: 100, Destination: everywhere, Link: extLink.Index, Scope: netplan.ScopeGlobal})
			desired, actual := lookNow(k, testSettings())
			got := routingProblems(testSettings(), desired, actual)
			if (len(got) == 1 && got[0].Kind == ProblemRuleShadowed) != tt.want || len(got) > 1 {
				t.Errorf("problems %v, want one: %v", got, tt.want)
			}
		})
	}
}

// TestSharedMark holds that a rule for another's mark that has our bit is reported, and
// does not make the agent wait.
func TestSharedMark(t *testing.T) {
	for name, tt := range map[string]struct {
		mark netplan.Mark
		mask netplan.Mask
		want bool
	}{
		"NetBird's":            {0x1bd00, 0xffffffff, true},
		"Tailscale's":          {0x80000, 0xff0000, false},
		"Cilium's":             {0x200, 0xf00, false},
		"wg-quick's":           {0xca6c, 0xffffffff, false},
		"no mark":              {0, 0, false},
		"ours, compared whole": {0x2000, 0xffffffff, false},
	} {
		t.Run(name, func(t *testing.T) {
			k, _ := converged(t, testSettings())
			k.rules = append(k.rules, netplan.Rule{
				Priority: 2000, Source: netip.MustParsePrefix("0.0.0.0/0"), Mark: tt.mark, Mask: tt.mask,
				Action: netplan.ActionLookup, Table: 7120, Others: "not",
			})
			a, _ := newAgent(t, k, testSettings(), 2*60e9)
			st := a.Pass(context.Background())
			got := len(st.Problems) == 1 && st.Problems[0].Kind == ProblemMarkShared && strings.Contains(st.Problems[0].Text, tt.mark.String())
			if !st.Ready || got != tt.want || len(st.Problems) > 1 {
				t.Errorf("ready %v, problems %+v; want one: %v", st.Ready, st.Problems, tt.want)
			}
		})
	}
}

func TestLegacyIsReportedAndHarmless(t *testing.T) {
	k, _ := converged(t, testSettings())
	k.legacy = true
	k.rules = append(k.rules, netplan.Rule{Priority: 1001, Source: netip.MustParsePrefix("0.0.0.0/0"), Mark: 0x2000, Mask: 0xffffffff, Action: netplan.ActionLookup, Table: 100})
	a, _ := newAgent(t, k, testSettings(), 2*60e9)
	st := a.Pass(context.Background())
	if !st.Ready || len(st.Problems) != 1 || st.Problems[0].Kind != ProblemLegacy || !strings.Contains(st.Problems[0].Text, "lookup 100") {
		t.Errorf("ready %v, problems %+v", st.Ready, st.Problems)
	}
}

func TestDigest(t *testing.T) {
	base := testSettings()
	reordered := testSettings()
	r := base.Destinations[0]
	mid := netip.MustParseAddr("203.0.113.77")
	reordered.Destinations = netplan.AddressSet{{First: mid, Last: r.Last}, {First: r.First, Last: mid}}
	if base.Digest() != reordered.Digest() {
		t.Error("the same addresses in other ranges give another digest")
	}
	changes := map[string]func(*Settings){
		"mac":          func(s *Settings) { s.ExternalMAC[5]++ },
		"destinations": func(s *Settings) { s.Destinations = netplan.AddressSet{{First: r.First, Last: mid}} },
		"cidr":         func(s *Settings) { s.CIDR = netip.MustParsePrefix("203.0.113.0/24") },
		"gateway":      func(s *Settings) { s.Gateway = s.Gateway.Next() },
		"vip":          func(s *Settings) { s.VIP = netip.Addr{} },
		"mark":         func(s *Settings) { s.Mark = 0x1000 },
		"mask":         func(s *Settings) { s.Mask = 0x3000 },
		"table":        func(s *Settings) { s.Table = 252 },
		"priority":     func(s *Settings) { s.Priorities.Mark++ },
		"manage":       func(s *Settings) { s.Manage = false },
		"prefer main":  func(s *Settings) { s.PreferMain = true },
	}
	for name, change := range changes {
		s := testSettings()
		change(&s)
		if s.Digest() == base.Digest() {
			t.Errorf("%s does not enter the digest", name)
		}
	}
}
