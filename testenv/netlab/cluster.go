//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"net/netip"
)

// Addresses is the address plan of a lab cluster.
type Addresses struct {
	// Private is the nodes' private network and PrivateGateway its router.
	Private        netip.Prefix
	PrivateGateway netip.Addr
	// External is the network of the pool and the VIP, ExternalGateway its router.
	External        netip.Prefix
	ExternalGateway netip.Addr
	// Pool is what MetalLB would hand out, ascending.
	Pool []netip.Addr
	// VIP is the Kubernetes API's address on the external network.
	VIP netip.Addr
	// OnLink is the client in the external network, Behind the one in Far, the
	// network behind the external router.
	OnLink netip.Addr
	Far    netip.Prefix
	Behind netip.Addr
}

// DefaultAddresses gives addresses of the documentation networks.
func DefaultAddresses() Addresses {
	a := Addresses{
		Private:         netip.MustParsePrefix("10.90.0.0/24"),
		PrivateGateway:  netip.MustParseAddr("10.90.0.1"),
		External:        netip.MustParsePrefix("203.0.113.0/24"),
		ExternalGateway: netip.MustParseAddr("203.0.113.1"),
		VIP:             netip.MustParseAddr("203.0.113.74"),
		OnLink:          netip.MustParseAddr("203.0.113.200"),
		Far:             netip.MustParsePrefix("198.51.100.0/24"),
		Behind:          netip.MustParseAddr("198.51.100.10"),
	}
	for ip := netip.MustParseAddr("203.0.113.75"); len(a.Pool) < 5; ip = ip.Next() {
		a.Pool = append(a.Pool, ip)
	}
	return a
}

// Layout is what the nodes' external NICs carry.
type Layout int

const (
	// AnchorLayout is Homeward's: an anchor /32 and no route, so that nothing
	// leaves by the external NIC unless a rule says so.
	AnchorLayout Layout = iota
	// SubnetLayout is the common one: an address of the external network with
	// its connected route. Replies to clients in that network go home by
	// themselves there, which makes a test from such a client pass falsely.
	SubnetLayout
)

// The names of links that no test renames.
const (
	gatewayLink    = "private"
	routerExternal = "external"
	routerFar      = "far"
	clientLink     = "eth0"
	privateBridge  = "private"
	externalBridge = "external"
)

// Cluster is a two-node cluster with two NICs per node, and the networks and
// clients around it. The private gateway has no way to the clients.
type Cluster struct {
	Addresses Addresses
	Layout    Layout

	// Router is the external gateway.
	Router *Host
	// PrivateGateway is the nodes' default gateway.
	PrivateGateway *Host
	// OnLink is a client in the external network.
	OnLink *Host
	// Behind is a client behind the external router: the one to test from.
	Behind *Host
	// Nodes announce and serve; see Node.
	Nodes []*Node

	// plugs is the switch of both networks, one bridge each.
	plugs *Host
	// vlan is the external network's on its bridge, zero for none.
	vlan     int
	services []Service
	hosts    []*Host
	servers  []*EchoServer
}

// NewCluster builds a cluster that is ready for traffic: backends listen,
// nothing is announced or served. No return path is set up: that is what is
// tested. Close it.
func NewCluster(layout Layout) (*Cluster, error) {
	vlan, err := vlanFromEnvironment()
	if err != nil {
		return nil, fmt.Errorf("making a cluster: %w", err)
	}
	c := &Cluster{Addresses: DefaultAddresses(), Layout: layout, vlan: vlan}
	for _, build := range []func() error{c.makeHosts, c.wireGateways, c.wireClients, c.makeNodes, c.filterSpoofed, c.startBackends} {
		if err := build(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Close stops the servers and announcers and gives up the hosts.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range c.Nodes {
		n.announcer.close()
	}
	for _, s := range c.servers {
		errs = append(errs, s.Close())
	}
	for _, h := range c.hosts {
		errs = append(errs, h.Close())
	}
	c.Nodes, c.servers, c.hosts = nil, nil, nil
	return errors.Join(errs...)
}

// Hosts gives every host under a short name, for a shell.
func (c *Cluster) Hosts() map[string]*Host {
	hosts := map[string]*Host{
		"switch": c.plugs, "router": c.Router, "gateway": c.PrivateGateway, "onlink": c.OnLink, "behind": c.Behind,
	}
	for i, n := range c.Nodes {
		hosts[fmt.Sprintf("node%d", i+1)] = n.Host
		hosts[fmt.Sprintf("pod%d", i+1)] = n.Pod
	}
	return hosts
}

func (c *Cluster) host(name string) (*Host, error) {
	h, err := NewHost(name)
	if err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, h)
	// The machine's own defaults must not decide what a test sees.
	for _, scope := range []string{"all", "default"} {
		for key, value := range map[string]string{
			"rp_filter": "0", "src_valid_mark": "0", "arp_ignore": "0", "arp_filter": "0", "send_redirects": "0", "accept_redirects": "0",
		} {
			if err := h.SetSysctl("net/ipv4/conf/"+scope+"/"+key, value); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

func (c *Cluster) makeHosts() error {
	for name, place := range map[string]**Host{
		"switch": &c.plugs, "router": &c.Router, "private gateway": &c.PrivateGateway,
		"on-link client": &c.OnLink, "client behind the router": &c.Behind,
	} {
		h, err := c.host(name)
		if err != nil {
			return err
		}
		*place = h
	}
	return c.makeBridges()
}

// plug connects a host's link to one of the switch's bridges.
func (c *Cluster) plug(h *Host, link, bridge, port string) error {
	if err := Connect(h, link, c.plugs, port); err != nil {
		return err
	}
	return c.plugs.Enslave(port, bridge)
}

func (c *Cluster) wireGateways() error {
	a := c.Addresses
	return inOrder(
		func() error { return c.plug(c.PrivateGateway, gatewayLink, privateBridge, "gateway-p") },
		func() error {
			return c.PrivateGateway.AddAddress(gatewayLink, netip.PrefixFrom(a.PrivateGateway, a.Private.Bits()))
		},
		func() error { return c.PrivateGateway.SetSysctl("net/ipv4/ip_forward", "1") },
		c.wireRouter,
		func() error {
			return c.Router.AddAddress(routerExternal, netip.PrefixFrom(a.ExternalGateway, a.External.Bits()))
		},
		func() error { return c.Router.SetSysctl("net/ipv4/ip_forward", "1") },
		// Path MTU errors must not be held back.
		func() error { return c.Router.SetSysctl("net/ipv4/icmp_ratemask", "0") },
	)
}

func (c *Cluster) wireClients() error {
	a := c.Addresses
	far := a.Far.Masked().Addr().Next()
	return inOrder(
		func() error { return Connect(c.OnLink, clientLink, c.plugs, "client-x") },
		func() error { return c.plugExternal("client-x") },
		func() error { return c.OnLink.AddAddress(clientLink, netip.PrefixFrom(a.OnLink, a.External.Bits())) },
		func() error { return c.OnLink.AddRoute(Route{Via: a.ExternalGateway}) },
		func() error { return Connect(c.Router, routerFar, c.Behind, clientLink) },
		func() error { return c.Router.AddAddress(routerFar, netip.PrefixFrom(far, a.Far.Bits())) },
		func() error { return c.Behind.AddAddress(clientLink, netip.PrefixFrom(a.Behind, a.Far.Bits())) },
		func() error { return c.Behind.AddRoute(Route{Via: far}) },
	)
}

// inOrder does steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
