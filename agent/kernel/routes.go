//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// Routes lists the IPv4 routes of one table, those of our protocol in any table,
// and every default route, in the kernel's order. Others are read one by one and
// forgotten: a node may have very many.
func (k *Kernel) Routes(ctx context.Context, table netplan.TableID) ([]netplan.Route, error) {
	return dump(ctx, k.log, "routes", func() ([]netplan.Route, error) {
		var out []netplan.Route
		everyTable := &netlink.Route{Table: unix.RT_TABLE_UNSPEC}
		err := netlink.RouteListFilteredIter(netlink.FAMILY_V4, everyTable, netlink.RT_FILTER_TABLE, func(r netlink.Route) bool {
			got := routeFrom(r)
			if table != 0 && got.Table == table || got.Protocol == netplan.AgentProtocol || got.Destination.Bits() == 0 {
				out = append(out, got)
			}
			return true
		})
		return out, err
	})
}

func routeFrom(r netlink.Route) netplan.Route {
	out := netplan.Route{
		Table: netplan.TableID(r.Table), Destination: prefixOf(r.Dst), Gateway: addrFromIP(r.Gw),
		Link: r.LinkIndex, Metric: uint32(r.Priority), Protocol: netplan.RouteProtocol(r.Protocol),
	}
	switch r.Scope {
	case netlink.SCOPE_UNIVERSE:
		out.Scope = netplan.ScopeGlobal
	case netlink.SCOPE_LINK:
		out.Scope = netplan.ScopeLink
	default:
		out.Scope = netplan.RouteScope(fmt.Sprintf("scope %d", r.Scope))
	}
	var others []string
	for _, o := range []struct {
		there bool
		text  string
	}{
		{r.Type != unix.RTN_UNICAST, fmt.Sprintf("type %d", r.Type)},
		{len(r.MultiPath) > 0, "several next hops"},
		{r.Src != nil, "src " + r.Src.String()},
		{r.Tos != 0, fmt.Sprintf("tos 0x%x", r.Tos)},
		{r.Encap != nil || r.Via != nil, "encapsulated"},
		{r.Flags&unix.RTNH_F_DEAD != 0, "dead"},
	} {
		if o.there {
			others = append(others, o.text)
		}
	}
	out.Others = strings.Join(others, " ")
	return out
}

// AddRoute adds a route behind those of the same destination and metric, so that
// a stale one can be deleted after it and never before; that it is there already
// is no error.
func (k *Kernel) AddRoute(ctx context.Context, r netplan.Route) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	if err := netlink.RouteAppend(routeOf(r)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("adding route %s: %w", r, err)
	}
	return nil
}

// DeleteRoute deletes a route; that it is gone already is no error. Every field
// is given.
func (k *Kernel) DeleteRoute(ctx context.Context, r netplan.Route) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	err := netlink.RouteDel(routeOf(r))
	if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting route %s: %w", r, err)
	}
	return nil
}

func routeOf(r netplan.Route) *netlink.Route {
	out := &netlink.Route{
		Family: netlink.FAMILY_V4, Table: int(r.Table), Dst: ipNetOf(r.Destination), LinkIndex: r.Link,
		Priority: int(r.Metric), Protocol: netlink.RouteProtocol(r.Protocol), Type: unix.RTN_UNICAST,
		Scope: netlink.SCOPE_UNIVERSE,
	}
	if r.Scope == netplan.ScopeLink {
		out.Scope = netlink.SCOPE_LINK
	}
	if r.Gateway.IsValid() {
		out.Gw = r.Gateway.AsSlice()
	}
	if out.Dst == nil {
		out.Dst = defaultNet()
	}
	return out
}
