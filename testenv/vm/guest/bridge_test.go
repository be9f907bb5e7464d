//go:build linux

package guest_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"homeward/testenv/netlab"
	"homeward/testenv/vm/guest"
)

const (
	// heardWithin is how long a datagram may take, neighbour resolution included.
	heardWithin = 10 * time.Second
	// deafFor is how long nothing must come before it counts as nothing.
	deafFor = 2 * time.Second
)

// take moves a NIC into a host of the lab and brings it back when the test ends.
// Its name is then its own: the kernel's could be another NIC's by that time.
func take(t *testing.T, nic string, h *netlab.Host) (name string) {
	t.Helper()
	link := find(t, nic)
	if link.Attrs().Name != nic {
		must(t, netlink.LinkSetDown(link))
		must(t, netlink.LinkSetName(link, nic))
	}
	must(t, netlink.LinkSetNsFd(link, h.FD()))
	home, err := os.Open("/proc/self/ns/net")
	must(t, err)
	t.Cleanup(func() {
		must(t, h.Netlink().LinkSetNsFd(link, int(home.Fd())))
		must(t, home.Close())
	})
	return nic
}

func newHost(t *testing.T, name string) *netlab.Host {
	t.Helper()
	h, err := netlab.NewHost(name)
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// proxmoxBridge makes vmbr0 as Proxmox VE does for a VLAN-aware bridge: the
// uplink carries every VLAN of the cluster tagged, the bridge itself none, and
// vmbr0.1691 is the host's own leg in VLAN 1691.
func proxmoxBridge(t *testing.T) {
	t.Helper()
	uplink := find(t, guest.Uplink).Attrs().Name
	t.Cleanup(func() { run(t, "ip link del vmbr0") })
	for _, line := range []string{
		"ip link add vmbr0 type bridge vlan_filtering 1 vlan_default_pvid 1",
		"ip link set " + uplink + " master vmbr0",
		"ip link set " + uplink + " up",
		"ip link set vmbr0 up",
		"bridge vlan add dev " + uplink + " vid 1691",
		"ip link add link vmbr0 name vmbr0.1691 type vlan id 1691",
		"ip address add 203.0.113.2/24 dev vmbr0.1691",
		"ip link set vmbr0.1691 up",
	} {
		run(t, line)
	}
}

// partnerOnTrunk is a host at the other end of the uplink's wire that speaks
// VLAN 1691 tagged.
func partnerOnTrunk(t *testing.T) *netlab.Host {
	t.Helper()
	h := newHost(t, "partner")
	nic := take(t, guest.Partner, h)
	for _, argv := range [][]string{
		{"link", "set", nic, "up"},
		{"link", "add", "link", nic, "name", "tagged", "type", "vlan", "id", "1691"},
		{"link", "set", "tagged", "up"},
	} {
		_, err := h.Command(t.Context(), "ip", argv...).Output()
		must(t, err)
	}
	must(t, h.AddAddress("tagged", netip.MustParsePrefix("203.0.113.1/24")))
	return h
}

// hears says whether a datagram of the host arrives within that time.
func hears(t *testing.T, at net.PacketConn, from *netlab.Host, within time.Duration) bool {
	t.Helper()
	c, err := from.Dial(t.Context(), "udp4", at.LocalAddr().String())
	must(t, err)
	defer c.Close()
	buf := make([]byte, 64)
	for end := time.Now().Add(within); time.Now().Before(end); {
		// Unreachable while the neighbour is not resolved: the next one tells.
		_, _ = c.Write([]byte("anybody?"))
		must(t, at.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		_, _, err := at.ReadFrom(buf)
		if err == nil {
			return true
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	return false
}

func TestVLANAwareBridge(t *testing.T) {
	guest.Require(t)
	proxmoxBridge(t)
	partner := partnerOnTrunk(t)
	leg, err := net.ListenPacket("udp4", "203.0.113.2:7")
	must(t, err)
	t.Cleanup(func() { must(t, leg.Close()) })

	if hears(t, leg, partner, deafFor) {
		t.Error("vmbr0.1691 hears though the bridge itself is not in the VLAN")
	}
	run(t, "bridge vlan add dev vmbr0 vid 1691 self")
	if !hears(t, leg, partner, heardWithin) {
		t.Error("vmbr0.1691 is deaf though the bridge itself is in the VLAN")
	}

	t.Run("a virtual machine behind an untagged port", func(t *testing.T) {
		machine := newHost(t, "machine")
		run(t, "ip link add tap100i1 type veth peer name net1")
		net1, err := netlink.LinkByName("net1")
		must(t, err)
		must(t, netlink.LinkSetNsFd(net1, machine.FD()))
		must(t, machine.AddAddress("net1", netip.MustParsePrefix("203.0.113.75/24")))
		must(t, machine.SetUp("net1"))
		run(t, "ip link set tap100i1 master vmbr0 up")
		at, err := machine.ListenPacket("udp4", "203.0.113.75:7")
		must(t, err)
		t.Cleanup(func() { must(t, at.Close()) })

		if hears(t, at, partner, deafFor) {
			t.Error("it hears VLAN 1691 though its port is in VLAN 1")
		}
		run(t, "bridge vlan add dev tap100i1 vid 1691 pvid untagged")
		if !hears(t, at, partner, heardWithin) {
			t.Error("it is deaf though its port is in VLAN 1691")
		}
	})
}

func TestKernelHasLinkKindsAndNetem(t *testing.T) {
	guest.Require(t)
	for kind, lines := range map[string][]string{
		"dummy":  {"ip link add made type dummy"},
		"bond":   {"ip link add made type bond mode active-backup"},
		"vrf":    {"ip link add made type vrf table 77"},
		"vxlan":  {"ip link add made type vxlan id 7 dstport 4789"},
		"tun":    {"ip tuntap add dev made mode tap"},
		"netem":  {"ip link add made type dummy", "tc qdisc add dev made root netem delay 5ms loss 10%"},
		"bridge": {"ip link add made type bridge vlan_filtering 1"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Cleanup(func() { run(t, "ip link del made") })
			for _, line := range lines {
				run(t, line)
			}
		})
	}
}

// TestLabBehindVLANAwareBridge holds that the tests which make test-vm repeats run
// behind such a bridge, and not beside it.
func TestLabBehindVLANAwareBridge(t *testing.T) {
	guest.Require(t)
	t.Setenv("HOMEWARD_NETLAB_VLAN", "1691")
	// With it a client in the external network is answered without a return path.
	c, err := netlab.NewCluster(netlab.SubnetLayout)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	ports, err := c.Hosts()["switch"].Command(t.Context(), "bridge", "vlan").Output()
	must(t, err)
	if n := strings.Count(string(ports), "1691 PVID Egress Untagged"); n != 3 {
		t.Errorf("%d untagged ports, want those of two nodes and a client:\n%s", n, ports)
	}
	must(t, c.Serve(c.MatrixServices(c.Nodes[0])...))
	must(t, c.Announce(c.Addresses.Pool[0], c.Nodes[0]))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	must(t, c.OnLink.Request(ctx, netlab.TCP, netip.AddrPortFrom(c.Addresses.Pool[0], 8000), 64))
}
