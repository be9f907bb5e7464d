package openstack

import "slices"

// router keeps the one that is plugged in, else the oldest: an address is had once, so
// that all who look see the same one plugged in.
func (h *Holding) router(d Desired, a *Actual) {
	found := ours(h, a.Routers, Use{For: ForRouter})
	namesakes(h, KindRouter, d.Name, a.Routers, len(found) > 0)
	at := func(id string) int { return slices.IndexFunc(found, func(r Router) bool { return r.ID == id }) }
	keep := 0
	for _, p := range a.Ports {
		if !p.plug() || h.Subnet == nil || !slices.ContainsFunc(p.Fixed, func(f FixedIP) bool { return f.SubnetID == h.Subnet.ID }) {
			continue
		}
		if i := at(p.DeviceID); i >= 0 && (h.Plug == nil || p.has(d.Subnet.Gateway)) {
			keep, h.Plug = i, &p
		} else if i < 0 && p.has(d.Subnet.Gateway) {
			h.Conflicts = append(h.Conflicts, conflict(KindRouter, Object{ID: p.DeviceID}, "take it off (openstack router remove subnet "+p.DeviceID+" "+h.Subnet.ID+")",
				"the gateway %s of this cluster's subnet is router %s's, which is not this cluster's", d.Subnet.Gateway, p.DeviceID).at(d.Subnet.Gateway.String()))
		}
	}
	for i, r := range found {
		if i != keep {
			h.Spare.Routers = append(h.Spare.Routers, r)
			continue
		}
		h.Router = &r
		if r.ExternalID != "" && h.External.ID != "" && r.ExternalID != h.External.ID {
			h.Conflicts = append(h.Conflicts, conflict(KindRouter, r.Object, "give that one, or release and reserve again",
				"openstack.external_net: it is %s (%s), and the cluster's router has its gateway on %s", d.External, h.External.ID, r.ExternalID).wrong())
		}
	}
	for _, p := range a.Ports {
		if p.plug() && at(p.DeviceID) >= 0 && (h.Plug == nil || p.ID != h.Plug.ID) {
			h.Spare.Plugs = append(h.Spare.Plugs, p)
		}
	}
}

// group keeps the oldest.
func (h *Holding) group(d Desired, a *Actual) {
	found := ours(h, a.Groups, Use{For: ForGroup})
	namesakes(h, KindGroup, d.Name, a.Groups, len(found) > 0)
	for i, g := range found {
		if i == 0 {
			h.Group = &g
		} else {
			h.Spare.Groups = append(h.Spare.Groups, g)
		}
	}
}
