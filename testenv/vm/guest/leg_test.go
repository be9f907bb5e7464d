//go:build linux

package guest_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
	"homeward/testenv/vm/guest"
)

const (
	legSquatted = "203.0.113.75"
	legFree     = "203.0.113.76"
)

// bareBridge is a Proxmox VE host without a leg in VLAN 1691: vmbr0 with its uplink,
// and a squatting guest on a tagged port, as a VM with tag=1691 has it.
func bareBridge(t *testing.T) (squatter netplan.MAC) {
	t.Helper()
	guest.Require(t)
	uplink := find(t, guest.Uplink).Attrs().Name
	t.Cleanup(func() { run(t, "ip link del vmbr0") })
	for _, line := range []string{
		"ip link add vmbr0 type bridge vlan_filtering 1 vlan_default_pvid 1",
		"ip link set " + uplink + " master vmbr0",
		"ip link set " + uplink + " up",
		"ip link set vmbr0 up",
		"bridge vlan add dev " + uplink + " vid 1691",
	} {
		run(t, line)
	}
	partnerOnTrunk(t) // 203.0.113.1, the gateway beyond the uplink
	return taggedGuest(t, "tap100i1", legSquatted)
}

// taggedGuest plugs a guest with an address into VLAN 1691 of vmbr0.
func taggedGuest(t *testing.T, tap, address string) netplan.MAC {
	t.Helper()
	machine := newHost(t, "guest "+tap)
	run(t, "ip link add "+tap+" type veth peer name net1")
	net1, err := netlink.LinkByName("net1")
	must(t, err)
	must(t, netlink.LinkSetNsFd(net1, machine.FD()))
	must(t, machine.AddAddress("net1", netip.MustParsePrefix(address+"/24")))
	must(t, machine.SetUp("net1"))
	run(t, "ip link set "+tap+" master vmbr0 up")
	run(t, "bridge vlan add dev "+tap+" vid 1691 pvid untagged")
	run(t, "bridge vlan del dev "+tap+" vid 1")
	attrs, err := machine.Link("net1")
	must(t, err)
	return netplan.MAC(attrs.HardwareAddr)
}

func quietKernel() *kernel.Kernel { return kernel.New(slog.New(slog.NewTextHandler(io.Discard, nil))) }

func openLeg(t *testing.T) *kernel.Leg {
	t.Helper()
	leg, err := quietKernel().OpenLeg(t.Context(), kernel.LegConfig{Bridge: "vmbr0", VLAN: 1691})
	must(t, err)
	return leg
}

// asked probes the squatted and a free address from an interface.
func asked(t *testing.T, name string) segment.Report {
	t.Helper()
	w, err := quietKernel().OpenWire(t.Context(), name)
	must(t, err)
	defer func() { must(t, w.Close()) }()
	r, err := segment.Probe(t.Context(), w, segment.Question{
		Addresses: []netip.Addr{netip.MustParseAddr(legSquatted), netip.MustParseAddr(legFree)},
		Witnesses: []netip.Addr{netip.MustParseAddr(siteGateway)}, Rounds: 1, Wait: 500 * time.Millisecond,
	})
	must(t, err)
	return r
}

func stateOf(t *testing.T, r segment.Report, address string) segment.State {
	t.Helper()
	a, ok := r.Of(netip.MustParseAddr(address))
	if !ok {
		t.Fatalf("%s was not asked for", address)
	}
	return a.State
}

// hearsSegment holds that the leg sees who is there and who is not.
func hearsSegment(t *testing.T, name string, squatter netplan.MAC) {
	t.Helper()
	r := asked(t, name)
	if a, _ := r.Of(netip.MustParseAddr(legSquatted)); len(a.Holders) != 1 || a.Holders[0].MAC != squatter {
		t.Errorf("on %s: %+v, want %s", name, a, squatter)
	}
	if got := stateOf(t, r, legFree); got != segment.Free {
		t.Errorf("on %s: %s is %s: %s", name, legFree, got, r.Doubt())
	}
}

// bridgeState is all that a leg could leave behind.
func bridgeState(t *testing.T) string {
	t.Helper()
	state, err := exec.Command("bridge", "vlan", "show", "dev", "vmbr0").CombinedOutput()
	must(t, err)
	all, err := netlink.LinkList()
	must(t, err)
	for _, l := range all {
		if l.Type() == "vlan" {
			state = fmt.Appendf(state, "%s up %v alias %q\n", l.Attrs().Name, l.Attrs().Flags&net.FlagUp != 0, l.Attrs().Alias)
		}
	}
	return string(state)
}

func unchanged(t *testing.T, before string) {
	t.Helper()
	if after := bridgeState(t); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
}

func TestLegThatIsMissing(t *testing.T) {
	squatter := bareBridge(t)
	before := bridgeState(t)
	leg := openLeg(t)
	if leg.Name() != "vmbr0.1691" || len(leg.Made()) != 2 {
		t.Errorf("%s, made %q", leg.Name(), leg.Made())
	}
	hearsSegment(t, leg.Name(), squatter)

	t.Run("a second one listens too, and takes nothing away", func(t *testing.T) {
		second := openLeg(t)
		hearsSegment(t, second.Name(), squatter)
		must(t, second.Close())
		hearsSegment(t, leg.Name(), squatter)
	})
	t.Run("the host does not answer there for its other addresses", func(t *testing.T) {
		run(t, "ip address add 203.0.113.76/32 dev vmbr0")
		defer run(t, "ip address del 203.0.113.76/32 dev vmbr0")
		if answersBeyond(t, legFree) {
			t.Error("it does: a leg that listens must not serve")
		}
	})
	must(t, leg.Close())
	must(t, leg.Close())
	unchanged(t, before)
}

// answersBeyond says whether somebody answers the gateway for an address.
func answersBeyond(t *testing.T, address string) bool {
	t.Helper()
	partner := newHost(t, "asker")
	run(t, "ip link add tap200i1 type veth peer name net1")
	net1, err := netlink.LinkByName("net1")
	must(t, err)
	must(t, netlink.LinkSetNsFd(net1, partner.FD()))
	must(t, partner.SetUp("net1"))
	run(t, "ip link set tap200i1 master vmbr0 up")
	run(t, "bridge vlan add dev tap200i1 vid 1691 pvid untagged")
	var r segment.Report
	must(t, partner.Do(func() error {
		w, err := quietKernel().OpenWire(t.Context(), "net1")
		if err != nil {
			return err
		}
		defer w.Close()
		r, err = segment.Probe(t.Context(), w, segment.Question{
			Addresses: []netip.Addr{netip.MustParseAddr(address), netip.MustParseAddr(siteGateway)}, Rounds: 1, Wait: time.Second,
		})
		return err
	}))
	if !r.Proven {
		t.Fatal("the asker hears nobody: it shows nothing")
	}
	return stateOf(t, r, address) == segment.Taken
}

func TestLegThatIsThere(t *testing.T) {
	squatter := bareBridge(t)
	run(t, "ip link add link vmbr0 name vmbr0.1691 type vlan id 1691")
	run(t, "ip link set vmbr0.1691 alias operators up")
	before := bridgeState(t)

	// The measured trap: a squatted address looks free, so nothing must be called so.
	if got := stateOf(t, asked(t, "vmbr0.1691"), legSquatted); got != segment.Unknown {
		t.Errorf("deaf, and still %s is %s", legSquatted, got)
	}
	leg := openLeg(t)
	if want := "bridge vlan add dev vmbr0 vid 1691 self"; len(leg.Made()) != 1 || leg.Made()[0] != want {
		t.Errorf("made %q, want %q", leg.Made(), want)
	}
	hearsSegment(t, leg.Name(), squatter)
	must(t, leg.Close())
	unchanged(t, before)

	t.Run("with the bridge in the VLAN nothing is made", func(t *testing.T) {
		run(t, "bridge vlan add dev vmbr0 vid 1691 self")
		before := bridgeState(t)
		leg := openLeg(t)
		if len(leg.Made()) > 0 {
			t.Errorf("made %q", leg.Made())
		}
		hearsSegment(t, leg.Name(), squatter)
		must(t, leg.Close())
		unchanged(t, before)
	})
	t.Run("down", func(t *testing.T) {
		run(t, "ip link set vmbr0.1691 down")
		_, err := quietKernel().OpenLeg(t.Context(), kernel.LegConfig{Bridge: "vmbr0", VLAN: 1691})
		if err == nil || !strings.Contains(err.Error(), "ip link set vmbr0.1691 up") {
			t.Errorf("error %v, want the remedy", err)
		}
	})
}

// TestLegOfAKilledAgent leaves what a process leaves that dies at each step.
func TestLegOfAKilledAgent(t *testing.T) {
	squatter := bareBridge(t)
	before := bridgeState(t)
	const works = "half gone"
	for name, left := range map[string][]string{
		"born": {"ip link add link vmbr0 name hw-new.1691 type vlan id 1691"},
		"marked": {"ip link add link vmbr0 name hw-new.1691 type vlan id 1691",
			"ip link set hw-new.1691 alias homeward-agent:link"},
		"about to join": {"ip link add link vmbr0 name hw-new.1691 type vlan id 1691",
			"ip link set hw-new.1691 alias homeward-agent:link,vid"},
		"joined": {"ip link add link vmbr0 name hw-new.1691 type vlan id 1691",
			"ip link set hw-new.1691 alias homeward-agent:link,vid", "bridge vlan add dev vmbr0 vid 1691 self"},
		"at work": {"ip link add link vmbr0 name vmbr0.1691 type vlan id 1691",
			"ip link set vmbr0.1691 alias homeward-agent:link,vid", "bridge vlan add dev vmbr0 vid 1691 self", "ip link set vmbr0.1691 up"},
		works: {"ip link add link vmbr0 name vmbr0.1691 type vlan id 1691",
			"ip link set vmbr0.1691 alias homeward-agent:link,vid", "ip link set vmbr0.1691 up"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, line := range left {
				run(t, line)
			}
			leg := openLeg(t)
			if leg.Name() != "vmbr0.1691" || len(leg.Made()) == 0 {
				t.Errorf("%s, made %q", leg.Name(), leg.Made())
			}
			if name == works {
				hearsSegment(t, leg.Name(), squatter)
			}
			must(t, leg.Close())
			unchanged(t, before)
		})
	}
}

// TestLegThatAnOperatorTookOver gives our interface an address: it is theirs then.
func TestLegThatAnOperatorTookOver(t *testing.T) {
	bareBridge(t)
	leg := openLeg(t)
	run(t, "ip address add 203.0.113.2/24 dev vmbr0.1691")
	must(t, leg.Close())
	l, err := netlink.LinkByName("vmbr0.1691")
	if err != nil || l.Attrs().Alias != "" {
		t.Fatalf("alias %q, error %v: it should stand, unmarked", l.Attrs().Alias, err)
	}
	if !answersBeyond(t, "203.0.113.2") {
		t.Error("it does not work for its new owner")
	}
}

// TestLegOfABridgeThatDoesNotFilter has the VLAN where Proxmox VE puts it there: on
// the port, under a bridge of its own.
func TestLegOfABridgeThatDoesNotFilter(t *testing.T) {
	guest.Require(t)
	uplink := find(t, guest.Uplink).Attrs().Name
	t.Cleanup(func() { run(t, "ip link del vmbr0") })
	for _, line := range []string{
		"ip link add vmbr0 type bridge", "ip link set vmbr0 up",
		"ip link set " + uplink + " master vmbr0", "ip link set " + uplink + " up",
	} {
		run(t, line)
	}
	partnerOnTrunk(t)
	t.Run("a VLAN that no guest uses here", func(t *testing.T) {
		leg := openLeg(t)
		if r := asked(t, leg.Name()); !r.Proven {
			t.Errorf("on %s, made %q: %s", leg.Name(), leg.Made(), r.Doubt())
		}
		must(t, leg.Close())
		if _, err := netlink.LinkByName("vmbr0.1691"); err == nil {
			t.Error("vmbr0.1691 was left")
		}
	})
	t.Run("Proxmox's own bridge for the VLAN", func(t *testing.T) {
		t.Cleanup(func() { run(t, "ip link del vmbr0v1691"); run(t, "ip link del up.1691") })
		for _, line := range []string{
			"ip link add link " + uplink + " name up.1691 type vlan id 1691", "ip link set up.1691 up",
			"ip link add vmbr0v1691 type bridge", "ip link set vmbr0v1691 up", "ip link set up.1691 master vmbr0v1691",
		} {
			run(t, line)
		}
		leg := openLeg(t)
		if leg.Name() != "vmbr0v1691" || len(leg.Made()) > 0 {
			t.Errorf("%s, made %q", leg.Name(), leg.Made())
		}
		if r := asked(t, leg.Name()); !r.Proven {
			t.Error(r.Doubt())
		}
		must(t, leg.Close())
	})
}
