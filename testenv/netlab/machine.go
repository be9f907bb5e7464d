//go:build linux

package netlab

import (
	"fmt"
	"net"
	"net/netip"
)

// AddMachine adds a machine without pods, as a control plane may be: default
// route by the private gateway, the way to the nodes' pods, and an external NIC
// of the name and MAC given that is up and bare. Its addresses, routes and rules
// are for the caller to make.
func (c *Cluster) AddMachine(name string, address netip.Addr, external string, mac net.HardwareAddr) (*Host, error) {
	const link = "ens18"
	h, err := c.host(name)
	if err != nil {
		return nil, err
	}
	port := name + "-x"
	steps := []func() error{
		func() error { return c.plug(h, link, privateBridge, name) },
		func() error { return h.AddAddress(link, netip.PrefixFrom(address, c.Addresses.Private.Bits())) },
		func() error { return h.AddRoute(Route{Via: c.Addresses.PrivateGateway, Link: link}) },
		func() error { return lay(h, external, mac, c.plugs, port) },
		func() error { return c.plugExternal(port) },
		func() error { return h.SetUp(external) },
	}
	for _, n := range c.Nodes {
		steps = append(steps, func() error {
			return h.AddRoute(Route{Destination: podNetwork(n.index), Via: n.PrivateAddress, Link: link})
		})
	}
	return h, inOrder(steps...)
}

// Gratuitous tells every host of a link's network that an address is now behind
// that link, as who takes a VIP over does.
func (h *Host) Gratuitous(link string, address netip.Addr) error {
	attrs, err := h.Link(link)
	if err != nil {
		return err
	}
	// Both forms, as MetalLB sends them: some hosts learn from one only.
	for _, operation := range []uint16{arpRequest, arpReply} {
		frame := arpFrame(operation, attrs.HardwareAddr, address, broadcast(), address, broadcast())
		if err := h.sendARP(attrs.Index, frame); err != nil {
			return fmt.Errorf("announcing %s from %s: %w", address, h.name, err)
		}
	}
	return nil
}
