package netplan_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// The faults of one allowlist come in the order of its hosts' names, not of a
// map.
func TestFaultsOfHostsAreInOrder(t *testing.T) {
	s := seed(t)
	hosts := map[string][]netip.Prefix{}
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("h%02d", i)
		hosts[name] = []netip.Prefix{prefix("198.51.100.7/24")}
		want = append(want, "security.talos."+name)
	}
	s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: hosts}}
	_, faults := netplan.Resolve(s)
	var got []string
	for _, f := range faults {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
