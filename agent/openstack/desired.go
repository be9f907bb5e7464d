package openstack

import (
	"crypto/sha256"
	"errors"
	"net/netip"
	"slices"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Desired is what a cluster's network at OpenStack should be.
type Desired struct {
	Owner ledger.Owner
	// Name is the network's, the subnet's, the router's and the group's.
	Name string
	// External is the network of the floating IPs, by name or id.
	External string
	Subnet   Subnet
	Rules    []DesiredRule
	// Reserved are the API's port and the ingress's, Machines one for each machine in
	// the plan's order.
	Reserved []DesiredPort
	Machines []DesiredPort
}

// DesiredPort is one port.
type DesiredPort struct {
	Use
	Name string
	// MAC is of our choice: a network has it once, so that the port cannot be made
	// twice.
	MAC netplan.MAC
	// Address is what the plan chose; the zero Addr is Neutron's choice.
	Address netip.Addr
	// Floating is what the plan chose for a reserved port; the zero Addr has one
	// allocated.
	Floating netip.Addr
	// Announces are the reserved ports whose address this machine may send from.
	Announces []Use
}

// For gives what a plan and its owner want. It fails for a plan of another provider
// and for names that Neutron does not take.
func For(p *netplan.Plan, owner ledger.Owner) (Desired, error) {
	if p.OpenStack == nil {
		return Desired{}, errors.New("the plan has no section openstack")
	}
	d := Desired{
		Owner: owner, Name: p.Name, External: p.OpenStack.ExternalNet, Rules: rulesOf(p),
		Subnet: Subnet{CIDR: p.Cluster.CIDR, Gateway: p.Cluster.Gateway, DNS: p.Cluster.DNS},
		Reserved: []DesiredPort{
			reserved(p, kubeAPI, p.KubeAPIPort(), p.OpenStack.KubeAPI),
			reserved(p, ingress, p.IngressPort(), p.OpenStack.Ingress),
		},
	}
	for _, m := range p.Machines {
		port := DesiredPort{Use: Use{ForMachine, m.Name}, Name: m.Name, MAC: m.MACs.Cluster, Address: m.Address}
		if m.Role == netplan.RoleControlPlane {
			port.Announces = append(port.Announces, kubeAPI)
		}
		if m.Role == netplan.RoleWorker || m.Announces {
			port.Announces = append(port.Announces, ingress)
		}
		d.Machines = append(d.Machines, port)
	}
	d.Subnet.Pools = d.pools()
	for _, use := range d.uses() {
		if err := (Mark{owner, use}).check(); err != nil {
			return Desired{}, err
		}
	}
	return d, nil
}

func reserved(p *netplan.Plan, use Use, name string, chosen netplan.ChosenAddress) DesiredPort {
	return DesiredPort{Use: use, Name: name, MAC: reservedMAC(p.Name, name, chosen.Fixed), Address: chosen.Fixed, Floating: chosen.Floating}
}

// reservedMAC is that of a reserved port. The address is part of it, so that a port
// with another address can be made before the one that it replaces is removed.
func reservedMAC(cluster, port string, address netip.Addr) netplan.MAC {
	text := cluster + "/" + port
	if address.IsValid() {
		text += "/" + address.String()
	}
	sum := sha256.Sum256([]byte(text))
	return netplan.MAC{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}
}

// ports are all of them, the reserved ones first.
func (d Desired) ports() []DesiredPort { return slices.Concat(d.Reserved, d.Machines) }

// uses are those of the ports, and one of each other kind that has a mark.
func (d Desired) uses() []Use {
	list := []Use{{For: ForNetwork}, {For: ForSubnet}, {For: ForRouter}, {For: ForGroup}, {For: ForRule}}
	for _, p := range d.ports() {
		list = append(list, p.Use)
	}
	return list
}

func (d Desired) mark(use Use) Mark { return Mark{d.Owner, use} }

// pools are the addresses that Neutron may choose from: all but the gateway's and
// those that the plan chose, so that no DHCP server and no other machine gets one of
// them first. Nil where nothing is left.
func (d Desired) pools() [][2]netip.Addr {
	kept := []netip.Addr{d.Subnet.Gateway}
	for _, p := range d.ports() {
		if d.Subnet.CIDR.Contains(p.Address) {
			kept = append(kept, p.Address)
		}
	}
	slices.SortFunc(kept, netip.Addr.Compare)
	first, last := d.Subnet.CIDR.Masked().Addr(), netplan.LastAddr(d.Subnet.CIDR)
	if d.Subnet.CIDR.Bits() < 31 {
		first, last = first.Next(), last.Prev()
	}
	var pools [][2]netip.Addr
	for _, k := range kept {
		if first.Less(k) {
			pools = append(pools, [2]netip.Addr{first, k.Prev()})
		}
		if !k.Less(first) {
			first = k.Next()
		}
	}
	if !last.Less(first) {
		pools = append(pools, [2]netip.Addr{first, last})
	}
	return pools
}
