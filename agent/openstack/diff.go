package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Diff gives the steps from what an owner has to what is desired, in the order in
// which they are to be made. Without any, all is as it should be. It is not for a
// Holding with conflicts.
func Diff(d Desired, h *Holding) []Step {
	var p plan
	h.diffNetwork(d, &p)
	h.diffSubnet(d, &p)
	h.diffRouter(d, &p)
	h.diffGroup(d, &p)
	h.diffPorts(d, &p)
	h.diffFloating(d, &p)
	h.diffSpare(&p)
	return p.ordered()
}

func (h *Holding) diffNetwork(d Desired, p *plan) {
	get := func(h *Holding) string { return h.Network.ID }
	if h.Network == nil {
		p.add(create(stageNetwork, KindNetwork, "create network "+d.Name, func(ctx context.Context, api API, h *Holding) error {
			n, err := api.CreateNetwork(ctx, Object{Name: d.Name, Description: d.mark(Use{For: ForNetwork}).String()})
			return h.got(err, func() { h.Network = &n })
		}))
		h.tag(p, KindNetwork, nil, d.Name, get)
		return
	}
	h.tag(p, KindNetwork, &h.Network.Object, d.Name, get)
	h.rename(p, KindNetwork, h.Network.Object, d.Name)
	h.switchOn(p, KindNetwork, h.Network.Object)
}

// got keeps what a step made, for the steps after it.
func (h *Holding) got(err error, keep func()) error {
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		keep()
	}
	return err
}

func (h *Holding) diffSubnet(d Desired, p *plan) {
	get := func(h *Holding) string { return h.Subnet.ID }
	if h.Subnet == nil {
		words := fmt.Sprintf("create subnet %s: %s, gateway %s", d.Name, d.Subnet.CIDR, d.Subnet.Gateway)
		if len(d.Subnet.DNS) > 0 {
			words += ", name servers " + joined(d.Subnet.DNS)
		}
		p.add(create(stageSubnet, KindSubnet, words, func(ctx context.Context, api API, h *Holding) error {
			s := d.Subnet
			s.Object = Object{Name: d.Name, Description: d.mark(Use{For: ForSubnet}).String()}
			s.NetworkID = h.Network.ID
			s, err := api.CreateSubnet(ctx, s)
			return h.got(err, func() { h.Subnet = &s })
		}))
		h.tag(p, KindSubnet, nil, d.Name, get)
		return
	}
	h.tag(p, KindSubnet, &h.Subnet.Object, d.Name, get)
	h.rename(p, KindSubnet, h.Subnet.Object, d.Name)
	h.switchOn(p, KindSubnet, h.Subnet.Object)
	if len(d.Subnet.DNS) > 0 && !slices.Equal(h.Subnet.DNS, d.Subnet.DNS) {
		p.add(change(stageChange, KindSubnet, fmt.Sprintf("change the name servers of %s from %s to %s", named(KindSubnet, h.Subnet.Object), joined(h.Subnet.DNS), joined(d.Subnet.DNS)),
			func(ctx context.Context, api API, h *Holding) error {
				s := *h.Subnet
				s.DNS = d.Subnet.DNS
				return api.SetDNS(ctx, s)
			}))
	}
}

// joined lists things as a message has them; "none" without any.
func joined[T fmt.Stringer](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = x.String()
	}
	return strings.Join(words, ", ")
}

func (h *Holding) diffRouter(d Desired, p *plan) {
	get := func(h *Holding) string { return h.Router.ID }
	switch {
	case h.Router == nil:
		p.add(create(stageNetwork, KindRouter, fmt.Sprintf("create router %s with its gateway on %s", d.Name, d.External), func(ctx context.Context, api API, h *Holding) error {
			r, err := api.CreateRouter(ctx, Router{Object: Object{Name: d.Name, Description: d.mark(Use{For: ForRouter}).String()}, ExternalID: h.External.ID})
			return h.got(err, func() { h.Router = &r })
		}))
		h.tag(p, KindRouter, nil, d.Name, get)
	default:
		h.tag(p, KindRouter, &h.Router.Object, d.Name, get)
		h.rename(p, KindRouter, h.Router.Object, d.Name)
		h.switchOn(p, KindRouter, h.Router.Object)
		if h.Router.ExternalID == "" {
			p.add(change(stageRouter, KindRouter, fmt.Sprintf("give %s its gateway on %s", named(KindRouter, h.Router.Object), d.External), func(ctx context.Context, api API, h *Holding) error {
				return api.SetGateway(ctx, h.Router.ID, h.External.ID)
			}))
		}
	}
	for _, plug := range h.Spare.Plugs {
		if h.plugBlocks(plug) {
			p.add(unplug(stageClear, plug))
		}
	}
	if h.Plug == nil {
		p.add(Step{Words: fmt.Sprintf("plug router %s into subnet %s", d.Name, d.Name), stage: stageRouter, effect: makes, kind: KindInterface, count: 1, do: func(ctx context.Context, api API, h *Holding) error {
			return api.Plug(ctx, h.Router.ID, h.Subnet.ID)
		}})
	}
}

// plugBlocks says that the router is in a spare network's subnet and not yet in the one
// that is kept: a router takes no two of the same addresses, so it must leave that one
// before.
func (h *Holding) plugBlocks(plug Port) bool {
	return h.Plug == nil && h.Router != nil && plug.DeviceID == h.Router.ID
}

func (h *Holding) diffGroup(d Desired, p *plan) {
	get := func(h *Holding) string { return h.Group.ID }
	if h.Group == nil {
		p.add(create(stageNetwork, KindGroup, "create security group "+d.Name, func(ctx context.Context, api API, h *Holding) error {
			g, err := api.CreateGroup(ctx, Object{Name: d.Name, Description: d.mark(Use{For: ForGroup}).String()})
			return h.got(err, func() { h.Group = &g })
		}))
		h.tag(p, KindGroup, nil, d.Name, get)
	} else {
		h.tag(p, KindGroup, &h.Group.Object, d.Name, get)
		h.rename(p, KindGroup, h.Group.Object, d.Name)
	}
	if missing := h.missingRules(d); len(missing) > 0 {
		p.add(h.openStep(d, missing))
	}
	if h.Group == nil {
		return
	}
	for _, r := range h.Group.Rules {
		if m, ok := h.markOf(Object{Description: r.Description}); ok && m.For == ForRule && (!h.wants(d, r.Rule) || h.doubled(r)) {
			p.add(remove(stageRemovePorts, KindRule, Object{ID: r.ID}, fmt.Sprintf("remove rule %s of group %s: %s", r.ID, d.Name, r.Rule)))
		}
	}
}

// missingRules are those that the group does not have, whoever made what it has. A new
// group has its rule for egress from Neutron.
func (h *Holding) missingRules(d Desired) []DesiredRule {
	var missing []DesiredRule
	for _, r := range d.Rules {
		if h.Group == nil && r.Rule == (Rule{Egress: true}) {
			continue
		}
		if h.Group == nil || !slices.ContainsFunc(h.Group.Rules, func(have GroupRule) bool { return h.same(have.Rule, r.Rule) }) {
			missing = append(missing, r)
		}
	}
	return missing
}

// same compares a rule of the group with a desired one.
func (h *Holding) same(have, want Rule) bool {
	if want.Group == Self {
		want.Group = h.Group.ID
	}
	return have == want
}

func (h *Holding) wants(d Desired, have Rule) bool {
	return slices.ContainsFunc(d.Rules, func(r DesiredRule) bool { return h.same(have, r.Rule) })
}

// doubled says that another of our rules says the same: Neutron refuses a second one,
// but not always when both are made at once. Every operator keeps the same one of them.
func (h *Holding) doubled(r GroupRule) bool {
	return slices.ContainsFunc(h.Group.Rules, func(o GroupRule) bool {
		m, ok := h.markOf(Object{Description: o.Description})
		return ok && m.For == ForRule && o.Rule == r.Rule && o.ID < r.ID
	})
}

// openStep makes rules, in one request.
func (h *Holding) openStep(d Desired, missing []DesiredRule) Step {
	words := make([]string, len(missing))
	for i, r := range missing {
		words[i] = r.String()
	}
	return Step{
		Words: fmt.Sprintf("add %d rules to security group %s", len(missing), d.Name), Details: words,
		stage: stageSubnet, effect: makes, kind: KindRule, count: len(missing),
		do: func(ctx context.Context, api API, h *Holding) error {
			rules := make([]GroupRule, len(missing))
			for i, r := range missing {
				rules[i] = GroupRule{Description: d.mark(Use{For: ForRule}).String(), Rule: r.Rule}
				if r.Group == Self {
					rules[i].Group = h.Group.ID
				}
			}
			return api.CreateRules(ctx, h.Group.ID, rules)
		},
	}
}

// diffSpare removes what is ours and not needed, each only where nothing uses it.
func (h *Holding) diffSpare(p *plan) {
	drop := func(st stage, kind Kind, o Object) {
		s := remove(st, kind, o, "delete spare "+named(kind, o))
		s.left = &Left{kind, o.Name, o.ID, named(kind, o) + " stays: this cluster has a second one, but something uses it"}
		p.add(s)
	}
	for _, plug := range h.Spare.Plugs {
		if !h.plugBlocks(plug) {
			p.add(unplug(stageUnplug, plug))
		}
	}
	for _, r := range h.Spare.Routers {
		drop(stageRemoveRouter, KindRouter, r.Object)
	}
	for _, s := range h.Spare.Subnets {
		drop(stageRemoveSubnet, KindSubnet, s.Object)
	}
	for _, n := range h.Spare.Networks {
		drop(stageRemoveNetwork, KindNetwork, n.Object)
	}
	for _, g := range h.Spare.Groups {
		drop(stageRemoveGroup, KindGroup, g.Object)
	}
}

// unplug takes a router off a subnet.
func unplug(st stage, plug Port) Step {
	subnet := ""
	if len(plug.Fixed) > 0 {
		subnet = plug.Fixed[0].SubnetID
	}
	return Step{Words: fmt.Sprintf("unplug router %s from subnet %s", plug.DeviceID, subnet), stage: st, effect: removes, kind: KindInterface, count: 1,
		do: func(ctx context.Context, api API, _ *Holding) error {
			return api.Unplug(ctx, plug.DeviceID, subnet)
		}}
}
