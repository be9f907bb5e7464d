//go:build linux

package guest_test

import (
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"homeward/agent/returnpath"
	"homeward/testenv/vm/guest"
)

func TestAgentFindsItsNICByThePermanentMAC(t *testing.T) {
	s := newSite(t)
	a := s.node()
	nic := find(t, guest.External)
	ours := func(st returnpath.Status) bool {
		return ready(st) && st.Uplink != nil && st.Uplink.Index == nic.Attrs().Index
	}
	mac := guest.MAC(guest.External).String()
	for name, copied := range map[string][]string{
		"a bridge":                  {"ip link add copy address " + mac + " type bridge"},
		"a macvlan on the same NIC": {"ip link add copy link NIC address " + mac + " type macvlan"},
		"a macvlan on another NIC":  {"ip link add copy link private address " + mac + " type macvlan", "ip link set copy up"},
		"a veth":                    {"ip link add copy address " + mac + " type veth peer name copy-peer"},
	} {
		t.Run("beside "+name+" with its MAC", func(t *testing.T) {
			t.Cleanup(func() { run(t, "ip link del copy") })
			for _, line := range copied {
				run(t, strings.Replace(line, "NIC", nic.Attrs().Name, 1))
			}
			passes := a.await("alive", func(returnpath.Status) bool { return true }).Passes
			if st := a.await("a later pass", func(st returnpath.Status) bool { return st.Passes > passes+1 }); !ours(st) {
				t.Errorf("uplink %+v, problems %+v", st.Uplink, st.Problems)
			}
			s.home()
		})
	}
	t.Run("under another name", func(t *testing.T) {
		must(t, netlink.LinkSetDown(nic))
		must(t, netlink.LinkSetName(nic, "ens27"))
		a.await("found as ens27", func(st returnpath.Status) bool { return ours(st) && st.Uplink.Name == "ens27" })
		s.home()
	})
	t.Run("under another current MAC", func(t *testing.T) {
		other := net.HardwareAddr{2, 0, 0, 0, 0, 0x44}
		must(t, netlink.LinkSetHardwareAddr(nic, other))
		s.announce(other)
		st := a.await("seen with its other MAC", func(st returnpath.Status) bool {
			return ours(st) && st.Uplink.MAC.String() == other.String()
		})
		if st.Uplink.PermanentMAC.String() != mac {
			t.Errorf("uplink %+v", st.Uplink)
		}
		s.home()
	})
	t.Run("while another link has the MAC that was its own", func(t *testing.T) {
		run(t, "ip link add copy address "+mac+" type bridge")
		t.Cleanup(func() { run(t, "ip link del copy") })
		passes := a.await("alive", func(returnpath.Status) bool { return true }).Passes
		if st := a.await("a later pass", func(st returnpath.Status) bool { return st.Passes > passes+1 }); !ours(st) {
			t.Errorf("uplink %+v, problems %+v", st.Uplink, st.Problems)
		}
		s.home()
	})
}

// listing is what the command prints.
func listing(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func TestAgentOutlivesAReplug(t *testing.T) {
	s := newSite(t)
	a := s.node()
	before := a.await("ready", ready)
	guest.Unplug(t, guest.External)

	gone := a.await("told that the NIC is missing", func(st returnpath.Status) bool { return has(st, returnpath.ProblemNICMissing) })
	if gone.Ready || gone.Uplink != nil {
		t.Errorf("ready %v, uplink %+v", gone.Ready, gone.Uplink)
	}
	code, why, err := a.get("/readyz")
	if must(t, err); code != http.StatusServiceUnavailable || !strings.Contains(string(why), guest.MAC(guest.External).String()) {
		t.Errorf("/readyz: %d %s", code, why)
	}
	passes := gone.Passes
	a.await("two more passes", func(st returnpath.Status) bool { return st.Passes > passes+1 })
	if table := listing(t, "nft list table inet homeward"); strings.Count(table, "ct direction reply") != 2 {
		t.Errorf("the restoring rules are gone:\n%s", table)
	}
	if rules := listing(t, "ip rule"); !strings.Contains(rules, "unreachable") || !strings.Contains(rules, "lookup 251") {
		t.Errorf("the routing rules are gone:\n%s", rules)
	}
	if n := s.leaked(func() { s.ask(deafFor) }); n > 0 {
		t.Errorf("%d packets for the client left by the private NIC", n)
	}

	// It comes back DOWN and with another index: see TestReplug.
	guest.Plug(t, guest.External)
	first := a.await("found again", func(st returnpath.Status) bool { return st.Uplink != nil })
	if first.Uplink.Index == before.Uplink.Index {
		t.Errorf("link index %d as before", first.Uplink.Index)
	}
	for _, p := range first.Problems {
		if p.Kind != returnpath.ProblemGateway { // nobody has asked it yet
			t.Errorf("after the first pass with the NIC: %+v", p)
		}
	}
	s.home()
	after := a.await("ready", ready)
	if after.Repairs["link"] != before.Repairs["link"]+1 {
		t.Errorf("the link was brought up %d times", after.Repairs["link"]-before.Repairs["link"])
	}
}

// TestRepliesLeakWithoutTheRules shows that leaked can see a leak at all.
func TestRepliesLeakWithoutTheRules(t *testing.T) {
	s := newSite(t)
	if n := s.leaked(func() { s.ask(deafFor) }); n == 0 {
		t.Error("without an agent no reply leaves by the private NIC")
	}
}
