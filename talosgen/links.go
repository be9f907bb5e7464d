package talosgen

import (
	"fmt"
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"

	"homeward/netplan"
)

func hostname(name string) *network.HostnameConfigV1Alpha1 {
	doc := network.NewHostnameConfigV1Alpha1()
	doc.ConfigHostname = name
	// A generated base says `auto: stable`, and both together are refused.
	doc.ConfigAuto = new(nethelpers.AutoHostnameKindOff)
	return doc
}

// selector matches the one link with that address. MAC writes lower case, and it
// must: an upper-case one matches nothing, and Talos says so to nobody.
func selector(mac netplan.MAC) string {
	return fmt.Sprintf("mac(link.permanent_addr) == %q", mac)
}

func linkAlias(alias string, mac netplan.MAC) (*network.LinkAliasConfigV1Alpha1, error) {
	match, err := cel.ParseBooleanExpression(selector(mac), celenv.LinkLocator())
	if err != nil {
		return nil, fmt.Errorf("selecting link %s: %w", alias, err)
	}
	doc := network.NewLinkAliasConfigV1Alpha1(alias)
	doc.Selector.Match = match
	return doc, nil
}

// externalLink brings the link up with one address and, where replies leave by
// it, the routes of our table. Nothing of it lands in the main table.
func externalLink(p *netplan.Plan, m netplan.Machine) *network.LinkConfigV1Alpha1 {
	doc := network.NewLinkConfigV1Alpha1(netplan.AliasExternal)
	doc.LinkUp = new(true)
	doc.LinkMTU = linkMTU(p.External.MTU)
	doc.LinkAddresses = []network.AddressConfig{linkAddress(netip.PrefixFrom(externalAddress(m), 32))}
	if p.RepliesExternally(m) {
		doc.LinkRoutes = externalRoutes(p)
	}
	return doc
}

// externalAddress is the one address on the external link: the real one where the
// machine has it, else the anchor. Only one, for the kernel takes the sender of its
// ARP requests from the link's addresses, and with both it would be left to chance
// which of them a strict gateway sees.
func externalAddress(m netplan.Machine) netip.Addr {
	if m.ExternalAddress.IsValid() {
		return m.ExternalAddress
	}
	return m.Anchor
}

// externalRoutes are the routes of our table, in the order in which each can be
// installed. A default route has no destination: Talos refuses 0.0.0.0/0.
func externalRoutes(p *netplan.Plan) []network.RouteConfig {
	ext, table := p.External, nethelpers.RoutingTable(p.ReturnPath.Table)
	var routes []network.RouteConfig
	if ext.GatewayOnLink && !ext.CIDR.Contains(ext.Gateway) {
		routes = append(routes, network.RouteConfig{
			RouteDestination: network.Prefix{Prefix: netip.PrefixFrom(ext.Gateway, 32)},
			RouteTable:       table,
		})
	}
	return append(routes,
		network.RouteConfig{RouteDestination: network.Prefix{Prefix: ext.CIDR}, RouteTable: table},
		network.RouteConfig{RouteGateway: network.Addr{Addr: ext.Gateway}, RouteTable: table},
	)
}

// privateLink says that the link is up even where DHCP does the rest: once there
// is any document of a link, Talos does by itself only what documents say.
func privateLink(p *netplan.Plan, m netplan.Machine) *network.LinkConfigV1Alpha1 {
	doc := network.NewLinkConfigV1Alpha1(netplan.AliasPrivate)
	doc.LinkUp = new(true)
	doc.LinkMTU = linkMTU(p.Cluster.MTU)
	if p.Static(m) {
		doc.LinkAddresses = []network.AddressConfig{linkAddress(netip.PrefixFrom(m.Address, p.Cluster.CIDR.Bits()))}
		if p.Cluster.Gateway.IsValid() {
			doc.LinkRoutes = []network.RouteConfig{{RouteGateway: network.Addr{Addr: p.Cluster.Gateway}}}
		}
	}
	return doc
}

// linkAddress always gives the route priority: without it the address of an
// aliased link flaps. 1024 is the one Talos would choose.
func linkAddress(prefix netip.Prefix) network.AddressConfig {
	return network.AddressConfig{AddressAddress: prefix, AddressPriority: new(uint32(netplan.TalosRouteMetric))}
}

// linkMTU is zero, which is not written, for the usual MTU.
func linkMTU(mtu int) uint32 {
	if mtu == netplan.DefaultMTU {
		return 0
	}
	return uint32(mtu)
}

// resolver is nil where there are no servers to name.
func resolver(servers []netip.Addr) *network.ResolverConfigV1Alpha1 {
	if len(servers) == 0 {
		return nil
	}
	doc := network.NewResolverConfigV1Alpha1()
	for _, a := range servers {
		doc.ResolverNameservers = append(doc.ResolverNameservers, network.NameserverConfig{Address: network.Addr{Addr: a}})
	}
	return doc
}

// layer2VIP is for control planes only: on a worker it passes validation and
// then waits for etcd for ever.
func layer2VIP(api netplan.KubeAPI) *network.Layer2VIPConfigV1Alpha1 {
	doc := network.NewLayer2VIPConfigV1Alpha1(api.VIP.String())
	doc.LinkName = netplan.AliasPrivate
	if api.Link == netplan.LinkExternal {
		doc.LinkName = netplan.AliasExternal
	}
	return doc
}
