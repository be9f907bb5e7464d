package netplan

import (
	"net/netip"
	"slices"
)

// oneProvider refuses a plan for two.
func (r *resolver) oneProvider() {
	r.clash("openstack", "proxmox", "stands beside proxmox: a plan has one provider, remove the other's section")
}

// onlyOnProxmox refuses by name what has no meaning on OpenStack, and takes it out of
// the spec, so that nothing else is concluded from it.
func (r *resolver) onlyOnProxmox() {
	s := &r.spec
	s.Workers, s.Machines = slices.Clone(s.Workers), slices.Clone(s.Machines) // the caller's stay
	refuse := func(given bool, path, why string) {
		if given {
			r.fault(path, "has no meaning on OpenStack: %s", why)
		}
	}
	const oneNIC = "its machines have one NIC, leave it out"
	refuse(s.External != nil, "network.external", "a router and floating IPs lead outside there, leave it out (the addresses are chosen by openstack.kubeapi_address, ingress_address and the floating IPs beside them)")
	refuse(s.ControlPlaneNoExternal || s.ControlPlaneExternal, poolControlPlane+".external", oneNIC)
	for i, pool := range s.Workers {
		refuse(pool.NoExternal || pool.External, "workers."+pool.Name+".external", oneNIC)
		s.Workers[i].NoExternal, s.Workers[i].External = false, false
	}
	r.clusterOnProxmox(refuse)
	for i, m := range s.Machines {
		path := "machines." + m.Name
		refuse(m.VMID != nil, path+".vmid", "it is a guest's number in Proxmox, leave it out")
		refuse(m.Node != "", path+".node", "it is a Proxmox host, leave it out")
		refuse(!m.ExternalMAC.IsZero(), path+".macs.external", oneNIC)
		refuse(m.ExternalAddress.IsValid(), path+".external_address", oneNIC)
		refuse(m.Anchor.IsValid(), path+".anchor", oneNIC)
		s.Machines[i] = MachineSpec{Name: m.Name, ClusterMAC: m.ClusterMAC, Address: m.Address}
	}
	refuse(s.Ingress.Address.IsValid(), "ingress.address", "give it as openstack.ingress_address")
	refuse(s.Ingress.Interface != "", "ingress.interface", oneNIC)
	s.Ingress.Address, s.Ingress.Interface = netip.Addr{}, ""
	const noPod = "replies go home by the one NIC without a static pod, leave it out"
	refuse(s.Agent.Image != "", "agent.image", noPod)
	refuse(s.Agent.Metrics != "", "agent.metrics", noPod)
	p := s.ReturnPath
	refuse(p.Mark != nil, "return_path.mark", noPod)
	refuse(p.Mask != nil, "return_path.mask", noPod)
	refuse(p.Table != nil, "return_path.table", noPod)
	refuse(p.Priority != nil, "return_path.priority", noPod)
	refuse(p.Force, "return_path.force", noPod)
	s.External, s.Agent, s.ReturnPath = nil, AgentSpec{}, ReturnPathSpec{}
	s.ControlPlaneNoExternal, s.ControlPlaneExternal = false, false
}

// clusterOnProxmox is the same of the private link.
func (r *resolver) clusterOnProxmox(refuse func(given bool, path, why string)) {
	c := r.spec.Cluster
	refuse(c.VLAN != nil, pathCluster+".vlan", "a tenant network has no tag, leave it out")
	refuse(c.MTU != nil, pathCluster+".mtu", "Neutron knows it and DHCP tells the machines, leave it out")
	refuse(c.Gateway.IsValid(), pathCluster+".gateway", "the router gets the network's first address, leave it out")
	refuse(c.KubeAPIVIP.IsValid(), pathClusterVIP, "give it as openstack.kubeapi_address")
	r.spec.Cluster = LinkSpec{CIDR: c.CIDR}
}
