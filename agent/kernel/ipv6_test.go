//go:build linux

package kernel

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"homeward/testenv/netlab"
)

func TestIPv6Default(t *testing.T) {
	inHost(t, func(k *Kernel, _ *netlab.Host) {
		run(t, "ip", "link", "add", "other", "type", "veth", "peer", "name", "others-peer")
		run(t, "ip", "link", "set", "other", "up")
		ext := link(t, k, "ext")
		tests := []struct {
			name, route string
			gateway     string
			found       bool
		}{
			{"none", "", "", false},
			{"as a router advertisement makes it", "default via fe80::1 dev ext proto ra metric 1024", "fe80::1", true},
			{"without a gateway", "default dev ext", "", true},
			{"one of several next hops", "default nexthop via fe80::2 dev other nexthop via fe80::1 dev ext", "fe80::1", true},
			{"by another link", "default via fe80::1 dev other", "", false},
			{"half of everything", "::/1 dev ext", "", false},
			{"in another table", "default via fe80::1 dev ext table 77", "", false},
			{"unreachable", "unreachable default dev lo", "", false},
		}
		for _, tt := range tests {
			if tt.route != "" {
				run(t, "ip", append([]string{"-6", "route", "add"}, strings.Fields(tt.route)...)...)
			}
			var want netip.Addr
			if tt.gateway != "" {
				want = netip.MustParseAddr(tt.gateway)
			}
			if got, found, err := k.IPv6Default(context.Background(), ext); err != nil || found != tt.found || got != want {
				t.Errorf("%s: %s, found %v, error %v; want %q, %v", tt.name, got, found, err, tt.gateway, tt.found)
			}
			if tt.route != "" {
				run(t, "ip", append([]string{"-6", "route", "del"}, strings.Fields(tt.route)...)...)
			}
		}
	})
}
