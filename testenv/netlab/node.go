//go:build linux

package netlab

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Node is a machine of the cluster: its own network is the embedded Host.
//
// The private NIC has the default route, the external one what the cluster's
// layout says. A pod hangs on a veth, and pods of other nodes are reached
// through the private NIC (flannel's host-gw).
type Node struct {
	*Host
	// PrivateLink and ExternalLink are the NICs' names. Rename the external NIC
	// with RenameExternal, which keeps ExternalLink true.
	PrivateLink, ExternalLink string
	// ExternalMAC stays with the NIC through Unplug and Plug.
	ExternalMAC    net.HardwareAddr
	PrivateAddress netip.Addr
	// ExternalAddress is the anchor /32, or with SubnetLayout a /24 of the
	// external network.
	ExternalAddress netip.Prefix
	// Pod is the pod's network.
	Pod        *Host
	PodAddress netip.Addr

	cluster   *Cluster
	index     int
	announcer *announcer
}

const (
	nodeCount = 2
	podLink   = "veth-pod"
)

func (c *Cluster) makeNodes() error {
	for i := range nodeCount {
		n := &Node{
			PrivateLink: "ens18", ExternalLink: "ens19", cluster: c, index: i,
			ExternalMAC:    net.HardwareAddr{0x02, 0, 0, 0, 0x0e, byte(i + 1)},
			PrivateAddress: offset(c.Addresses.Private, 11+i),
			PodAddress:     offset(podNetwork(i), 10),
		}
		n.ExternalAddress = netip.PrefixFrom(offset(netip.MustParsePrefix("169.254.33.0/24"), 11+i), 32)
		if c.Layout == SubnetLayout {
			n.ExternalAddress = netip.PrefixFrom(offset(c.Addresses.External, 11+i), c.Addresses.External.Bits())
		}
		name := fmt.Sprintf("node%d", i+1)
		var err error
		if n.Host, err = c.host(name); err != nil {
			return err
		}
		if n.Pod, err = c.host("pod on " + name); err != nil {
			return err
		}
		if err := n.wire(); err != nil {
			return err
		}
		n.announcer = newAnnouncer(n)
		c.Nodes = append(c.Nodes, n)
	}
	return nil
}

func (n *Node) wire() error {
	a := n.cluster.Addresses
	pods := podNetwork(n.index)
	return inOrder(
		func() error { return n.SetSysctl("net/ipv4/ip_forward", "1") },
		// A reply that is late because ICMP errors are rationed would look lost.
		func() error { return n.SetSysctl("net/ipv4/icmp_ratemask", "0") },
		func() error { return n.cluster.plug(n.Host, n.PrivateLink, privateBridge, n.port("p")) },
		func() error {
			return n.AddAddress(n.PrivateLink, netip.PrefixFrom(n.PrivateAddress, a.Private.Bits()))
		},
		n.wireRoutes,
		func() error { return n.Plug() },
		func() error { return Connect(n.Host, podLink, n.Pod, clientLink) },
		func() error { return n.AddAddress(podLink, netip.PrefixFrom(offset(pods, 1), pods.Bits())) },
		func() error { return n.Pod.AddAddress(clientLink, netip.PrefixFrom(n.PodAddress, pods.Bits())) },
		func() error { return n.Pod.AddRoute(Route{Via: offset(pods, 1)}) },
	)
}

// wireRoutes makes the routes by the private NIC: the default, and to the other
// node's pods.
func (n *Node) wireRoutes() error {
	a, other := n.cluster.Addresses, 1-n.index
	if err := n.AddRoute(Route{Via: a.PrivateGateway, Link: n.PrivateLink}); err != nil {
		return err
	}
	return n.AddRoute(Route{Destination: podNetwork(other), Via: offset(a.Private, 11+other), Link: n.PrivateLink})
}

// Plug puts the external NIC in: a new link with the old MAC and name, up, with
// its address.
func (n *Node) Plug() error {
	return inOrder(
		n.PlugDown,
		func() error { return n.AddAddress(n.ExternalLink, n.ExternalAddress) },
		func() error { return n.SetUp(n.ExternalLink) },
	)
}

// PlugDown puts the external NIC in as Talos may leave it: DOWN, with its MAC and
// without its address.
func (n *Node) PlugDown() error {
	port := n.port("x")
	return inOrder(
		func() error { return lay(n.Host, n.ExternalLink, n.ExternalMAC, n.cluster.plugs, port) },
		func() error { return n.cluster.plugExternal(port) },
	)
}

// Unplug takes the external NIC out: the link is gone, and a later Plug has
// another index.
func (n *Node) Unplug() error { return n.Delete(n.ExternalLink) }

// RenameExternal gives the external NIC another name.
func (n *Node) RenameExternal(name string) error {
	if err := n.Rename(n.ExternalLink, name); err != nil {
		return err
	}
	n.ExternalLink = name
	return nil
}

// HoldVIP gives the external NIC the Kubernetes API's address, as Talos's VIP
// does on a control plane, and announces it.
func (n *Node) HoldVIP() error {
	vip := n.cluster.Addresses.VIP
	if err := n.AddAddress(n.ExternalLink, netip.PrefixFrom(vip, 32)); err != nil {
		return err
	}
	return n.announcer.gratuitous(vip)
}

// ReleaseVIP takes the Kubernetes API's address away.
func (n *Node) ReleaseVIP() error {
	return n.RemoveAddress(n.ExternalLink, netip.PrefixFrom(n.cluster.Addresses.VIP, 32))
}

// port names the switch's side of one of the node's NICs.
func (n *Node) port(kind string) string { return fmt.Sprintf("node%d-%s", n.index+1, kind) }

// externalByMAC finds the external NIC whatever it is called.
func (n *Node) externalByMAC() (netlink.Link, error) {
	links, err := n.nl.LinkList()
	if err != nil {
		return nil, fmt.Errorf("listing links on %s: %w", n.name, err)
	}
	for _, l := range links {
		if l.Attrs().HardwareAddr.String() == n.ExternalMAC.String() {
			return l, nil
		}
	}
	return nil, fmt.Errorf("finding external NIC on %s: no link has %s", n.name, n.ExternalMAC)
}

func podNetwork(node int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(node + 1), 0}), 24)
}

// offset gives the n-th address of a network of at most 256 addresses.
func offset(network netip.Prefix, n int) netip.Addr {
	a := network.Masked().Addr().As4()
	a[3] += byte(n)
	return netip.AddrFrom4(a)
}
