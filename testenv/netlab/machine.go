//go:build linux

package netlab

import "net/netip"

// AddMachine adds a machine that has only the private NIC, as a control plane
// may: default route by the private gateway, and the way to the nodes' pods.
func (c *Cluster) AddMachine(name string, address netip.Addr) (*Host, error) {
	const link = "ens18"
	h, err := c.host(name)
	if err != nil {
		return nil, err
	}
	steps := []func() error{
		func() error { return c.plug(h, link, privateBridge, name) },
		func() error { return h.AddAddress(link, netip.PrefixFrom(address, c.Addresses.Private.Bits())) },
		func() error { return h.AddRoute(Route{Via: c.Addresses.PrivateGateway, Link: link}) },
	}
	for _, n := range c.Nodes {
		steps = append(steps, func() error {
			return h.AddRoute(Route{Destination: podNetwork(n.index), Via: n.PrivateAddress, Link: link})
		})
	}
	return h, inOrder(steps...)
}
