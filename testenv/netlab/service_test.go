//go:build linux

package netlab_test

import (
	"net/netip"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// sourceAtPod asks a service once from behind the router and gives the address
// that the request had when it came to the second node's pod.
func sourceAtPod(t *testing.T, c *netlab.Cluster, to netip.AddrPort) netip.Addr {
	t.Helper()
	capture, err := c.Nodes[1].Pod.Capture(shortly(t), "eth0")
	must(t, err)
	must(t, requestWithin(t, 5*time.Second, c.Behind, netlab.UDP, to, 12))
	packets, err := capture.Stop(shortly(t))
	must(t, err)
	for _, p := range packets {
		if !p.Leaving && p.Protocol == netlab.UDP && p.Destination == c.Nodes[1].PodAddress {
			return p.Source
		}
	}
	t.Fatalf("no request at the pod: %v", packets)
	return netip.Addr{}
}

func TestServicePolicies(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	loadRules(t, c, prerouting, output)
	pool := c.Addresses.Pool[0]
	cluster, local := netip.AddrPortFrom(pool, 80), netip.AddrPortFrom(pool, 81)
	must(t, c.Serve(
		netlab.Service{Address: pool, Port: 80, Policy: netlab.PolicyCluster, Node: 1},
		netlab.Service{Address: pool, Port: 81, Policy: netlab.PolicyLocal, Node: 1},
	))
	must(t, c.Announce(pool, c.Nodes[0]))
	if got := sourceAtPod(t, c, cluster); got != c.Nodes[0].PrivateAddress {
		t.Errorf("policy Cluster, announced elsewhere: pod sees %s, want the other node", got)
	}
	if requestWithin(t, 300*time.Millisecond, c.Behind, netlab.TCP, local, 12) == nil {
		t.Error("policy Local: a node without backends answers")
	}
	must(t, c.Announce(pool, c.Nodes[1]))
	if got := sourceAtPod(t, c, local); got != c.Addresses.Behind {
		t.Errorf("policy Local: pod sees %s, want the client", got)
	}
}

func TestServeRefusesAnUnknownNode(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	if err := c.Serve(netlab.Service{Address: c.Addresses.Pool[0], Port: 80, Policy: netlab.PolicyCluster, Node: 2}); err == nil {
		t.Error("a service on a third node of two is served")
	}
}

func TestAnnouncementMoves(t *testing.T) {
	c := servedCluster(t)
	load, err := netlab.StartLoad(longer(t), netlab.LoadConfig{
		From: c.Behind, Protocol: netlab.UDP, Target: target(t, c, 1, false), Rate: 100,
	})
	must(t, err)
	for _, n := range []*netlab.Node{c.Nodes[0], c.Nodes[1], c.Nodes[0]} {
		must(t, c.Announce(c.Addresses.Pool[0], n))
		must(t, load.WaitReplies(longer(t), 20))
		capture, err := n.Capture(shortly(t), n.ExternalLink)
		must(t, err)
		if _, err := capture.Wait(shortly(t), func(p netlab.Packet) bool { return p.Leaving && p.Protocol == netlab.UDP }); err != nil {
			t.Errorf("replies do not leave by %s: %v", n.Name(), err)
		}
		_, err = capture.Stop(shortly(t))
		must(t, err)
	}
	if got := load.Stop(); got.Requests != got.Replies+got.Lost || got.Lost > 5 {
		t.Errorf("moving an address three times: %+v", got)
	}
}
