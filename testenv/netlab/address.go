//go:build linux

package netlab

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Route is one IPv4 route. The zero value of a field leaves the kernel's default.
type Route struct {
	// Destination invalid is the default route.
	Destination netip.Prefix
	// Via invalid is a route onto the link itself, scope link.
	Via netip.Addr
	// Link may be empty with Via.
	Link string
	// OnLink allows a gateway that no other route reaches.
	OnLink bool
	// Table zero is main (254).
	Table int
	// Metric zero is the most preferred.
	Metric int
	// Protocol zero is boot (3).
	Protocol int
}

// Rule is one IPv4 routing rule.
type Rule struct {
	Priority int
	// Source invalid matches every packet.
	Source netip.Prefix
	// Mark is compared under Mask; both zero matches every packet.
	Mark, Mask uint32
	// Table is looked up, unless Unreachable.
	Table       int
	Unreachable bool
}

// AddAddress gives a link an address.
func (h *Host) AddAddress(link string, address netip.Prefix) error {
	return h.change(link, "adding "+address.String()+" to", func(l netlink.Link) error {
		return h.nl.AddrAdd(l, &netlink.Addr{IPNet: ipNet(address)})
	})
}

// RemoveAddress takes an address from a link.
func (h *Host) RemoveAddress(link string, address netip.Prefix) error {
	return h.change(link, "removing "+address.String()+" from", func(l netlink.Link) error {
		return h.nl.AddrDel(l, &netlink.Addr{IPNet: ipNet(address)})
	})
}

// AddRoute adds a route, or replaces the one with the same destination, table
// and metric.
func (h *Host) AddRoute(r Route) error {
	k, err := h.kernelRoute(r)
	if err != nil {
		return err
	}
	if err := h.nl.RouteReplace(k); err != nil {
		return fmt.Errorf("adding route %v on %s: %w", r, h.name, err)
	}
	return nil
}

// DeleteRoute deletes a route that AddRoute added.
func (h *Host) DeleteRoute(r Route) error {
	k, err := h.kernelRoute(r)
	if err != nil {
		return err
	}
	if err := h.nl.RouteDel(k); err != nil {
		return fmt.Errorf("deleting route %v on %s: %w", r, h.name, err)
	}
	return nil
}

// AddRule adds a routing rule.
func (h *Host) AddRule(r Rule) error {
	if err := h.nl.RuleAdd(r.kernel()); err != nil {
		return fmt.Errorf("adding rule %v on %s: %w", r, h.name, err)
	}
	return nil
}

// DeleteRule deletes a rule that AddRule added.
func (h *Host) DeleteRule(r Rule) error {
	if err := h.nl.RuleDel(r.kernel()); err != nil {
		return fmt.Errorf("deleting rule %v on %s: %w", r, h.name, err)
	}
	return nil
}

// FlushTable deletes every IPv4 route of a table and says how many there were.
func (h *Host) FlushTable(table int) (int, error) {
	routes, err := h.nl.RouteListFiltered(unix.AF_INET, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return 0, fmt.Errorf("listing table %d on %s: %w", table, h.name, err)
	}
	for _, r := range routes {
		if err := h.nl.RouteDel(&r); err != nil {
			return 0, fmt.Errorf("flushing table %d on %s: %w", table, h.name, err)
		}
	}
	return len(routes), nil
}

// AddNeighbour installs a permanent neighbour entry.
func (h *Host) AddNeighbour(link string, address netip.Addr, mac net.HardwareAddr) error {
	return h.change(link, "adding neighbour "+address.String()+" to", func(l netlink.Link) error {
		return h.nl.NeighSet(&netlink.Neigh{
			LinkIndex: l.Attrs().Index, Family: unix.AF_INET, State: unix.NUD_PERMANENT,
			IP: address.AsSlice(), HardwareAddr: mac,
		})
	})
}

func (h *Host) kernelRoute(r Route) (*netlink.Route, error) {
	k := &netlink.Route{Table: r.Table, Priority: r.Metric, Protocol: netlink.RouteProtocol(r.Protocol)}
	k.Dst = ipNet(netip.PrefixFrom(netip.IPv4Unspecified(), 0))
	if r.Destination.IsValid() {
		k.Dst = ipNet(r.Destination)
	}
	if r.Via.IsValid() {
		k.Gw = r.Via.AsSlice()
	} else {
		k.Scope = netlink.SCOPE_LINK
	}
	if r.OnLink {
		k.Flags = int(netlink.FLAG_ONLINK)
	}
	if r.Link != "" {
		l, err := h.link(r.Link)
		if err != nil {
			return nil, err
		}
		k.LinkIndex = l.Attrs().Index
	}
	return k, nil
}

func (r Rule) kernel() *netlink.Rule {
	k := netlink.NewRule()
	k.Family = unix.AF_INET
	k.Priority = r.Priority
	if r.Source.IsValid() {
		k.Src = ipNet(r.Source)
	}
	if r.Mask != 0 {
		mask := r.Mask
		k.Mark, k.Mask = r.Mark, &mask
	}
	if r.Unreachable {
		k.Type = unix.RTN_UNREACHABLE
	} else {
		k.Table = r.Table
	}
	return k
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
