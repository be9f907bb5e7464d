//go:build linux

package main

import (
	"context"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/testenv/netlab"
)

// strict makes a link of the node check the way back of what it receives, by the
// packet's mark.
func (b *bench) strict(link string) {
	b.t.Helper()
	b.do(b.node.SetSysctl("net/ipv4/conf/"+link+"/rp_filter", "1"))
	b.do(b.node.SetSysctl("net/ipv4/conf/"+link+"/src_valid_mark", "1"))
}

// answers says whether a client behind the router is answered by a backend, with
// as much time as it takes if it shall be.
func (b *bench) answers(s netlab.Service, shall bool) bool {
	b.t.Helper()
	most := 500 * time.Millisecond
	if shall {
		most = patience
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), most)
	defer cancel()
	return b.Behind.Request(ctx, netlab.UDP, netip.AddrPortFrom(s.Address, s.Port), 64) == nil
}

// TestPreferMainCuresStrictFilters holds on the wire what a strict filter by the
// mark does to replies with and without --prefer-main, and that the agent says so.
func TestPreferMainCuresStrictFilters(t *testing.T) {
	tests := map[string]struct {
		link func(*netlab.Node) string
		lost int // the service whose replies come in there
		note int // problems with --prefer-main: what the default gateway leads to is not cured
	}{
		"private NIC": {func(n *netlab.Node) string { return n.PrivateLink }, 2, 1},
		"pod's link":  {func(*netlab.Node) string { return podLink }, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			link, service := tt.link(b.node), b.MatrixServices(b.node)[tt.lost]
			b.strict(link)
			p := b.startNode(b.flags("--routes=manage")...)
			s := p.await("a strict filter reported", func(s returnpath.Status) bool { return s.Passes > 0 && s.Gateway.Known })
			if got := kinds(s); s.Ready || len(got) != 1 || got[0] != returnpath.ProblemRPFilter || !strings.Contains(s.Problems[0].Text, "link "+link+": rp_filter=1 src_valid_mark=1") {
				t.Errorf("without: ready %v, problems %+v", s.Ready, s.Problems)
			}
			if b.answers(service, false) {
				t.Fatal("answered in spite of the filter: the test proves nothing")
			}
			_ = p.end(syscall.SIGTERM)
			p = b.start("--prefer-main")
			s = p.await("ready", func(s returnpath.Status) bool { return s.Ready })
			if len(s.Problems) != tt.note {
				t.Errorf("with: problems %+v", s.Problems)
			}
			if !b.answers(service, true) {
				t.Error("with --prefer-main there is no answer either")
			}
			b.allHome()
		})
	}
}

// TestPreferMainIsKept holds that its rule is repaired like the others, and goes
// with them.
func TestPreferMainIsKept(t *testing.T) {
	b := newBench(t)
	b.lossless()
	const text = "priority 999 fwmark 0x2000/0x2000 lookup 254 suppress_prefixlength 0"
	out, err := b.command(append([]string{"node", "--dry-run"}, b.flags("--routes=manage", "--prefer-main")...)...).Output()
	if err != nil || !strings.Contains(string(out), "add rule "+text+"\n") {
		t.Errorf("--dry-run: %v\n%s", err, out)
	}
	p := b.start("--prefer-main", "--resync=1h")
	load := b.startLoads()
	before := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	rule := func(verb string) {
		t.Helper()
		if out, err := b.node.Command(t.Context(), "ip", "rule", verb, "priority", "999").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	rule("del")
	p.await("repaired", func(s returnpath.Status) bool { return s.Ready && s.Repairs["ip_rule"] > before.Repairs["ip_rule"] })
	load.none() // without a strict filter nothing rests on it
	_ = p.end(syscall.SIGTERM)
	out, err = b.command("cleanup", "--routes=manage").Output()
	if err != nil || !strings.Contains(string(out), "removed rule "+text+"\n") {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	rules, err := b.node.Netlink().RuleList(2)
	b.do(err)
	if len(rules) != 3 {
		t.Errorf("rules left: %v", rules)
	}
}

// TestWhatPreferMainCosts shows its price: a client with an address of the private
// network, whose request came in by the external router, is answered by the
// private NIC, where the router that would check it is not asked.
func TestWhatPreferMainCosts(t *testing.T) {
	for name, tt := range map[string]struct {
		flags []string
		by    func(*netlab.Node) string
	}{
		"without": {nil, func(n *netlab.Node) string { return n.ExternalLink }},
		"with":    {[]string{"--prefer-main"}, func(n *netlab.Node) string { return n.PrivateLink }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			client := b.moveClientIntoThePrivateNetwork()
			b.start(tt.flags...)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			capture, err := b.node.Capture(ctx, b.node.PrivateLink, b.node.ExternalLink)
			b.do(err)
			load, err := netlab.StartLoad(ctx, netlab.LoadConfig{From: b.Behind, Protocol: netlab.UDP, Rate: 20, Target: b.target(), Drain: time.Second})
			b.do(err)
			reply, err := capture.Wait(ctx, func(p netlab.Packet) bool {
				return p.Leaving && p.Protocol == netlab.UDP && p.Destination == client
			})
			load.Stop()
			if err != nil || reply.Link != tt.by(b.node) {
				t.Errorf("the reply left as %s, error %v; want it by %s", reply, err, tt.by(b.node))
			}
			if _, err := capture.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// moveClientIntoThePrivateNetwork gives the client behind the router an address of
// the private network to ask from, and the private gateway the same one, so that
// what leaves for it there finds a neighbour.
func (b *bench) moveClientIntoThePrivateNetwork() netip.Addr {
	b.t.Helper()
	const address = "10.90.0.77"
	for _, c := range []struct {
		host *netlab.Host
		args string
	}{
		{b.Behind, "addr add " + address + "/32 dev eth0"},
		{b.Behind, "route replace default via 198.51.100.1 src " + address},
		{b.Router, "route add " + address + "/32 dev far"},
		{b.PrivateGateway, "addr add " + address + "/32 dev private"},
	} {
		if out, err := c.host.Command(b.t.Context(), "ip", strings.Fields(c.args)...).CombinedOutput(); err != nil {
			b.t.Fatalf("ip %s: %v: %s", c.args, err, out)
		}
	}
	if !netlab.DefaultAddresses().Private.Contains(netip.MustParseAddr(address)) {
		b.t.Fatal("the lab's addresses are others")
	}
	return netip.MustParseAddr(address)
}
