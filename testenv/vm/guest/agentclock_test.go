//go:build linux

package guest_test

import (
	"strings"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/testenv/vm/guest"
)

// TestAgentOutlivesAClockSetBack holds that whoever sets the node's date stops
// nothing. The gateway ignores the anchor, so that replies depend on the agent's
// refresh of its neighbour entry.
func TestAgentOutlivesAClockSetBack(t *testing.T) {
	s := newSite(t)
	out, err := s.router.Command(t.Context(), "nft", "table arp gateway { chain in { type filter hook input priority 0; "+
		"iifname tagged arp saddr ip != "+siteNetwork+" arp saddr ip != 0.0.0.0 drop; }; }").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a := s.node()
	a.await("gateway found by a probe only", func(st returnpath.Status) bool { return ready(st) && st.Gateway.ProbeOnly })
	before := time.Now().Round(0)
	guest.SetClock(t, -time.Hour)
	passes := a.await("alive", func(returnpath.Status) bool { return true }).Passes

	t.Run("the resync goes on", func(t *testing.T) {
		st := a.await("three resyncs", func(st returnpath.Status) bool { return st.Passes >= passes+3 })
		if !st.Ready || !st.LastPass.Before(before) {
			t.Errorf("ready %v, last pass at %s, the clock was set back at %s", st.Ready, st.LastPass, before)
		}
	})
	t.Run("the refresh of the neighbour goes on", func(t *testing.T) {
		nic := find(t, guest.External).Attrs().Name
		for range 2 {
			run(t, "ip neigh del "+siteGateway+" dev "+nic)
			eventually(t, "the gateway's entry is back", func() bool {
				return strings.Contains(listing(t, "ip neigh show dev "+nic), siteGateway+" lladdr ")
			})
			s.home()
		}
	})
	t.Run("an agent that starts now is the later one", func(t *testing.T) {
		later := s.startAgent("127.0.0.1:9466", siteService+",203.0.113.90")
		later.await("ready", ready)
		a.await("given way", func(st returnpath.Status) bool { return has(st, returnpath.ProblemSuperseded) })
		s.home()
	})
}
