//go:build linux

package netlab_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

// The return path as its design documents it, loaded by hand: the lab must show
// what these rules do before anything may be tested against the lab.
const (
	prerouting = `
	chain prerouting {
		type filter hook prerouting priority -150; policy accept;
		iifname "ens19" ip daddr @ingress4 ct direction original counter ct mark set ct mark or 0x2000
		ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
	}`
	output = `
	chain output {
		type route hook output priority -150; policy accept;
		ct direction reply ct mark and 0x2000 == 0x2000 counter meta mark set meta mark or 0x2000
	}`
)

func newCluster(t *testing.T, layout netlab.Layout) *netlab.Cluster {
	t.Helper()
	netlab.Require(t)
	c, err := netlab.NewCluster(layout)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func longer(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// loadRules puts the documented rules, with these chains, on every node.
func loadRules(t *testing.T, c *netlab.Cluster, chains ...string) {
	t.Helper()
	for _, n := range c.Nodes {
		nft(t, n.Host, table(chains...))
		must(t, n.Steer())
	}
}

func table(chains ...string) string {
	return "table inet homeward {\n" +
		"set ingress4 { type ipv4_addr; flags interval; elements = { 203.0.113.74-203.0.113.79 } }\n" +
		strings.Join(chains, "\n") + "\n}\n"
}

func nft(t *testing.T, h *netlab.Host, text string) {
	t.Helper()
	cmd := h.Command(shortly(t), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if _, err := cmd.Output(); err != nil {
		t.Fatal(err)
	}
}

// verdict says for a cell whether it is answered and by which NIC.
type verdict struct {
	Answered bool
	Path     netlab.Path
}

func TestMatrix(t *testing.T) {
	private := verdict{false, netlab.PathPrivate}
	home := verdict{true, netlab.PathExternal}
	tests := map[string]struct {
		layout netlab.Layout
		chains []string
		rules  bool
		want   func(netlab.Cell) verdict
	}{
		"no rules": {
			want: func(netlab.Cell) verdict { return private },
		},
		"no rules, nodes with an external address: the on-link client is fooled": {
			layout: netlab.SubnetLayout,
			want: func(c netlab.Cell) verdict {
				switch {
				case c.Client == netlab.ClientBehind:
					return private
				case c.Backend == netlab.HostHere && c.Protocol == netlab.UDP:
					// The socket is a wildcard one, and the route to this client
					// suggests the node's external address as the source.
					return verdict{false, netlab.PathWrongSource}
				default:
					return home
				}
			},
		},
		"prerouting only": {
			rules: true, chains: []string{prerouting},
			want: func(c netlab.Cell) verdict {
				if c.Backend == netlab.HostHere {
					return private
				}
				return home
			},
		},
		"both hooks": {
			rules: true, chains: []string{prerouting, output},
			want: func(netlab.Cell) verdict { return home },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.layout)
			if test.rules {
				loadRules(t, c, test.chains...)
			}
			for _, announcer := range c.Nodes {
				cells, err := c.Matrix(longer(t), announcer)
				must(t, err)
				got, want := map[string]verdict{}, map[string]verdict{}
				for _, cell := range cells {
					got[cell.String()] = verdict{cell.Answered, cell.Path}
					want[cell.String()] = test.want(cell)
				}
				if len(cells) != 24 {
					t.Errorf("%d cells, want 24", len(cells))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("announced by %s (-want +got):\n%s", announcer.Name(), diff)
				}
			}
			spoofed, err := c.Spoofed()
			must(t, err)
			if wantSpoofed := name != "both hooks"; (spoofed > 0) != wantSpoofed {
				t.Errorf("private gateway dropped %d packets as spoofed", spoofed)
			}
		})
	}
}
