package returnpath

import (
	"context"
	"net/netip"

	"homeward/netplan"
)

// Kernel is what the agent needs of the node's network. A listing is whole or an
// error, never a part. Adding what is there and removing what is gone are not
// errors. Its methods may be called by several goroutines.
type Kernel interface {
	Links(context.Context) ([]netplan.Link, error)
	Rules(context.Context) ([]netplan.Rule, error)
	// Routes lists what is in one table or has our protocol, and every default
	// route.
	Routes(context.Context, netplan.TableID) ([]netplan.Route, error)
	MarkTable(context.Context) (netplan.TableListing, error)

	SetLinkUp(context.Context, netplan.Link) error
	AddRule(context.Context, netplan.Rule) error
	DeleteRule(context.Context, netplan.Rule) error
	AddRoute(context.Context, netplan.Route) error
	DeleteRoute(context.Context, netplan.Route) error
	// ReplaceMarkTable puts the table in place of what there is, in one
	// transaction; its counters start from the given ones. It may fail although
	// the kernel has done it: list again.
	ReplaceMarkTable(context.Context, netplan.MarkTable, netplan.Stamp, netplan.Counters) error
	DeleteMarkTable(context.Context) error

	// ReversePath gives the effective values of a link, fs.ErrNotExist when it is
	// gone.
	ReversePath(context.Context, netplan.Link) (netplan.ReversePath, error)
	// IPv6Default says whether the main table has an IPv6 default route by a link,
	// and its gateway, the zero Addr for a route without one.
	IPv6Default(context.Context, netplan.Link) (gateway netip.Addr, found bool, err error)
	// Addresses are the IPv4 addresses of a link.
	Addresses(context.Context, netplan.Link) ([]netip.Addr, error)
	// Neighbour gives the zero MAC and Valid false for one it does not know.
	Neighbour(context.Context, netplan.Link, netip.Addr) (netplan.Neighbour, error)
	// ConfirmNeighbour enters a neighbour as reachable just now.
	ConfirmNeighbour(context.Context, netplan.Link, netip.Addr, netplan.MAC) error

	// HasLegacyTable says whether the earlier scheme's nftables table is there.
	HasLegacyTable(context.Context) (bool, error)
	DeleteLegacyTable(context.Context) error

	// Watch sends what kind of thing changed, until the context ends. Changes may
	// be dropped while the reader is slow: one that waits stands for all. It never
	// gives up; a change that it may have missed is sent as one.
	Watch(context.Context) <-chan string
}

// GatewayProber asks on the wire who has an address.
type GatewayProber interface {
	// Ask sends an ARP request for target and waits a moment for the answer; the
	// zero MAC means that nobody answered. With the sender 0.0.0.0 it is an
	// RFC 5227 probe, which says nothing about ourselves.
	Ask(ctx context.Context, link netplan.Link, sender, target netip.Addr) (netplan.MAC, error)
}
