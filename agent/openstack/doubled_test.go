package openstack

import (
	"net/netip"
	"slices"
	"testing"

	"homeward/netplan"
)

// Neutron makes equal rules twice at times when two operators make them at once: one of
// ours stays while it is wanted, none after, and what was made by hand stays.
func TestADoubledRule(t *testing.T) {
	w := reservedWorld(t)
	count := func(from int) (ids []string) {
		for _, g := range w.groups {
			for _, r := range g.Rules {
				if r.From == from {
					ids = append(ids, r.ID)
				}
			}
		}
		return ids
	}
	var first string
	for _, g := range w.groups {
		for _, r := range slices.Clone(g.Rules) {
			if r.From == 50000 {
				first = r.ID
				r.ID += "-second"
				g.Rules = append([]GroupRule{r}, g.Rules...)
			}
		}
		g.Rules = append(g.Rules, GroupRule{ID: "0000-byhand", Rule: tcp(443, netip.Prefix{})})
	}
	reserve(t, planOf(t), &operator{world: w})
	if got := count(50000); !slices.Equal(got, []string{first}) {
		t.Errorf("of the doubled rule %s there are %v", first, got)
	}
	if got := count(443); len(got) != 2 {
		t.Errorf("ours and the one made by hand are %v", got)
	}
	for _, g := range w.groups {
		for _, r := range slices.Clone(g.Rules) {
			if r.From == 50000 {
				r.ID += "-second"
				g.Rules = append(g.Rules, r)
			}
		}
	}
	reserve(t, planOf(t, func(s *netplan.Spec) { s.Security = s.Security[:1] }), &operator{world: w})
	if got := count(50000); len(got) != 0 {
		t.Errorf("unwanted, and still there: %v", got)
	}
}
