//go:build linux

package kernel

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"homeward/netplan"
	"homeward/testenv/netlab"

	"github.com/google/go-cmp/cmp"
)

// inHost runs f in a fresh network namespace with a veth "ext" (and its peer in
// another one).
func inHost(t *testing.T, f func(k *Kernel, peer *netlab.Host)) {
	t.Helper()
	k := newKernel(t)
	host, err := netlab.NewHost("node")
	if err != nil {
		t.Fatal(err)
	}
	peer, err := netlab.NewHost("peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if err := peer.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := netlab.Connect(host, "ext", peer, "port"); err != nil {
		t.Fatal(err)
	}
	if err := host.Do(func() error { f(k, peer); return nil }); err != nil {
		t.Fatal(err)
	}
}

var compareNet = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

func link(t *testing.T, k *Kernel, name string) netplan.Link {
	t.Helper()
	links, err := k.Links(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no link %s in %v", name, links)
	return netplan.Link{}
}

func ourRules() []netplan.Rule {
	all := netip.MustParsePrefix("0.0.0.0/0")
	vip := netip.MustParsePrefix("203.0.113.80/32")
	const p = netplan.AgentProtocol
	return []netplan.Rule{
		{Priority: 999, Source: all, Mark: 0x2000, Mask: 0x2000, Action: netplan.ActionLookup, Table: 254, SuppressDefault: true, Protocol: p},
		{Priority: 1000, Source: vip, Action: netplan.ActionLookup, Table: 251, Protocol: p},
		{Priority: 1001, Source: all, Mark: 0x2000, Mask: 0x2000, Action: netplan.ActionLookup, Table: 251, Protocol: p},
		{Priority: 1010, Source: vip, Action: netplan.ActionUnreachable, Protocol: p},
		{Priority: 1011, Source: all, Mark: 0x2000, Mask: 0x2000, Action: netplan.ActionUnreachable, Protocol: p},
	}
}

func TestRulesGoInAndOutExactly(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx := context.Background()
		before, err := k.Rules(ctx)
		if err != nil || len(before) != 3 {
			t.Fatalf("rules at first %v, error %v", before, err)
		}
		for range 2 { // the second time is no error
			for _, r := range ourRules() {
				if err := k.AddRule(ctx, r); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := k.Rules(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := append(append(slices.Clone(before[:1]), ourRules()...), before[1:]...)
		if diff := cmp.Diff(want, got, compareNet); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
		text := run(t, "ip", "rule")
		for _, line := range []string{
			"999:\tfrom all fwmark 0x2000/0x2000 lookup main suppress_prefixlength 0 proto 72",
			"1000:\tfrom 203.0.113.80 lookup 251 proto 72", "1001:\tfrom all fwmark 0x2000/0x2000 lookup 251 proto 72",
			"1010:\tfrom 203.0.113.80 unreachable proto 72", "1011:\tfrom all fwmark 0x2000/0x2000 unreachable proto 72",
		} {
			if !strings.Contains(text, line) {
				t.Errorf("ip rule lacks %q:\n%s", line, text)
			}
		}
		for range 2 {
			for _, r := range ourRules() {
				if err := k.DeleteRule(ctx, r); err != nil {
					t.Fatal(err)
				}
			}
		}
		if after, err := k.Rules(ctx); err != nil || !cmp.Equal(before, after, compareNet) {
			t.Errorf("rules at last %v, error %v", after, err)
		}
		if err := k.DeleteRule(ctx, before[0]); err == nil {
			t.Error("deleted `lookup local`")
		}
	})
}

func TestForeignRulesNeverLookLikeOurs(t *testing.T) {
	tests := map[string]string{
		"iif lo lookup 251":                        "iif lo",
		"oif lo lookup 251":                        "oif lo",
		"not fwmark 0x2000/0x2000 lookup 251":      "not",
		"fwmark 0x2000/0x2000 tos 0x10 lookup 251": "tos 0x10",
		"to 10.0.0.0/8 lookup 251":                 "attribute 1",
		"ipproto tcp lookup 251":                   "attribute 22",
		"uidrange 0-5 lookup 251":                  "attribute 20",
		"lookup 251 suppress_prefixlength 8":       "suppress",
		"lookup 251 suppress_ifgroup 7":            "suppress",
		"goto 32766":                               "attribute 4 jump",
		"blackhole":                                "",
	}
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		for args, others := range tests {
			run(t, "ip", append([]string{"rule", "add", "priority", "500"}, strings.Fields(args)...)...)
			rules, err := k.Rules(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(rules, func(r netplan.Rule) bool { return r.Priority == 500 })
			if i < 0 || rules[i].Others != others {
				t.Errorf("%s: listed as %+v, want others %q", args, rules, others)
			}
			if args == "blackhole" && (rules[i].Action == netplan.ActionLookup || rules[i].Action == netplan.ActionUnreachable) {
				t.Errorf("blackhole listed as %s", rules[i].Action)
			}
			run(t, "ip", "rule", "del", "priority", "500")
		}
	})
}

func TestRoutesGoInAndOutExactly(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx := context.Background()
		run(t, "ip", "link", "set", "lo", "up")
		run(t, "ip", "addr", "add", "10.0.0.5/24", "dev", "ext")
		run(t, "ip", "route", "add", "default", "via", "10.0.0.1")
		ext := link(t, k, "ext")
		foreign, err := k.Routes(ctx, 251)
		if err != nil || len(foreign) != 1 || foreign[0].Table != 254 {
			t.Fatalf("routes at first %v, error %v", foreign, err)
		}
		ours := []netplan.Route{
			{Destination: netip.MustParsePrefix("203.0.113.0/25"), Scope: netplan.ScopeLink},
			{Destination: netip.MustParsePrefix("198.51.100.1/32"), Scope: netplan.ScopeLink},
			{Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("198.51.100.1"), Scope: netplan.ScopeGlobal},
		}
		for i := range ours {
			ours[i].Table, ours[i].Link, ours[i].Metric, ours[i].Protocol = 251, ext.Index, netplan.AgentRouteMetric, netplan.AgentProtocol
		}
		for range 2 {
			for _, r := range ours {
				if err := k.AddRoute(ctx, r); err != nil {
					t.Fatal(err)
				}
			}
		}
		byDestination := func(a, b netplan.Route) int { return a.Destination.Addr().Compare(b.Destination.Addr()) }
		got, err := k.Routes(ctx, 251)
		if err != nil {
			t.Fatal(err)
		}
		got = slices.DeleteFunc(got, func(r netplan.Route) bool { return r.Table == 254 })
		slices.SortFunc(got, byDestination)
		want := slices.Clone(ours)
		slices.SortFunc(want, byDestination)
		if diff := cmp.Diff(want, got, compareNet); diff != "" {
			t.Errorf("routes (-want +got):\n%s", diff)
		}
		other := ours[2]
		other.Gateway = netip.MustParseAddr("203.0.113.1")
		if err := k.AddRoute(ctx, other); err != nil {
			t.Errorf("a second gateway before the first one is deleted: %v", err)
		}
		for range 2 {
			for _, r := range append(slices.Clone(ours), other) {
				if err := k.DeleteRoute(ctx, r); err != nil && r != ours[1] {
					t.Errorf("deleting: %v", err)
				}
			}
		}
		if after, err := k.Routes(ctx, 251); err != nil || !cmp.Equal(foreign, after, compareNet) {
			t.Errorf("routes at last %v, error %v", after, err)
		}
	})
}

func TestForeignRoutesNeverLookLikeOurs(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		run(t, "ip", "addr", "add", "203.0.113.50/24", "dev", "ext")
		for args, others := range map[string]string{
			"unreachable default":                                     "type 7",
			"blackhole default":                                       "type 6",
			"default via 203.0.113.1 src 203.0.113.50":                "src 203.0.113.50",
			"default nexthop via 203.0.113.1 nexthop via 203.0.113.2": "several next hops",
		} {
			run(t, "ip", append([]string{"route", "add", "table", "251"}, strings.Fields(args)...)...)
			routes, err := k.Routes(context.Background(), 251)
			if err != nil || len(routes) != 1 || routes[0].Others != others {
				t.Errorf("%s: listed as %+v (error %v), want others %q", args, routes, err, others)
			}
			run(t, "ip", "route", "flush", "table", "251")
		}
	})
}

func TestRoutesWithTheLinkDownAreGone(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		ctx := context.Background()
		ext := link(t, k, "ext")
		r := netplan.Route{
			Table: 251, Destination: netip.MustParsePrefix("203.0.113.0/25"), Link: ext.Index, Scope: netplan.ScopeLink,
			Metric: netplan.AgentRouteMetric, Protocol: netplan.AgentProtocol,
		}
		if err := k.AddRoute(ctx, r); err != nil {
			t.Fatal(err)
		}
		run(t, "ip", "link", "set", "ext", "down")
		if got, err := k.Routes(ctx, 251); err != nil || len(got) > 0 {
			t.Errorf("routes %v, error %v", got, err)
		}
		if got := link(t, k, "ext"); got.Up {
			t.Error("link is listed as up")
		}
		if err := k.SetLinkUp(ctx, ext); err != nil {
			t.Fatal(err)
		}
		if got := link(t, k, "ext"); !got.Up {
			t.Error("link is not up")
		}
	})
}
