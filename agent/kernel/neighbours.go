//go:build linux

package kernel

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"

	"homeward/netplan"
)

// nudValid are the states in which the kernel sends to an entry's address
// (NUD_VALID in include/net/neighbour.h).
const nudValid = netlink.NUD_PERMANENT | netlink.NUD_NOARP | netlink.NUD_REACHABLE |
	netlink.NUD_PROBE | netlink.NUD_STALE | netlink.NUD_DELAY

// Neighbour gives what the kernel knows of an address on a link.
func (k *Kernel) Neighbour(ctx context.Context, l netplan.Link, a netip.Addr) (netplan.Neighbour, error) {
	listed, err := dump(ctx, k.log, "neighbours of "+l.Name, func() ([]netlink.Neigh, error) {
		return netlink.NeighList(l.Index, netlink.FAMILY_V4)
	})
	if err != nil {
		return netplan.Neighbour{}, err
	}
	for _, n := range listed {
		if addrFromIP(n.IP) == a {
			return netplan.Neighbour{
				Link: l.Index, Address: a, MAC: macOf(n.HardwareAddr),
				Valid: n.State&nudValid != 0, Permanent: n.State&netlink.NUD_PERMANENT != 0,
			}, nil
		}
	}
	return netplan.Neighbour{Link: l.Index, Address: a}, nil
}

// ConfirmNeighbour enters a neighbour as if it had just answered: REACHABLE, so
// that the kernel ages it as any other. Never PERMANENT: that would outlive a
// change of the gateway's address.
func (k *Kernel) ConfirmNeighbour(ctx context.Context, l netplan.Link, a netip.Addr, mac netplan.MAC) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	err := netlink.NeighSet(&netlink.Neigh{
		LinkIndex: l.Index, Family: netlink.FAMILY_V4, State: netlink.NUD_REACHABLE,
		IP: a.AsSlice(), HardwareAddr: mac[:],
	})
	if err != nil {
		return fmt.Errorf("entering neighbour %s at %s on %s: %w", a, mac, l.Name, err)
	}
	return nil
}
