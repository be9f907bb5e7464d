//go:build linux

package kernel

import (
	"context"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// IPv6Default says whether the main table has an IPv6 default route by a link,
// and its gateway, the zero Addr for a route without one. Of several the first
// counts. A kernel without IPv6 has none.
func (k *Kernel) IPv6Default(ctx context.Context, l netplan.Link) (netip.Addr, bool, error) {
	gateways, err := dump(ctx, k.log, "IPv6 routes", func() ([]netip.Addr, error) {
		var out []netip.Addr
		add := func(link int, gateway net.IP) {
			if link == l.Index {
				a, _ := netip.AddrFromSlice(gateway)
				out = append(out, a)
			}
		}
		inMain := &netlink.Route{Table: unix.RT_TABLE_MAIN}
		err := netlink.RouteListFilteredIter(netlink.FAMILY_V6, inMain, netlink.RT_FILTER_TABLE, func(r netlink.Route) bool {
			if !everywhere(r.Dst) || r.Type != unix.RTN_UNICAST {
				return true
			}
			add(r.LinkIndex, r.Gw)
			for _, hop := range r.MultiPath {
				add(hop.LinkIndex, hop.Gw)
			}
			return true
		})
		return out, err
	})
	if err != nil || len(gateways) == 0 {
		return netip.Addr{}, false, err
	}
	return gateways[0], true, nil
}

// everywhere says that a destination is that of a default route.
func everywhere(n *net.IPNet) bool {
	if n == nil {
		return true
	}
	bits, _ := n.Mask.Size()
	return bits == 0
}
