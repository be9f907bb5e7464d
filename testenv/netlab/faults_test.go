//go:build linux

package netlab_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

// damage is what a fault does to the documented rules while nobody repairs them.
type damage struct {
	// Pod and Host say whether a client behind the router is still answered by a
	// pod, and by a process in the node's own network.
	Pod, Host bool
	// Leaks says that replies reach the private gateway.
	Leaks bool
}

func TestFaults(t *testing.T) {
	first := netip.MustParseAddr("203.0.113.74")
	last := netip.MustParseAddr("203.0.113.79")
	markRule := netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0x2000, Table: 251}
	tests := map[string]struct {
		fault func(*netlab.Node) error
		want  damage
	}{
		"none":             {func(*netlab.Node) error { return nil }, damage{Pod: true, Host: true}},
		"flush ruleset":    {(*netlab.Node).FlushRuleset, damage{Leaks: true}},
		"table deleted":    {func(n *netlab.Node) error { return n.DeleteTable("homeward") }, damage{Leaks: true}},
		"chain deleted":    {func(n *netlab.Node) error { return n.DeleteChain("homeward", "output") }, damage{Pod: true, Leaks: true}},
		"one rule deleted": {func(n *netlab.Node) error { return n.DeleteNFTRule("homeward", "prerouting", 1) }, damage{Host: true, Leaks: true}},
		"element deleted": {
			func(n *netlab.Node) error { return n.DeleteElement("homeward", "ingress4", first, last) }, damage{Leaks: true},
		},
		"element deleted and another put in by hand": {
			func(n *netlab.Node) error {
				if err := n.DeleteElement("homeward", "ingress4", first, last); err != nil {
					return err
				}
				return n.AddElement("homeward", "ingress4", first.Next(), last)
			},
			damage{Pod: true, Host: true},
		},
		"foreign table at the same priority": {
			func(n *netlab.Node) error { return n.AddForeignTable("foreign", -150) }, damage{Pod: true, Host: true},
		},
		"ip rule deleted":        {func(n *netlab.Node) error { return n.DeleteRule(markRule) }, damage{}},
		"table 251 flushed":      {flushTable, damage{}},
		"shadowing rule":         {func(n *netlab.Node) error { return n.Shadow(900) }, damage{Leaks: true}},
		"NIC renamed":            {func(n *netlab.Node) error { return n.RenameExternal("ens20") }, damage{Leaks: true}},
		"NIC down and up":        {downUp, damage{}},
		"NIC unplugged and back": {replug, damage{}},
		// The kernel drops a link's routes with its last address, in every table.
		"anchor address taken off": {
			func(n *netlab.Node) error { return n.RemoveAddress(n.ExternalLink, n.ExternalAddress) }, damage{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servedCluster(t)
			n := c.Nodes[0]
			must(t, test.fault(n))
			before, err := c.Spoofed()
			must(t, err)
			got := damage{Pod: reached(t, c, false, test.want.Pod), Host: reached(t, c, true, test.want.Host)}
			got.Leaks = leaked(t, c, before)
			// A busy machine may not even have asked yet.
			for end := time.Now().Add(5 * time.Second); test.want.Leaks && !got.Leaks && time.Now().Before(end); {
				reached(t, c, false, false)
				got.Leaks = leaked(t, c, before)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("damage (-want +got):\n%s", diff)
			}
		})
	}
}

// leaked says whether replies left by the private NIC since the count before.
func leaked(t *testing.T, c *netlab.Cluster, before uint64) bool {
	t.Helper()
	after, err := c.Spoofed()
	must(t, err)
	return after > before
}

// reached says whether a client behind the router is answered. What is expected
// to be may take long on a busy machine; what is not must stay away for 250 ms.
func reached(t *testing.T, c *netlab.Cluster, host, expected bool) bool {
	t.Helper()
	patience := 250 * time.Millisecond
	if expected {
		patience = 5 * time.Second
	}
	return requestWithin(t, patience, c.Behind, netlab.TCP, target(t, c, 0, host), 12) == nil
}

func flushTable(n *netlab.Node) error {
	_, err := n.FlushTable(251)
	return err
}

func downUp(n *netlab.Node) error {
	if err := n.SetDown(n.ExternalLink); err != nil {
		return err
	}
	return n.SetUp(n.ExternalLink)
}

func replug(n *netlab.Node) error {
	if err := n.Unplug(); err != nil {
		return err
	}
	return n.Plug()
}

func TestReplugGivesANewIndexAndTheOldMAC(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	n := c.Nodes[0]
	before, err := n.Link(n.ExternalLink)
	must(t, err)
	must(t, replug(n))
	after, err := n.Link(n.ExternalLink)
	must(t, err)
	if before.Index == after.Index {
		t.Errorf("index is %d as before", after.Index)
	}
	if diff := cmp.Diff(before.HardwareAddr, after.HardwareAddr); diff != "" {
		t.Errorf("MAC (-before +after):\n%s", diff)
	}
}

func TestAnnouncerFollowsTheNIC(t *testing.T) {
	for name, fault := range map[string]func(*netlab.Node) error{"replugged": replug, "flapped": downUp} {
		t.Run(name, func(t *testing.T) {
			c := servedCluster(t)
			must(t, fault(c.Nodes[0]))
			must(t, c.Nodes[0].SteerRoutes())
			// What the network knew of the address is not forgotten by a fault.
			_, err := c.OnLink.Command(shortly(t), "ip", "neigh", "flush", "all").Output()
			must(t, err)
			if !answers(t, c, c.OnLink, true) {
				t.Error("the address is not answered for any more")
			}
		})
	}
}

func TestFaultsOnNothingAreErrors(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	n := c.Nodes[0]
	for name, err := range map[string]error{
		"table":    n.DeleteTable("homeward"),
		"chain":    n.DeleteChain("kube-proxy", "no-such-chain"),
		"nft rule": n.DeleteNFTRule("homeward", "prerouting", 0),
		"link":     n.Rename("no-such-link", "x"),
		"ip rule":  n.DeleteRule(netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0x2000, Table: 251}),
	} {
		if err == nil {
			t.Errorf("destroying a %s that is not there succeeds: a test would believe that it had", name)
		}
	}
}
