package talosgen

import (
	"net/netip"

	"homeward/netplan"
)

// shape is one way a cluster can be laid out.
type shape struct {
	name    string
	options []func(*netplan.Plan)
}

// shapes are all layouts that the documents must be right for.
func shapes() []shape {
	return []shape{
		{"external vip", nil},
		{"private vip", opts(privateVIP)},
		{"endpoint instead of a vip", opts(endpointOnly)},
		{"no pool", opts(noPool)},
		{"no pool and private vip", opts(noPool, privateVIP)},
		{"workers without the external nic", opts(batchPool)},
		{"control planes without the external nic", opts(privateVIP, privateControlPlanes)},
		{"no external network", opts(privateVIP, noExternal)},
		{"static addressing", opts(static)},
		{"static addressing without gateway and dns", opts(static, isolated)},
		{"gateway on the link", opts(gatewayOnLink)},
		{"large mtu", opts(largeMTU)},
		{"real external addresses", opts(externalAddresses)},
		{"real external addresses without a pool", opts(noPool, externalAddresses)},
		{"firewall", opts(firewall)},
		{"firewall with allowlists", opts(firewall, allowlists)},
		{"firewall and static addressing", opts(firewall, static)},
		{"no worker", opts(noWorkers)},
		{"no worker and no pool", opts(noWorkers, noPool)},
		{"other numbers", opts(otherNumbers)},
		{"openstack", opts(cloud)},
		{"openstack with fixed addresses", opts(static, cloud)},
		{"openstack with the firewall", opts(firewall, allowlists, cloud)},
		{"openstack without a worker", opts(noWorkers, cloud)},
	}
}

func opts(o ...func(*netplan.Plan)) []func(*netplan.Plan) { return o }

func privateVIP(p *netplan.Plan) {
	p.KubeAPI = netplan.KubeAPI{
		VIP: netip.MustParseAddr("10.0.0.240"), Link: netplan.LinkCluster,
		Endpoint: "https://10.0.0.240:6443", SANs: []string{"10.0.0.240"},
	}
}

func endpointOnly(p *netplan.Plan) {
	p.KubeAPI = netplan.KubeAPI{Endpoint: "https://api.example.edu:6443", SANs: []string{"api.example.edu"}}
}

func noPool(p *netplan.Plan) { p.External.IngressPool = nil }

func batchPool(p *netplan.Plan) {
	addMachines(p, netplan.RoleWorker, "batch", 2)
	withoutNIC(p, func(m netplan.Machine) bool { return m.Pool == "batch" })
}

func privateControlPlanes(p *netplan.Plan) {
	withoutNIC(p, func(m netplan.Machine) bool { return m.Role == netplan.RoleControlPlane })
}

func noExternal(p *netplan.Plan) {
	p.External, p.ReturnPath = nil, nil
	withoutNIC(p, func(netplan.Machine) bool { return true })
}

func withoutNIC(p *netplan.Plan, which func(netplan.Machine) bool) {
	for i, m := range p.Machines {
		if which(m) {
			p.Machines[i].External, p.Machines[i].Announces = false, false
			p.Machines[i].MACs.External, p.Machines[i].Anchor = netplan.MAC{}, netip.Addr{}
		}
	}
}

func static(p *netplan.Plan) {
	for i := range p.Machines {
		p.Machines[i].Address = netip.AddrFrom4([4]byte{10, 0, 0, byte(11 + i)})
	}
}

func isolated(p *netplan.Plan) { p.Cluster.Gateway, p.Cluster.DNS = netip.Addr{}, nil }

func gatewayOnLink(p *netplan.Plan) {
	p.External.Gateway, p.External.GatewayOnLink = netip.MustParseAddr("198.51.100.1"), true
}

func largeMTU(p *netplan.Plan) { p.Cluster.MTU, p.External.MTU = 9000, 8000 }

func externalAddresses(p *netplan.Plan) {
	for i := range p.Machines {
		p.Machines[i].ExternalAddress = netip.AddrFrom4([4]byte{203, 0, 113, byte(61 + i)})
	}
}

func firewall(p *netplan.Plan) { p.Talos.Firewall = true }

func allowlists(p *netplan.Plan) {
	office := []netplan.AllowedHost{{Name: "office", Prefix: netip.MustParsePrefix("198.51.100.0/24")}}
	p.Security = []netplan.Allow{
		{Name: "http", Port: 80},
		{Name: "kubernetes", Port: 6443, Hosts: office},
		{Name: "metrics", Port: 9100, Hosts: office},
		{Name: "talos", Port: 50000, Hosts: office},
	}
}

// cloud moves the cluster to OpenStack: one NIC each, and addresses that reserve has
// allocated.
func cloud(p *netplan.Plan) {
	noExternal(p)
	p.Provider, p.OpenStack = netplan.OpenStack, &netplan.OpenStackCloud{ExternalNet: "public"}
	p.Cluster = netplan.Cluster{CIDR: p.Cluster.CIDR, Gateway: p.Cluster.Gateway, DNS: p.Cluster.DNS}
	p.KubeAPI, p.Ingress = netplan.KubeAPI{}, netplan.Ingress{Class: "traefik", Pin: netplan.PinLoadBalancerIP, ExternalTrafficPolicy: "Cluster"}
	done, err := p.Allocated(netplan.Allocation{
		Cluster: "edge",
		KubeAPI: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("10.0.0.240"), Floating: netip.MustParseAddr("203.0.113.81")},
		Ingress: netplan.AllocatedAddress{Fixed: netip.MustParseAddr("10.0.0.241"), Floating: netip.MustParseAddr("203.0.113.80")},
	})
	if err != nil {
		panic(err)
	}
	*p = *done
}

func noWorkers(p *netplan.Plan) {
	p.Machines = p.Machines[:3]
	for i := range p.Machines {
		p.Machines[i].Announces = true
	}
}

func otherNumbers(p *netplan.Plan) {
	p.ReturnPath.Mark, p.ReturnPath.Mask, p.ReturnPath.Table = 0x1000, 0x1000, 252
	p.ReturnPath.Priorities = netplan.Priorities{VIP: 2000, Mark: 2001, VIPUnreachable: 2010, MarkUnreachable: 2011}
}
