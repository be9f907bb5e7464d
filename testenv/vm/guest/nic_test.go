//go:build linux

package guest_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"homeward/testenv/vm/guest"
)

// soon is time to spare for a kernel whose processor is emulated.
const soon = 20 * time.Second

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command in the machine's own namespace, in cleanups too.
func run(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// links gives the links here that have that permanent address.
func links(t *testing.T, permanent net.HardwareAddr) []netlink.Link {
	t.Helper()
	all, err := netlink.LinkList()
	must(t, err)
	var found []netlink.Link
	for _, l := range all {
		if l.Attrs().PermHWAddr.String() == permanent.String() {
			found = append(found, l)
		}
	}
	return found
}

// find waits until the NIC is here.
func find(t *testing.T, nic string) netlink.Link {
	t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if found := links(t, guest.MAC(nic)); len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("no link has the permanent address %s of %s within %s", guest.MAC(nic), nic, soon)
	return nil
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %s: %s", soon, what)
}

func TestPermanentAddress(t *testing.T) {
	guest.Require(t)
	t.Run("a virtio NIC has one, and keeps it under another address", func(t *testing.T) {
		nic := find(t, guest.Alone)
		other := net.HardwareAddr{2, 0, 0, 0, 0, 9}
		must(t, netlink.LinkSetHardwareAddr(nic, other))
		t.Cleanup(func() { must(t, netlink.LinkSetHardwareAddr(nic, guest.MAC(guest.Alone))) })
		now := find(t, guest.Alone).Attrs()
		if now.Index != nic.Attrs().Index || now.HardwareAddr.String() != other.String() {
			t.Errorf("link %d has the address %s, want link %d with %s", now.Index, now.HardwareAddr, nic.Attrs().Index, other)
		}
	})
	for kind, line := range map[string]string{
		"veth":    "ip link add made type veth peer name peer",
		"bridge":  "ip link add made type bridge",
		"dummy":   "ip link add made type dummy",
		"macvlan": "ip link add made link lo type macvlan",
		"vlan":    "ip link add made link lo type vlan id 5",
	} {
		t.Run("a "+kind+" has none", func(t *testing.T) {
			nic := find(t, guest.Alone).Attrs().Name
			run(t, strings.Replace(line, "link lo", "link "+nic, 1))
			t.Cleanup(func() { run(t, "ip link del made") })
			made, err := netlink.LinkByName("made")
			must(t, err)
			if got := made.Attrs().PermHWAddr; len(got) != 0 {
				t.Errorf("permanent address %s", got)
			}
		})
	}
}

func TestReplug(t *testing.T) {
	guest.Require(t)
	before := find(t, guest.Alone).Attrs().Index
	guest.Unplug(t, guest.Alone)
	if left := links(t, guest.MAC(guest.Alone)); len(left) != 0 {
		t.Errorf("unplugged, but here: %v", left)
	}
	guest.Plug(t, guest.Alone)
	after := find(t, guest.Alone).Attrs()
	if after.Index == before {
		t.Errorf("index %d, the same as before", after.Index)
	}
	if after.Flags&net.FlagUp != 0 {
		t.Error("the link is up though nobody brought it up")
	}
}

func TestCable(t *testing.T) {
	guest.Require(t)
	nic := find(t, guest.Alone)
	must(t, netlink.LinkSetUp(nic))
	t.Cleanup(func() { must(t, netlink.LinkSetDown(nic)) })
	carrier := func(want netlink.LinkOperState) func() bool {
		return func() bool { return find(t, guest.Alone).Attrs().OperState == want }
	}
	eventually(t, "a carrier at first", carrier(netlink.OperUp))
	guest.SetCable(t, guest.Alone, false)
	eventually(t, "no carrier without a cable", carrier(netlink.OperDown))
	guest.SetCable(t, guest.Alone, true)
	eventually(t, "a carrier again", carrier(netlink.OperUp))
}

func TestClock(t *testing.T) {
	guest.Require(t)
	before := time.Now()
	t.Run("set back", func(t *testing.T) {
		guest.SetClock(t, -time.Hour)
		after := time.Now()
		if wall := after.Round(0).Sub(before.Round(0)); wall > -59*time.Minute {
			t.Errorf("the wall clock went by %s, want an hour back", wall)
		}
		if mono := after.Sub(before); mono < 0 || mono > time.Minute {
			t.Errorf("monotonic time went by %s", mono)
		}
	})
	if wall := time.Now().Round(0).Sub(before.Round(0)); wall < 0 || wall > time.Minute {
		t.Errorf("after the test the wall clock is off by %s", wall)
	}
}
