//go:build linux

package netlab_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// answers says whether a request to the pod on the first node is answered. What
// is expected to be may take long on a busy machine; what is not must stay away
// for 300 ms.
func answers(t *testing.T, c *netlab.Cluster, from *netlab.Host, expected bool) bool {
	t.Helper()
	patience := 300 * time.Millisecond
	if expected {
		patience = 5 * time.Second
	}
	return requestWithin(t, patience, from, netlab.TCP, target(t, c, 0, false), 12) == nil
}

// forgetGateway makes the node ask for the gateway's hardware address anew.
func forgetGateway(t *testing.T, n *netlab.Node) {
	t.Helper()
	if _, err := n.Command(shortly(t), "ip", "neigh", "flush", "dev", n.ExternalLink).Output(); err != nil {
		t.Fatal(err)
	}
}

func TestGatewayARP(t *testing.T) {
	tests := map[string]struct {
		manner netlab.ARPManner
		// plain is a request from the node's anchor, probe one from 0.0.0.0.
		plain, probe bool
	}{
		"answers all":        {netlab.AnswersAll, true, true},
		"ignores off-subnet": {netlab.IgnoresOffSubnet, false, true},
		"drops probes":       {netlab.DropsProbes, true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := servedCluster(t)
			n := c.Nodes[0]
			must(t, c.SetGatewayARP(test.manner))
			forgetGateway(t, n)
			if got := answers(t, c, c.Behind, test.plain); got != test.plain {
				t.Errorf("client behind the router answered: %v, want %v", got, test.plain)
			}
			if !answers(t, c, c.OnLink, true) {
				t.Error("the manner of the gateway hurts the on-link client too")
			}
			if got := probeGateway(t, c, n, test.probe); got != test.probe {
				t.Errorf("probe answered: %v, want %v", got, test.probe)
			}
		})
	}
}

// probeGateway sends an RFC 5227 probe and says whether the gateway answers.
func probeGateway(t *testing.T, c *netlab.Cluster, n *netlab.Node, expected bool) bool {
	t.Helper()
	capture, err := n.Capture(shortly(t), n.ExternalLink)
	must(t, err)
	must(t, n.ProbeARP(c.Addresses.ExternalGateway))
	patience := 300 * time.Millisecond
	if expected {
		patience = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = capture.Wait(ctx, func(p netlab.Packet) bool {
		return !p.Leaving && p.ARPReply && p.Source == c.Addresses.ExternalGateway && p.Destination == netip.IPv4Unspecified()
	})
	_, stopErr := capture.Stop(shortly(t))
	must(t, stopErr)
	return err == nil
}

func TestGatewayMAC(t *testing.T) {
	c := servedCluster(t)
	if !answers(t, c, c.Behind, true) {
		t.Fatal("not answered at first")
	}
	must(t, c.SetGatewayMAC(net.HardwareAddr{2, 0, 0, 0, 1, 2}))
	if answers(t, c, c.Behind, false) {
		t.Error("answered though the node knows only the gateway's old MAC")
	}
	forgetGateway(t, c.Nodes[0])
	if !answers(t, c, c.Behind, true) {
		t.Error("not answered after the node asked again")
	}
}

func TestGatewayDown(t *testing.T) {
	c := servedCluster(t)
	must(t, c.SetGatewayDown(true))
	if answers(t, c, c.Behind, false) {
		t.Error("answered through a gateway that is down")
	}
	if !answers(t, c, c.OnLink, true) {
		t.Error("the on-link client needs the gateway")
	}
	must(t, c.SetGatewayDown(false))
	// Neighbours that gave up ask again after a second at most.
	if !answers(t, c, c.Behind, true) {
		t.Error("not answered after the gateway came back")
	}
}

func TestPathMTU(t *testing.T) {
	const mtu = 1400
	// A datagram must fit the first link whole: only then must nobody fragment it.
	sizes := map[netlab.Protocol]int{netlab.TCP: 8000, netlab.UDP: 1440}
	for name, backend := range map[string]struct {
		node int
		host bool
	}{"pod here": {0, false}, "pod there": {1, false}, "host network here": {0, true}, "host network there": {1, true}} {
		for protocol, replySize := range sizes {
			t.Run(name+" "+string(protocol), func(t *testing.T) {
				t.Parallel()
				c := servedCluster(t)
				to := target(t, c, backend.node, backend.host)
				must(t, c.SetPathMTU(mtu))
				capture, err := c.Router.Capture(shortly(t), "external")
				must(t, err)
				// A datagram that is too big is lost; the sender learns from it.
				_ = requestWithin(t, 300*time.Millisecond, c.Behind, protocol, to, replySize)
				if err := requestWithin(t, 3*time.Second, c.Behind, protocol, to, replySize); err != nil {
					t.Errorf("reply of %d bytes over a path of %d: %v", replySize, mtu, err)
				}
				packets, err := capture.Stop(shortly(t))
				must(t, err)
				if !anyPacket(packets, func(p netlab.Packet) bool {
					return p.Leaving && p.Protocol == netlab.ICMP && p.ICMPType == 3 && p.ICMPCode == 4 && p.Destination == to.Addr()
				}) {
					t.Error("router sent no ICMP error: the path was not too narrow")
				}
			})
		}
	}
}

func requestWithin(t *testing.T, d time.Duration, from *netlab.Host, p netlab.Protocol, to netip.AddrPort, size int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return from.Request(ctx, p, to, size)
}

func anyPacket(packets []netlab.Packet, match func(netlab.Packet) bool) bool {
	for _, p := range packets {
		if match(p) {
			return true
		}
	}
	return false
}

func TestICMPErrorOfABackendGoesHome(t *testing.T) {
	c := servedCluster(t)
	vip := netip.AddrPortFrom(c.Addresses.VIP, 9)
	must(t, c.Nodes[0].HoldVIP())
	err := requestWithin(t, 5*time.Second, c.Behind, netlab.UDP, vip, 12)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("UDP to a port without a server: %v, want connection refused", err)
	}
}

func TestVIP(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	api := netip.AddrPortFrom(c.Addresses.VIP, netlab.VIPPort)
	must(t, c.Nodes[0].HoldVIP())
	if requestWithin(t, 300*time.Millisecond, c.Behind, netlab.TCP, api, 12) == nil {
		t.Error("answered without any rule")
	}
	for _, n := range c.Nodes {
		must(t, n.Steer())
	}
	must(t, requestWithin(t, 5*time.Second, c.Behind, netlab.TCP, api, 12))
	must(t, c.Nodes[0].ReleaseVIP())
	must(t, c.Nodes[1].HoldVIP())
	must(t, requestWithin(t, 5*time.Second, c.Behind, netlab.TCP, api, 12))
	out, err := c.Nodes[0].Command(shortly(t), "ip", "-4", "-br", "address").Output()
	must(t, err)
	if strings.Contains(string(out), c.Addresses.VIP.String()) {
		t.Errorf("first node still has the VIP:\n%s", out)
	}
}
