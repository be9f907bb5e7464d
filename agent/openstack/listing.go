package openstack

import (
	"cmp"
	"context"
	"slices"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Listed is one object of the owner's, for showing it.
type Listed struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
	ID   string `json:"id"`
	// Address is a port's fixed address, a floating IP's own, or a subnet's prefix.
	Address string `json:"address,omitempty"`
	// For is what it is for: "network", "kubeapi", "machine edge-worker-01".
	For string `json:"for"`
	// UsedBy is what has a port, "compute:nova 6f1c..."; empty for none.
	UsedBy string `json:"used_by,omitempty"`
	// On is the id of the port that a floating IP is on; empty for none.
	On string `json:"on,omitempty"`
	// Adopted says of a floating IP that the operator allocated it.
	Adopted bool `json:"adopted,omitempty"`
}

// Objects lists what is kept, the network first and ports by what they are for.
func (h *Holding) Objects() []Listed {
	list := []Listed{}
	add := func(kind Kind, o Object, address, what string) {
		list = append(list, Listed{Kind: kind, Name: o.Name, ID: o.ID, Address: address, For: what})
	}
	if h.Network != nil {
		add(KindNetwork, h.Network.Object, "", string(ForNetwork))
	}
	if h.Subnet != nil {
		add(KindSubnet, h.Subnet.Object, h.Subnet.CIDR.String(), string(ForSubnet))
	}
	if h.Router != nil {
		add(KindRouter, h.Router.Object, "", string(ForRouter))
	}
	if h.Group != nil {
		add(KindGroup, h.Group.Object, "", string(ForGroup))
	}
	var ports []Listed
	for use, p := range h.Ports {
		l := Listed{Kind: KindPort, Name: p.Name, ID: p.ID, Address: text(p), For: use.what()}
		if p.used() {
			l.UsedBy = user(p)
		}
		ports = append(ports, l)
	}
	slices.SortFunc(ports, func(a, b Listed) int { return cmp.Compare(a.For, b.For) })
	list = append(list, ports...)
	for _, use := range []Use{ingress, kubeAPI} {
		if f := h.Floating[use]; f != nil {
			_, mine := h.markOf(f.Object)
			list = append(list, Listed{Kind: KindFloating, ID: f.ID, Address: f.Address.String(), For: use.what(), On: f.PortID, Adopted: !mine})
		}
	}
	return list
}

// Allocation gives the addresses of both reserved ports; false while one is missing.
func (h *Holding) Allocation() (netplan.Allocation, bool) {
	a := netplan.Allocation{Cluster: h.Owner.Cluster, Owner: h.Owner.ID}
	for use, to := range map[Use]*netplan.AllocatedAddress{kubeAPI: &a.KubeAPI, ingress: &a.Ingress} {
		port, floating := h.Ports[use], h.Floating[use]
		if port == nil || floating == nil || floating.PortID != port.ID {
			return netplan.Allocation{}, false
		}
		to.Fixed, to.Floating = port.address(h.subnetID()), floating.Address
	}
	return a, true
}

// Owners lists whose objects of Homeward's are in the project, by cluster and id.
func (c *Cluster) Owners(ctx context.Context) ([]ledger.Owner, error) {
	a, err := c.API.Read(ctx, Query{})
	if err != nil {
		return nil, err
	}
	var list []ledger.Owner
	see := func(o Object) {
		if m, err := ParseMark(o.Description); err == nil && !slices.Contains(list, m.Owner) {
			list = append(list, m.Owner)
		}
	}
	for _, x := range a.Networks {
		see(x.Object)
	}
	for _, x := range a.Subnets {
		see(x.Object)
	}
	for _, x := range a.Routers {
		see(x.Object)
	}
	for _, x := range a.Groups {
		see(x.Object)
	}
	for _, x := range a.Floating {
		see(x.Object)
	}
	slices.SortFunc(list, func(x, y ledger.Owner) int {
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.ID, y.ID))
	})
	return list, nil
}
