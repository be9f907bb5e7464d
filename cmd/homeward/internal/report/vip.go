package report

import (
	"fmt"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// giveVIP replaces an endpoint that is the address of one machine, where there are
// control planes to hold a VIP in its place.
func (m *model) giveVIP(d *draft) *Improvement {
	balancer, machine := m.balancer()
	if m.Plan.KubeAPI.VIP.IsValid() || balancer != "" || machine == "" || *d.spec.ControlPlanes < 2 {
		return nil
	}
	address := freePrivate(d.plan)
	if !address.IsValid() {
		return nil
	}
	fault := d.try(func(s *netplan.Spec) { s.Cluster.KubeAPIVIP, s.KubeAPIEndpoint = address, "" })
	return advice("Give the API a VIP that its control planes hold in turn",
		fmt.Sprintf("Now its endpoint is the address of %s and goes with it. %s is free in the plan; make sure that nobody else has it, and no DHCP server gives it.", machine, address),
		fault, Edit{"kubeapi_endpoint", ""}, Edit{"proxmox.network.cluster.kubeapi_vip", address.String()})
}

// freePrivate is the last address of the private network that the plan gives nobody;
// the zero Addr where there is none among the last few.
func freePrivate(p *netplan.Plan) netip.Addr {
	taken := append([]netip.Addr{p.Cluster.Gateway}, p.Cluster.DNS...)
	for _, x := range p.Machines {
		taken = append(taken, x.Address)
	}
	const tries = 1000
	a := netplan.LastAddr(p.Cluster.CIDR).Prev()
	for range tries {
		if !p.Cluster.CIDR.Contains(a) || a == p.Cluster.CIDR.Addr() {
			break
		}
		if !slices.Contains(taken, a) {
			return a
		}
		a = a.Prev()
	}
	return netip.Addr{}
}
