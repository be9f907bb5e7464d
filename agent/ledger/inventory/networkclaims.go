package inventory

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// allNodes claims the addresses of the Proxmox hosts on the segment.
func (t *taker) allNodes() {
	found := len(t.nodes) == 0 || t.Segment.VNet != ""
	for _, node := range t.snapshot.Nodes {
		w := t.nodes[node.Name]
		found = found || w != nil && w.has(t.Segment.Bridge)
		for _, i := range node.Interfaces {
			if len(i.Addresses) == 0 || !t.interfaceOn(node.Name, i.Name) {
				continue
			}
			for _, p := range i.Addresses {
				if a := p.Addr().Unmap(); a.Is4() {
					t.claim(Claim{Kind: NodeAddress, Range: single(a), Source: fmt.Sprintf("node %s, %s", clean(node.Name), clean(i.Name)),
						Remedy: fmt.Sprintf("leave %s out of the plan: it is the Proxmox host's", a)})
				}
			}
		}
	}
	if !found {
		t.notes = append(t.notes, fmt.Sprintf("no node that could be read has bridge %s", clean(t.Segment.Bridge)))
	}
}

// interfaceOn says whether a node's interface is on the segment.
func (t *taker) interfaceOn(node, name string) bool {
	if vnets := t.vnets[name]; len(vnets) > 0 {
		return slices.ContainsFunc(vnets, func(v VNet) bool { return t.vnetOn(v) })
	}
	return t.Segment.VNet == "" && t.isOn(node, name, 0)
}

// vnetOn says whether a VNet is the segment on any node.
func (t *taker) vnetOn(v VNet) bool {
	if t.Segment.VNet != "" {
		return t.Segment.VNet == v.Name
	}
	none := NIC{Bridge: v.Name}
	for node := range t.nodes {
		if t.reachVNet(node, v, none) == onIt {
			return true
		}
	}
	return len(t.nodes) == 0 && t.reachVNet("", v, none) == onIt
}

// allSDN claims what SDN gives out on the VNets that are the segment.
func (t *taker) allSDN() {
	here := map[string]bool{}
	for _, v := range t.snapshot.VNets {
		here[v.Name] = here[v.Name] || t.vnetOn(v)
	}
	gateways := map[netip.Addr]bool{}
	vnetOf := map[string]string{} // subnet's id -> VNet
	for _, s := range t.snapshot.Subnets {
		vnetOf[s.ID] = s.VNet
		if !here[s.VNet] {
			continue
		}
		source := fmt.Sprintf("SDN subnet %s, VNet %s", clean(s.CIDR.String()), clean(s.VNet))
		if s.Gateway.Is4() {
			gateways[s.Gateway] = true
			t.claim(Claim{Kind: SDNGateway, Range: single(s.Gateway), Source: source + ", gateway", Pending: s.Pending,
				Remedy: fmt.Sprintf("leave %s out of the plan: it is the VNet's gateway", s.Gateway)})
		}
		for _, r := range s.DHCP {
			t.claim(Claim{Kind: DHCPRange, Range: r, Source: source + ", dhcp-range", Pending: s.Pending,
				Remedy: "shrink the subnet's dhcp-range, or take other addresses in the plan"})
		}
	}
	for _, e := range t.snapshot.IPAM {
		t.ipam(e, vnetOf, here, gateways)
	}
}

// ipam claims one entry. One whose VNet is not known counts where any VNet of its
// zone is the segment.
func (t *taker) ipam(e IPAMEntry, vnetOf map[string]string, here map[string]bool, gateways map[netip.Addr]bool) {
	vnet := e.VNet
	if vnet == "" {
		vnet = vnetOf[e.Subnet]
	}
	on := here[vnet]
	if vnet == "" {
		on = slices.ContainsFunc(t.snapshot.VNets, func(v VNet) bool { return v.Zone == e.Zone && here[v.Name] })
	}
	if !on || !e.Address.Is4() || e.Gateway && gateways[e.Address] {
		return
	}
	source := []string{"IPAM " + clean(t.ipamName(e.Zone)), "zone " + clean(e.Zone)}
	if vnet != "" {
		source = append(source, "VNet "+clean(vnet))
	}
	switch {
	case e.VMID != 0 && t.guests[e.VMID] != nil:
		source = append(source, t.guests[e.VMID].source())
	case e.VMID != 0:
		source = append(source, fmt.Sprintf("guest %d", e.VMID))
	case e.Hostname != "":
		source = append(source, "host "+clean(e.Hostname))
	}
	kind := SDNIPAM
	if e.Gateway {
		kind = SDNGateway
	}
	t.claim(Claim{Kind: kind, Range: single(e.Address), Source: strings.Join(source, ", "), VMID: e.VMID, MAC: e.MAC,
		Remedy: fmt.Sprintf("delete the entry if nothing uses %s, or leave it out of the plan", e.Address)})
}

// ipamName is the IPAM of a zone, pve where it names none.
func (t *taker) ipamName(zone string) string {
	if name := t.zones[zone].IPAM; name != "" {
		return name
	}
	return "pve"
}
