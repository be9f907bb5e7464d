package returnpath

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

func preferring() Settings {
	s := testSettings()
	s.PreferMain = true
	return s
}

// mainRule is the one that PreferMain adds.
func mainRule() netplan.Rule {
	return netplan.Rule{
		Priority: 999, Source: netip.MustParsePrefix("0.0.0.0/0"), Mark: netplan.DefaultMark, Mask: netplan.DefaultMask,
		Action: netplan.ActionLookup, Table: 254, SuppressDefault: true, Protocol: netplan.AgentProtocol,
	}
}

func TestPreferMainIsOneRuleMore(t *testing.T) {
	want := append(Desired(testSettings(), &extLink, "").Rules, mainRule())
	got := Desired(preferring(), &extLink, "").Rules
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestPreferMainIsPutBackAndTakenAway(t *testing.T) {
	k, _ := converged(t, preferring())
	ours := func(r netplan.Rule) bool { return r == mainRule() }
	// A rule that does all but pass over the default route is not ours.
	k.rules = slices.DeleteFunc(k.rules, ours)
	lookalike := mainRule()
	lookalike.SuppressDefault, lookalike.Protocol = false, 3
	k.rules = append(k.rules, lookalike)
	a, _ := newAgent(t, k, preferring(), time.Minute)
	steps, err := a.Plan(context.Background())
	want := []string{"add rule priority 999 fwmark 0x2000/0x2000 lookup 254 suppress_prefixlength 0"}
	if diff := cmp.Diff(want, texts(steps)); diff != "" || err != nil {
		t.Errorf("steps (-want +got), error %v:\n%s", err, diff)
	}
	k.rules = slices.DeleteFunc(k.rules, func(r netplan.Rule) bool { return r == lookalike })
	if st := a.Pass(context.Background()); !st.Ready || !slices.ContainsFunc(k.rules, ours) {
		t.Fatalf("not put back: %v, problems %+v", k.rules, st.Problems)
	}
	// An agent that is not asked for it any more takes it away.
	b, _ := newAgent(t, k, testSettings(), 2*time.Minute)
	if st := b.Pass(context.Background()); !st.Ready || slices.ContainsFunc(k.rules, ours) {
		t.Errorf("still there: %v, problems %+v", k.rules, st.Problems)
	}
}

func TestCleanupTakesPreferMainToo(t *testing.T) {
	k, _ := converged(t, preferring())
	removed, err := Cleanup(context.Background(), k, CleanupOptions{Managed: true})
	if err != nil || !slices.Contains(removed, "rule "+mainRule().String()) || slices.ContainsFunc(k.rules, func(r netplan.Rule) bool { return r.Protocol == netplan.AgentProtocol }) {
		t.Errorf("removed %q, left %v, error %v", removed, k.rules, err)
	}
}

// TestDigestOfBefore holds that an agent of before --prefer-main and one of after it
// agree on settings without it. Another digest is right only with another number in
// its first line.
func TestDigestOfBefore(t *testing.T) {
	const want = "5528fa9f08c5eee2"
	if got := fmt.Sprintf("%x", testSettings().Digest()); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestSettingsOfAFleet(t *testing.T) {
	other := testSettings()
	other.ExternalMAC = privMAC
	if a, b := testSettings().status(), other.status(); a != b {
		t.Errorf("nodes that differ by their NIC alone: %+v and %+v", a, b)
	}
	narrower := testSettings()
	narrower.Destinations = narrower.Destinations[:0]
	if a, b := testSettings().status(), narrower.status(); a.Digest == b.Digest || len(a.Digest) != 8 {
		t.Errorf("other destinations: %+v and %+v", a, b)
	}
}
