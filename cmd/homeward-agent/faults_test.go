//go:build linux

package main

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/testenv/netlab"
	"homeward/testenv/vm/guest"
)

// repairWithin is how long replies may stay away because of a fault that someone
// else causes. The aim is 20 ms; a busy machine gets more, and an emulated processor
// so much that it only tells an event from the resync, which comes after a minute.
func repairWithin() time.Duration {
	if guest.Inside() {
		return 20 * time.Second
	}
	return 1500 * time.Millisecond
}

func TestTheWholeMatrixGoesHome(t *testing.T) {
	b := newBench(t)
	b.start()
	b.allHome()
}

// TestForeignFaults does what others do to a node, one by one, with traffic
// running, and holds that the agent mends it by itself.
func TestForeignFaults(t *testing.T) {
	pool := netlab.DefaultAddresses()
	first, last := pool.VIP, pool.Pool[len(pool.Pool)-1]
	markRule := netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0x2000, Table: 251}
	tests := map[string]struct {
		fault func(*netlab.Node) error
		kind  string // what is counted as repaired
	}{
		"flush ruleset":       {(*netlab.Node).FlushRuleset, "nft_table"},
		"table deleted":       {func(n *netlab.Node) error { return n.DeleteTable("homeward") }, "nft_table"},
		"chain deleted":       {func(n *netlab.Node) error { return n.DeleteChain("homeward", "output") }, "nft_chain"},
		"marking rule gone":   {func(n *netlab.Node) error { return n.DeleteNFTRule("homeward", "prerouting", 0) }, "nft_rule"},
		"restoring rule gone": {func(n *netlab.Node) error { return n.DeleteNFTRule("homeward", "prerouting", 1) }, "nft_rule"},
		"element deleted":     {func(n *netlab.Node) error { return n.DeleteElement("homeward", "ingress4", first, last) }, "nft_element"},
		"element added by hand": {func(n *netlab.Node) error {
			return n.AddElement("homeward", "ingress4", last.Next(), last.Next())
		}, "nft_element"},
		"ip rule deleted":   {func(n *netlab.Node) error { return n.DeleteRule(markRule) }, "ip_rule"},
		"table 251 flushed": {func(n *netlab.Node) error { _, err := n.FlushTable(251); return err }, "route"},
		"NIC renamed":       {func(n *netlab.Node) error { return n.RenameExternal("ens27") }, "nft_rule"},
		"NIC down":          {func(n *netlab.Node) error { return n.SetDown(n.ExternalLink) }, "link"},
		"NIC down and up": {func(n *netlab.Node) error {
			if err := n.SetDown(n.ExternalLink); err != nil {
				return err
			}
			return n.SetUp(n.ExternalLink)
		}, "route"},
		"anchor address taken off": {func(n *netlab.Node) error {
			return n.RemoveAddress(n.ExternalLink, n.ExternalAddress)
		}, "route"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := b.start()
			load := b.startLoads()
			before := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
			b.do(test.fault(b.node))
			p.await("repaired", func(s returnpath.Status) bool {
				return s.Ready && s.Repairs[test.kind] > before.Repairs[test.kind]
			})
			if r := load.stop(); r.LongestGap > repairWithin() {
				t.Errorf("replies stayed away for %s, want at most %s", r.LongestGap, repairWithin())
			}
			load.lostInOneGap()
			b.allHome()
		})
	}
}

func TestForeignTableAtOurPriorityIsNoFault(t *testing.T) {
	b := newBench(t)
	p := b.start()
	load := b.startLoads()
	before := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	b.do(b.node.AddForeignTable("foreign", -150))
	load.none()
	after := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	if before.Repairs["nft_table"] != after.Repairs["nft_table"] {
		t.Errorf("wrote: %v, then %v", before.Repairs, after.Repairs)
	}
}

func TestNICUnpluggedAndBack(t *testing.T) {
	for name, plug := range map[string]func(*netlab.Node) error{"up": (*netlab.Node).Plug, "down": (*netlab.Node).PlugDown} {
		t.Run("back "+name, func(t *testing.T) {
			b := newBench(t)
			p := b.start()
			load := b.startLoads()
			leaked := b.leaks()
			b.do(b.node.Unplug())
			s := p.await("NIC missing", func(s returnpath.Status) bool { return slices.Contains(kinds(s), returnpath.ProblemNICMissing) })
			if s.Ready || s.Uplink != nil {
				t.Errorf("state %+v", s)
			}
			if code, body, err := p.get("/readyz"); err != nil || code != 503 || !strings.Contains(body, b.node.ExternalMAC.String()) {
				t.Errorf("/readyz: %d %q %v", code, body, err)
			}
			time.Sleep(200 * time.Millisecond)
			if n := leaked(); n > 0 {
				t.Errorf("%d replies leaked out of the private NIC", n)
			}
			b.do(plug(b.node))
			p.await("ready", func(s returnpath.Status) bool { return s.Ready })
			load.stop()
			b.allHome()
		})
	}
}

func TestShadowingRuleIsReported(t *testing.T) {
	b := newBench(t)
	p := b.start()
	load, leaked := b.startLoads(), b.leaks()
	b.do(b.node.Shadow(900))
	s := p.await("shadowed", func(s returnpath.Status) bool { return !s.Ready })
	if kinds(s)[0] != returnpath.ProblemRuleShadowed || !strings.Contains(s.Problems[0].Text, "priority 900") {
		t.Errorf("problems %+v", s.Problems)
	}
	for end := time.Now().Add(patience); leaked() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no reply went astray: the rule shadows nothing")
		}
	}
	b.do(b.node.DeleteRule(netlab.Rule{Priority: 900, Table: 254}))
	p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	load.stop()
	load.lostInOneGap()
	b.allHome()
}

// TestEarlierSchemeBesideOurs starts the agent on a node where an earlier scheme
// works for pods, as far as it did, and takes that away under it.
func TestEarlierSchemeBesideOurs(t *testing.T) {
	b := newBench(t)
	b.lossless()
	everywhere := netlab.Route{Via: b.Addresses.ExternalGateway, Link: b.node.ExternalLink, Table: 100, OnLink: true}
	b.do(b.node.AddForeignTable("unrelated", 0))
	b.nft("table ip " + netplan.LegacyNFTablesTable + ` {
	chain prerouting {
		type filter hook prerouting priority -150;
		iifname "` + b.node.ExternalLink + `" ct direction original ct mark set 0x2000
		ct direction reply ct mark 0x2000 meta mark set 0x2000
	}
}`)
	b.do(b.node.AddRoute(everywhere))
	b.do(b.node.AddRule(netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0xffffffff, Table: 100}))
	old, err := netlab.StartLoad(t.Context(), netlab.LoadConfig{From: b.Behind, Protocol: netlab.UDP, Rate: loadRate(), Target: b.target(), Drain: b.drain})
	b.do(err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b.do(old.WaitReplies(ctx, 3))
	p := b.start()
	b.do(old.WaitReplies(ctx, 3))
	if r := old.Stop(); r.Lost > 0 {
		t.Errorf("coming beside it lost %d of %d replies", r.Lost, r.Requests)
	}
	s := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	if got := kinds(s); len(got) != 1 || got[0] != returnpath.ProblemLegacy {
		t.Errorf("problems %+v", s.Problems)
	}
	b.allHome()
	load := b.startLoads()
	text, err := b.command("cleanup", "--legacy").CombinedOutput()
	if err != nil || !strings.Contains(string(text), netplan.LegacyNFTablesTable) || !strings.Contains(string(text), "lookup 100") {
		t.Errorf("cleanup --legacy: %v\n%s", err, text)
	}
	// It took our table too; the agent brings it back.
	p.await("ready", func(s returnpath.Status) bool { return s.Ready && len(s.Problems) == 0 })
	load.stop()
	b.allHome()
	if err := p.end(os.Interrupt); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func TestTheMarkLeavesOtherBitsAlone(t *testing.T) {
	b := newBench(t)
	b.start()
	target := netip.AddrPortFrom(b.Addresses.Pool[0], 8000)
	// Somebody else's bits in both marks, set before ours and counted after.
	rules := `table inet other {
	chain before { type filter hook prerouting priority -160; ct mark set ct mark or 0x40; meta mark set meta mark or 0x80; }
	chain after { type filter hook postrouting priority 150; ct mark and 0x2040 == 0x2040 counter; meta mark and 0x80 == 0x80 ct mark and 0x40 != 0x40 counter drop; }
}`
	if out, err := b.node.Command(t.Context(), "nft", rules).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.do(b.Behind.Request(t.Context(), netlab.TCP, target, 64))
	b.allHome()
	out, err := b.node.Command(t.Context(), "nft", "list table inet other").CombinedOutput()
	if err != nil || strings.Contains(string(out), "0x00002040 counter packets 0 ") || !strings.Contains(string(out), "counter packets 0 bytes 0 drop") {
		t.Errorf("marks were lost: %v\n%s", err, out)
	}
}
