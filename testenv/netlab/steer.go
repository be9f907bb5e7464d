//go:build linux

package netlab

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// The priorities of the routing rules that Homeward's Talos documents make.
const (
	vipRule             = int(netplan.DefaultPriority)
	markRule            = vipRule + 1
	vipUnreachableRule  = vipRule + 10
	markUnreachableRule = vipRule + 11
)

// Steer gives a node the routing rules and routes that Homeward's Talos documents
// would make: what is marked, or has the VIP as its source, leaves by the
// external NIC or not at all. Without marks it changes nothing.
func (n *Node) Steer() error {
	table := int(netplan.DefaultTable)
	mark, mask := uint32(netplan.DefaultMark), uint32(netplan.DefaultMask)
	vip := netip.PrefixFrom(n.cluster.Addresses.VIP, 32)
	for _, r := range []Rule{
		{Priority: vipRule, Source: vip, Table: table},
		{Priority: markRule, Mark: mark, Mask: mask, Table: table},
		{Priority: vipUnreachableRule, Source: vip, Unreachable: true},
		{Priority: markUnreachableRule, Mark: mark, Mask: mask, Unreachable: true},
	} {
		if err := n.AddRule(r); err != nil {
			return err
		}
	}
	return n.SteerRoutes()
}

// SteerRoutes gives a node the routes of Steer alone: what the kernel drops with
// a link, and Talos puts back.
func (n *Node) SteerRoutes() error {
	a := n.cluster.Addresses
	for _, r := range []Route{
		{Destination: a.External},
		{Via: a.ExternalGateway},
	} {
		r.Link, r.Table = n.ExternalLink, int(netplan.DefaultTable)
		r.Metric, r.Protocol = netplan.TalosRouteMetric, unix.RTPROT_STATIC
		if err := n.AddRoute(r); err != nil {
			return err
		}
	}
	return nil
}
