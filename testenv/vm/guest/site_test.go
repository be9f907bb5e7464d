//go:build linux

package guest_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"homeward/testenv/netlab"
	"homeward/testenv/vm/guest"
)

// The addresses of the site. Documentation networks, as in netlab.
const (
	siteVLAN    = "1691"
	siteNetwork = "203.0.113.0/24"
	siteGateway = "203.0.113.1"
	siteService = "203.0.113.75"
	siteAnchor  = "169.254.33.11/32"
	siteClient  = "198.51.100.10"
	siteNode    = "10.90.0.11"
	servicePort = 7
)

// site is a node as on Proxmox VE, with a client behind the external router:
//
//	node (this machine) external ~ port vmbr0 uplink ~ partner.1691 router far - client
//	                    private  - gateway, which leads nowhere
//
// vmbr0 is VLAN-aware: untagged towards the node, tagged towards the router. The
// node is the machine's own network, where a NIC that is plugged in again appears.
// It answers a client from its own network, the case that plain marking forgets.
type site struct {
	t                       *testing.T
	router, client, gateway *netlab.Host
}

func newSite(t *testing.T) *site {
	t.Helper()
	guest.Require(t)
	s := &site{t: t, router: partnerOnTrunk(t), client: newHost(t, "client"), gateway: newHost(t, "private gateway")}
	proxmoxHost(t)
	must(t, netlab.Connect(s.router, "far", s.client, "eth0"))
	must(t, s.router.AddAddress("far", netip.MustParsePrefix("198.51.100.1/24")))
	must(t, s.router.SetSysctl("net/ipv4/ip_forward", "1"))
	must(t, s.client.AddAddress("eth0", netip.MustParsePrefix(siteClient+"/24")))
	must(t, s.client.AddRoute(netlab.Route{Via: netip.MustParseAddr("198.51.100.1")}))
	s.privateSide()
	s.plugged()
	s.announce(guest.MAC(guest.External))
	s.serve()
	return s
}

// proxmoxHost is the node's hypervisor.
func proxmoxHost(t *testing.T) {
	t.Helper()
	pve := newHost(t, "pve")
	port, uplink := take(t, guest.Port, pve), take(t, guest.Uplink, pve)
	must(t, pve.Do(func() error {
		for _, argv := range [][]string{
			{"ip", "link", "add", "vmbr0", "type", "bridge", "vlan_filtering", "1", "vlan_default_pvid", "1"},
			{"ip", "link", "set", uplink, "master", "vmbr0", "up"},
			{"ip", "link", "set", port, "master", "vmbr0", "up"},
			{"ip", "link", "set", "vmbr0", "up"},
			{"bridge", "vlan", "add", "dev", uplink, "vid", siteVLAN},
			{"bridge", "vlan", "add", "dev", port, "vid", siteVLAN, "pvid", "untagged"},
		} {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				return errors.Join(err, errors.New(string(out)))
			}
		}
		return nil
	}))
}

// privateSide gives the node its private NIC with the default route.
func (s *site) privateSide() {
	s.t.Helper()
	run(s.t, "ip link add private type veth peer name towards-node")
	s.t.Cleanup(func() { run(s.t, "ip link del private") })
	peer, err := netlink.LinkByName("towards-node")
	must(s.t, err)
	must(s.t, netlink.LinkSetNsFd(peer, s.gateway.FD()))
	must(s.t, s.gateway.AddAddress("towards-node", netip.MustParsePrefix("10.90.0.1/24")))
	must(s.t, s.gateway.SetUp("towards-node"))
	run(s.t, "ip link set lo up")
	run(s.t, "ip address add "+siteNode+"/24 dev private")
	run(s.t, "ip link set private up")
	run(s.t, "ip route add default via 10.90.0.1 dev private")
}

// plugged gives the external NIC what Talos gives it, and takes it off again in
// the end, under whatever name it then has.
func (s *site) plugged() {
	s.t.Helper()
	name := find(s.t, guest.External).Attrs().Name
	run(s.t, "ip address add "+siteAnchor+" dev "+name)
	run(s.t, "ip link set "+name+" up")
	s.t.Cleanup(func() {
		if len(links(s.t, guest.MAC(guest.External))) == 0 {
			guest.Plug(s.t, guest.External)
		}
		now := find(s.t, guest.External)
		must(s.t, netlink.LinkSetDown(now))
		must(s.t, netlink.LinkSetHardwareAddr(now, guest.MAC(guest.External)))
		run(s.t, "ip address flush dev "+now.Attrs().Name)
	})
}

// announce tells the router who has the service's address, as MetalLB would.
func (s *site) announce(mac net.HardwareAddr) {
	s.t.Helper()
	must(s.t, s.router.AddNeighbour("tagged", netip.MustParseAddr(siteService), mac))
}

// serve answers on the node and leads the service's address there.
func (s *site) serve() {
	s.t.Helper()
	port := strconv.Itoa(servicePort)
	at, err := net.ListenPacket("udp4", siteNode+":"+port)
	must(s.t, err)
	s.t.Cleanup(func() { must(s.t, at.Close()) })
	go func() {
		for buffer := make([]byte, 64); ; {
			n, from, err := at.ReadFrom(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// A reply that has no route is what some tests are about.
			_, _ = at.WriteTo(buffer[:n], from)
		}
	}()
	rules := "table ip proxy { chain in { type nat hook prerouting priority -100; " +
		"ip daddr " + siteService + " udp dport " + port + " dnat to " + siteNode + ":" + port + "; }; }"
	if out, err := exec.Command("nft", rules).CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	s.t.Cleanup(func() { run(s.t, "nft delete table ip proxy") })
}

// answered says whether the client gets an answer within that time, asking every
// 100 ms over a new connection.
func (s *site) answered(within time.Duration) bool {
	s.t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); {
		if s.ask(100 * time.Millisecond) {
			return true
		}
	}
	return false
}

func (s *site) ask(wait time.Duration) bool {
	s.t.Helper()
	c, err := s.client.Dial(s.t.Context(), "udp4", net.JoinHostPort(siteService, strconv.Itoa(servicePort)))
	must(s.t, err)
	defer c.Close()
	_, err = c.Write([]byte("anybody?"))
	must(s.t, err)
	must(s.t, c.SetReadDeadline(time.Now().Add(wait)))
	_, err = c.Read(make([]byte, 64))
	return err == nil
}

// leaked gives how many packets for the client leave by the private NIC while f
// runs.
func (s *site) leaked(f func()) int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), soon)
	defer cancel()
	capture, err := s.gateway.Capture(ctx, "towards-node")
	must(s.t, err)
	f()
	packets, err := capture.Stop(ctx)
	must(s.t, err)
	n := 0
	for _, p := range packets {
		if p.Destination == netip.MustParseAddr(siteClient) {
			n++
		}
	}
	return n
}
