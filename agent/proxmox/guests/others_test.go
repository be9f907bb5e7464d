package guests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// meanwhile lets somebody else act right after each write of a run in turn, and
// gives the guest after that run and one more.
func meanwhile(t *testing.T, make func() *fake, d Desired, act func(*testing.T, *fake)) (ends []*fake) {
	t.Helper()
	whole := make()
	if _, err := apply(whole, d, Options{}); err != nil {
		t.Fatal(err)
	}
	for k := range whole.writes {
		f, n := make(), 0
		f.each = func() {
			if n++; n == k+1 {
				f.each = nil
				act(t, f)
			}
		}
		if result, err := apply(f, d, Options{}); err != nil {
			t.Fatalf("somebody acts after write %d: %v, after %v", k, err, result.Done)
		}
		if _, err := apply(f, d, Options{}); err != nil {
			t.Fatalf("somebody acts after write %d, rerun: %v", k, err)
		}
		ends = append(ends, f)
	}
	return ends
}

// unordered is a guest's state with its rules in no order.
func unordered(f *fake) string {
	c := f.clone()
	slices.SortFunc(c.Rules, func(a, b map[string]string) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return c.state()
}

func TestApplyBesideOthers(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	for name, start := range map[string]func() *fake{"worker": worker, "bare": bare} {
		whole := start()
		if _, err := apply(whole, d, Options{}); err != nil {
			t.Fatal(err)
		}
		t.Run(name+" and a second run of the same", func(t *testing.T) {
			for _, f := range meanwhile(t, start, d, func(t *testing.T, f *fake) {
				if _, err := apply(f, d, Options{}); err != nil {
					t.Fatal(err)
				}
			}) {
				// Two that add rules at once may leave them in another order, which
				// means nothing: all of them let in.
				if diff := cmp.Diff(unordered(whole), unordered(f)); diff != "" {
					t.Fatalf("(-whole +this)\n%s", diff)
				}
			}
		})
		t.Run(name+" and sets deleted under it", func(t *testing.T) {
			for _, f := range meanwhile(t, start, d, func(_ *testing.T, f *fake) { clear(f.Sets) }) {
				for _, m := range d.Members {
					if !f.has("ipfilter-net1", canonical(m.Prefix)) {
						t.Fatalf("%s is not let out: %s", m.Prefix, f.state())
					}
				}
			}
		})
		t.Run(name+" and rules and members made by hand", func(t *testing.T) {
			rule := map[string]string{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "udp", "dport": "51820", "comment": "by hand"}
			for _, f := range meanwhile(t, start, d, func(_ *testing.T, f *fake) {
				f.Rules = slices.Insert(f.Rules, 0, rule)
				if set := f.Sets["ipfilter-net1"]; set != nil {
					set.Members = slices.Insert(set.Members, 0, fakeMember{CIDR: "192.0.2.66", Comment: "by hand"})
				}
			}) {
				if !slices.ContainsFunc(f.Rules, func(r map[string]string) bool { return r["comment"] == "by hand" }) {
					t.Fatal("a rule made meanwhile is lost")
				}
				for _, o := range d.Openings {
					want := o.rule(mark{owner}, "net0").Comment
					if slices.IndexFunc(f.Rules, func(r map[string]string) bool { return r["comment"] == want }) < 0 {
						t.Fatalf("no rule %s", want)
					}
				}
			}
		})
	}
}
