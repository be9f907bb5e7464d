package openstack

import (
	"fmt"
	"slices"
)

// subnet keeps the one of the plan's prefix; a network has a prefix once.
func (h *Holding) subnet(d Desired, a *Actual) {
	var other *Subnet
	for _, s := range ours(h, a.Subnets, Use{For: ForSubnet}) {
		switch {
		case slices.ContainsFunc(h.Spare.Networks, func(n Network) bool { return n.ID == s.NetworkID }):
			h.Spare.Subnets = append(h.Spare.Subnets, s)
		case h.Network == nil || s.NetworkID != h.Network.ID:
		case s.CIDR == d.Subnet.CIDR:
			h.Subnet = &s
		default:
			other = &s
		}
	}
	switch {
	case h.Subnet != nil:
		h.checkGateway(d)
	case other != nil:
		h.Conflicts = append(h.Conflicts, conflict(KindSubnet, other.Object, fmt.Sprintf("give %s, or take the machines down, release and reserve again", other.CIDR),
			"network.cidr: it is %s, and the cluster's network has %s: a network's addresses cannot be changed", d.Subnet.CIDR, other.CIDR).at(other.CIDR.String()).wrong())
	case h.Network != nil:
		h.overlapping(d, a)
	}
}

// subnetID is the subnet's, empty while there is none.
func (h *Holding) subnetID() string {
	if h.Subnet == nil {
		return ""
	}
	return h.Subnet.ID
}

// overlapping tells of subnets on the cluster's network that stand in the way.
func (h *Holding) overlapping(d Desired, a *Actual) {
	for _, s := range a.Subnets {
		if _, ok := h.markOf(s.Object); !ok && s.NetworkID == h.Network.ID && s.CIDR.Overlaps(d.Subnet.CIDR) {
			h.Conflicts = append(h.Conflicts, conflict(KindSubnet, s.Object, "delete it, or choose another network.cidr",
				"%s has %s on this cluster's network: %s", named(KindSubnet, s.Object), s.CIDR, whose(s.Object, h.Owner)).at(s.CIDR.String()))
		}
	}
}

func (h *Holding) checkGateway(d Desired) {
	if s := h.Subnet; s != nil && s.Gateway.IsValid() && s.Gateway != d.Subnet.Gateway {
		h.Conflicts = append(h.Conflicts, conflict(KindSubnet, s.Object, fmt.Sprintf("give %s, or take the machines down, release and reserve again", s.Gateway),
			"the plan has gateway %s, and the cluster's network has %s", d.Subnet.Gateway, s.Gateway).at(s.Gateway.String()).wrong())
	}
}
