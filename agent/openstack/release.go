package openstack

import (
	"context"
	"slices"
)

// Release gives back everything of the owner's and nothing else. A floating IP that the
// plan names, or that was adopted, is taken off its port and kept. It can be repeated,
// also after it was killed. It removes nothing while something that is not the
// cluster's hangs on its network, or a server uses one of its ports.
func (c *Cluster) Release(ctx context.Context, o Options) Result {
	d, err := c.desired()
	if err != nil {
		return Result{Outcome: Failed, Err: err}
	}
	query := func(d Desired) Query { return Query{Owner: d.Owner, Attached: true} }
	if o.DryRun {
		return c.rehearse(ctx, d, query(d), lookToRelease)
	}
	r := c.newRun(d)
	r.query, r.look = query, lookToRelease
	return r.converge(ctx)
}

// lookToRelease gives the steps of a release, in the order that Neutron asks for:
// floating IPs, ports, the router's interfaces, routers, subnets, networks, groups.
func lookToRelease(d Desired, a *Actual) (*Holding, []Step, []Conflict) {
	h := &Holding{Owner: d.Owner, Project: a.Project, Ports: map[Use]*Port{}, Floating: map[Use]*FloatingIP{}}
	conflicts := h.hanging(d, a)
	if len(conflicts) > 0 {
		return h, nil, conflicts
	}
	var p plan
	h.releaseFloating(d, a, &p)
	for _, port := range a.Ports {
		switch _, mine := h.markOf(port.Object); {
		case mine:
			p.add(remove(stageRemovePorts, KindPort, port.Object, "delete "+named(KindPort, port.Object)))
		case port.plug():
			p.add(unplug(stageUnplug, port))
		}
	}
	releaseAll(h, &p, stageRemoveRouter, KindRouter, a.Routers, Use{For: ForRouter})
	releaseAll(h, &p, stageRemoveSubnet, KindSubnet, a.Subnets, Use{For: ForSubnet})
	releaseAll(h, &p, stageRemoveNetwork, KindNetwork, a.Networks, Use{For: ForNetwork})
	releaseAll(h, &p, stageRemoveGroup, KindGroup, a.Groups, Use{For: ForGroup})
	return h, p.ordered(), nil
}

func releaseAll[T holder](h *Holding, p *plan, st stage, kind Kind, list []T, use Use) {
	for _, x := range ours(h, list, use) {
		p.add(remove(st, kind, x.object(), "delete "+named(kind, x.object())))
	}
}

// releaseFloating deletes the owner's floating IPs, but for those that the plan names.
func (h *Holding) releaseFloating(d Desired, a *Actual, p *plan) {
	for _, f := range a.Floating {
		_, mine := h.markOf(f.Object)
		switch {
		case mine && !d.chose(f):
			p.add(remove(stageRemoveFloating, KindFloating, f.Object, "delete floating IP "+f.Address.String()))
		case h.onOwn(f, a), h.tagged(f) && f.PortID == "":
			h.give(p, f)
		}
	}
}

// chose says that the plan names a floating IP.
func (d Desired) chose(f FloatingIP) bool {
	return slices.ContainsFunc(d.Reserved, func(r DesiredPort) bool { return r.Floating == f.Address })
}

// hanging is what stands against a release.
func (h *Holding) hanging(d Desired, a *Actual) []Conflict {
	var list []Conflict
	for _, p := range a.Ports {
		if !h.engaged(&p, a) {
			continue
		}
		_, mine := h.markOf(p.Object)
		switch {
		case mine:
			list = append(list, conflict(KindPort, p.Object, "take the machine down first", "%s is in use by %s", named(KindPort, p.Object), user(&p)).at(text(&p)))
		case p.routers():
			list = append(list, conflict(KindPort, p.Object, "unplug it (openstack router remove port "+p.DeviceID+" "+p.ID+")", "router %s, which is not this cluster's, is plugged into its network", p.DeviceID).at(text(&p)))
		default:
			list = append(list, conflict(KindPort, p.Object, "take it off the network", "%s is on this cluster's network: %s", named(KindPort, p.Object), holderOf(&p, h)).at(text(&p)))
		}
	}
	for _, s := range a.Subnets {
		_, mine := h.markOf(s.Object)
		if !mine && slices.ContainsFunc(ours(h, a.Networks, Use{For: ForNetwork}), func(n Network) bool { return n.ID == s.NetworkID }) {
			list = append(list, conflict(KindSubnet, s.Object, "delete it", "%s is on this cluster's network: %s", named(KindSubnet, s.Object), whose(s.Object, h.Owner)).at(s.CIDR.String()))
		}
	}
	for _, p := range a.Attached {
		list = append(list, h.attached(&p))
	}
	return append(list, h.strangersOn(d, a)...)
}

// text is a port's address as a message has it, empty without one.
func text(p *Port) string {
	if len(p.Fixed) == 0 {
		return ""
	}
	return p.Fixed[0].Address.String()
}

// attached tells of a port elsewhere that uses the cluster's router or group.
func (h *Holding) attached(p *Port) Conflict {
	if p.routers() {
		return conflict(KindPort, p.Object, "unplug it (openstack router remove port "+p.DeviceID+" "+p.ID+")",
			"this cluster's router %s is plugged into network %s too", p.DeviceID, p.NetworkID).at(text(p))
	}
	return conflict(KindPort, p.Object, "take it out of the group (openstack port unset --security-group GROUP "+p.ID+")",
		"%s on network %s is in this cluster's security group", named(KindPort, p.Object), p.NetworkID).at(text(p))
}

// strangersOn tells of floating IPs on the cluster's ports that neither it nor its plan
// put there: they are the operator's to move.
func (h *Holding) strangersOn(d Desired, a *Actual) []Conflict {
	var list []Conflict
	for _, f := range a.Floating {
		m, err := ParseMark(f.Description)
		foreign := err == nil && m.Owner != h.Owner || err != nil && !h.tagged(f) && !d.chose(f)
		if foreign && h.onOwn(f, a) {
			list = append(list, conflict(KindFloating, f.Object, "take it off (openstack floating ip unset --port "+f.ID+")",
				"floating IP %s is on a port of this cluster's and was not put there by Homeward", f.Address).at(f.Address.String()))
		}
	}
	return list
}
