package netplan

import "net/netip"

// RepliesExternally says that replies leave this machine by the external NIC:
// it needs the routes of our table. True where the return path runs, and on a
// control plane whose VIP is external.
func (p *Plan) RepliesExternally(m Machine) bool {
	return p.MarksConnections(m) || p.HoldsExternalVIP(m)
}

// MarksConnections says that the static pod and the mark rules belong on this
// machine: it has the external NIC, and there is a pool or a real external
// address of its own.
func (p *Plan) MarksConnections(m Machine) bool {
	return m.External && p.External != nil && (len(p.External.IngressPool) > 0 || m.ExternalAddress.IsValid())
}

// HoldsExternalVIP says that the API's VIP may stand on this machine's
// external link.
func (p *Plan) HoldsExternalVIP(m Machine) bool {
	return m.External && m.Role == RoleControlPlane && p.KubeAPI.Link == LinkExternal
}

// Destinations are the addresses whose connections are marked on a machine, as
// merged ranges: the pool, an external VIP, and its own real external address.
// Empty where MarksConnections is false.
func (p *Plan) Destinations(m Machine) AddressSet {
	if !p.MarksConnections(m) {
		return nil
	}
	set := append(AddressSet{}, p.External.IngressPool...)
	for _, a := range []netip.Addr{p.vipOn(LinkExternal), m.ExternalAddress} {
		if a.IsValid() {
			set = append(set, Range{First: a, Last: a})
		}
	}
	return set.Merged()
}

// vipOn gives the API's VIP when it is on that link, else the zero Addr.
func (p *Plan) vipOn(link LinkName) netip.Addr {
	if p.KubeAPI.Link != link {
		return netip.Addr{}
	}
	return p.KubeAPI.VIP
}

// AnnouncesEverywhere says that every machine that MetalLB would pick by itself
// has the external NIC, so that an L2Advertisement needs no nodeSelectors. On
// OpenStack all are on the one network.
func (p *Plan) AnnouncesEverywhere() bool {
	if p.OpenStack != nil {
		return true
	}
	workers := p.HasWorkers()
	for _, m := range p.Machines {
		eligible := m.Role == RoleWorker || !workers
		if eligible && !m.External {
			return false
		}
	}
	return true
}

// HasWorkers says that there is at least one worker. Without any, control planes
// announce, and must not be excluded from external load balancers.
func (p *Plan) HasWorkers() bool {
	for _, m := range p.Machines {
		if m.Role == RoleWorker {
			return true
		}
	}
	return false
}

// Static says that the machine configures its private address itself, instead of
// asking DHCP.
func (p *Plan) Static(m Machine) bool { return m.Address.IsValid() && p.OpenStack == nil }

// ServicePool is what MetalLB may hand out, in the operator's order: the ingress
// pool, on OpenStack the one fixed address of the ingress port. Empty when there is
// none, or none yet.
func (p *Plan) ServicePool() AddressSet {
	switch {
	case p.OpenStack != nil:
		return AddressSet{}.with(p.Ingress.Fixed)
	case p.External != nil:
		return p.External.IngressPool
	}
	return nil
}
