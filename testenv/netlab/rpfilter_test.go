//go:build linux

package netlab_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

func TestReversePathFilter(t *testing.T) {
	tests := map[string]struct {
		external, inner, srcValidMark string
		// pod and host say whether a client behind the router is answered.
		pod, host bool
	}{
		"off":                                 {"0", "0", "0", true, true},
		"strict on the external NIC":          {"1", "0", "0", false, false},
		"loose on the external NIC":           {"2", "0", "0", true, true},
		"strict inside":                       {"0", "1", "0", true, true},
		"strict inside, marks count":          {"0", "1", "1", false, true},
		"loose inside, marks count":           {"0", "2", "1", true, true},
		"loose on the external, marks count":  {"2", "0", "1", true, true},
		"strict on the external, marks count": {"1", "0", "1", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servedCluster(t)
			n := c.Nodes[0]
			for key, value := range map[string]string{
				n.ExternalLink + "/rp_filter": test.external,
				n.PrivateLink + "/rp_filter":  test.inner,
				"veth-pod/rp_filter":          test.inner,
				"all/src_valid_mark":          test.srcValidMark,
			} {
				must(t, n.SetSysctl("net/ipv4/conf/"+key, value))
			}
			want := map[string]bool{"pod": test.pod, "host": test.host}
			got := map[string]bool{"pod": reached(t, c, false, test.pod), "host": reached(t, c, true, test.host)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answered (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOldConnectionsHeal(t *testing.T) {
	c := newCluster(t, netlab.AnchorLayout)
	n := c.Nodes[0]
	must(t, c.Serve(c.MatrixServices(n)...))
	must(t, c.Announce(c.Addresses.Pool[0], n))
	must(t, n.Steer())
	// Without marks, a rule for the pod's own address lets its replies out.
	aid := netlab.Rule{Priority: 500, Source: netip.PrefixFrom(n.PodAddress, 32), Table: 251}
	must(t, n.AddRule(aid))
	load, err := netlab.StartLoad(longer(t), netlab.LoadConfig{
		From: c.Behind, Protocol: netlab.UDP, Target: target(t, c, 0, false), Rate: 100, Connections: 2,
	})
	must(t, err)
	must(t, load.WaitReplies(longer(t), 5))
	must(t, n.DeleteRule(aid))
	before, err := c.Spoofed()
	must(t, err)
	for ctx, now := shortly(t), before; now < before+5; {
		must(t, ctx.Err())
		now, err = c.Spoofed()
		must(t, err)
	}
	nft(t, n.Host, table(prerouting, output))
	must(t, load.WaitReplies(longer(t), 20))
	if got := load.Stop(); got.Lost < 5 || got.Broken > 0 {
		t.Errorf("connections without the rules for a while: %+v", got)
	}
}
