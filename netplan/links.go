package netplan

import "net/netip"

// cluster checks the private link's gateway and resolvers.
func (r *resolver) cluster() {
	c := &r.plan.Cluster
	c.DNS = r.spec.DNS
	gw := r.spec.Cluster.Gateway
	if !gw.IsValid() {
		return
	}
	c.Gateway = gw
	path := pathCluster + ".gateway"
	if r.faulty(pathClusterCIDR) {
		return
	}
	r.gateway(path, pathClusterCIDR, c.CIDR, gw, false)
}

// external checks the external link's gateway and the sets of other hosts.
func (r *resolver) external() {
	e := r.spec.External
	if e == nil {
		return
	}
	ext := r.plan.External
	ext.Gateway, ext.GatewayOnLink = e.Gateway, e.GatewayOnLink
	cidrKnown := e.CIDR.IsValid() && !r.faulty(pathExternal+".cidr")
	if !e.Gateway.IsValid() {
		example := ""
		if cidrKnown {
			example = ", like " + hosts(e.CIDR).First.String()
		}
		r.fault(pathGateway, "missing: give the router's address on the external link%s", example)
	} else if cidrKnown {
		r.gateway(pathGateway, pathExternal+".cidr", e.CIDR, e.Gateway, e.GatewayOnLink)
	}
	ext.DHCPRanges = r.foreign(pathDHCP, e.DHCP, cidrKnown)
	ext.Reserved = r.foreign(pathReserved, e.Reserved, cidrKnown)
}

// gateway checks a router's address against its link.
func (r *resolver) gateway(path, cidrPath string, link netip.Prefix, gw netip.Addr, onLink bool) {
	usable := hosts(link)
	if bits, ok := maskBits(gw); ok && bits >= 8 {
		r.fault(path, "%s is a netmask, not an address: give the router's address, in %s-%s", gw, usable.First, usable.Last)
		return
	}
	if !link.Contains(gw) {
		switch {
		case !onLink && cidrPath == pathClusterCIDR:
			r.clash(path, cidrPath, "%s is outside %s: give an address in %s-%s", gw, link, usable.First, usable.Last)
		case !onLink && (!routable(gw) || r.onPrivate(gw)):
			r.clash(path, cidrPath, "%s is outside %s: give an address in %s-%s", gw, link, usable.First, usable.Last)
		case !onLink:
			r.clash(path, cidrPath, "%s is outside %s: give an address in %s-%s, or set gateway_onlink: true", gw, link, usable.First, usable.Last)
		case !routable(gw):
			r.fault(path, "%s is no router's address", gw)
		case r.onPrivate(gw):
			r.clash(path, pathClusterCIDR, "%s is on the private link %s: give the external link's router", gw, r.plan.Cluster.CIDR)
		}
		return
	}
	if kind := edge(link, gw); kind != "" {
		r.clash(path, cidrPath, "%s is the %s of %s: give an address in %s-%s", gw, kind, link, usable.First, usable.Last)
	}
}

// routable says that a router can have this address.
func routable(a netip.Addr) bool { return !a.IsLoopback() && !a.IsMulticast() && !a.IsUnspecified() }

// onPrivate says that an address lies on the private link.
func (r *resolver) onPrivate(a netip.Addr) bool {
	return r.plan.Cluster.CIDR.IsValid() && r.plan.Cluster.CIDR.Contains(a)
}

// foreign checks a set of addresses that others on the external link have.
func (r *resolver) foreign(path string, set AddressSet, cidrKnown bool) AddressSet {
	if len(set) > MaxRanges {
		r.fault(path, "%d entries are more than %d: give ranges", len(set), MaxRanges)
		return nil
	}
	if !cidrKnown {
		return set
	}
	link := r.spec.External.CIDR
	for _, x := range set {
		if !link.Contains(x.First) || !link.Contains(x.Last) {
			r.clash(path, pathExternal+".cidr", "%s is outside %s: give addresses of the external link, or leave it out", x.brief(), link)
		}
		if gw := r.spec.External.Gateway; path == pathDHCP && gw.IsValid() && x.Contains(gw) {
			r.clash(path, pathGateway, "%s holds %s, the gateway: give %s", x.brief(), gw, AddressSet{x}.Minus(AddressSet{}.with(gw)).value())
		}
	}
	return set
}

// MaxRanges is how many entries one set of addresses may have.
const MaxRanges = 1000
