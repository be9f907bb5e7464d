package openstack

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// diffPorts makes what is missing, first the reserved ports, whose addresses the
// machines' need, and changes what is there.
func (h *Holding) diffPorts(d Desired, p *plan) {
	h.clear(d, p)
	h.makePorts(d, p, stageReserved, d.Reserved)
	h.makePorts(d, p, stageMachines, d.Machines)
	for _, want := range d.ports() {
		have := h.Ports[want.Use]
		if have == nil {
			continue
		}
		h.tag(p, KindPort, &have.Object, want.Name, func(*Holding) string { return have.ID })
		h.rename(p, KindPort, have.Object, want.Name)
		h.switchOn(p, KindPort, have.Object)
		h.changePort(d, p, want, have)
	}
	for _, spare := range h.Spare.Ports {
		if !h.blocks(d, &spare) {
			p.add(remove(stageRemovePorts, KindPort, spare.Object, "delete "+named(KindPort, spare.Object)))
		}
	}
}

// blocks says that a spare port has an address or a MAC that another of the plan is to
// get, so that it must go before.
func (h *Holding) blocks(d Desired, spare *Port) bool {
	return h.Network != nil && spare.NetworkID == h.Network.ID && slices.ContainsFunc(d.ports(), func(want DesiredPort) bool {
		have := h.Ports[want.Use]
		return have == nil && spare.MAC == want.MAC.String() || want.Address.IsValid() && spare.has(want.Address) && (have == nil || !have.has(want.Address))
	})
}

// clear removes the spare ports that stand in the way.
func (h *Holding) clear(d Desired, p *plan) {
	for _, spare := range h.Spare.Ports {
		if h.blocks(d, &spare) {
			p.add(remove(stageClear, KindPort, spare.Object, "delete "+named(KindPort, spare.Object)+", whose address or MAC is needed"))
		}
	}
}

// makePorts makes the missing ones of a list.
func (h *Holding) makePorts(d Desired, p *plan, st stage, list []DesiredPort) {
	for _, want := range list {
		if h.Ports[want.Use] != nil {
			continue
		}
		p.add(create(st, KindPort, "create port "+want.words(), func(ctx context.Context, api API, h *Holding) error {
			return h.createPort(ctx, api, d, want)
		}))
		h.tag(p, KindPort, nil, want.Name, func(h *Holding) string { return h.Ports[want.Use].ID })
	}
}

// words is a port's line in a dry run.
func (p DesiredPort) words() string {
	text := p.Name + ":"
	if p.Address.IsValid() {
		text += " " + p.Address.String()
	} else {
		text += " an address of Neutron's choice"
	}
	if !p.MAC.IsZero() {
		text += ", MAC " + p.MAC.String()
	}
	if len(p.Announces) > 0 {
		names := make([]string, len(p.Announces))
		for i, use := range p.Announces {
			names[i] = string(use.For)
		}
		text += ", may send from the " + strings.Join(names, " and ") + " address too"
	}
	return text
}

func (h *Holding) createPort(ctx context.Context, api API, d Desired, want DesiredPort) error {
	h.mu.Lock()
	port := Port{
		Object:    Object{Name: want.Name, Description: d.mark(want.Use).String()},
		NetworkID: h.Network.ID, Fixed: []FixedIP{{h.Subnet.ID, want.Address}}, Groups: []string{h.Group.ID},
	}
	if !want.MAC.IsZero() {
		port.MAC = want.MAC.String()
	}
	for _, a := range h.announced(want) {
		port.Pairs = append(port.Pairs, Pair{Address: a.String()})
	}
	h.mu.Unlock()
	made, err := api.CreatePort(ctx, port)
	return h.got(err, func() { h.Ports[want.Use] = &made })
}

// announced are the addresses that a machine must be able to send from, as far as
// their ports are there.
func (h *Holding) announced(want DesiredPort) []netip.Addr {
	var list []netip.Addr
	for _, use := range want.Announces {
		if p := h.Ports[use]; p != nil {
			list = append(list, p.address(h.subnetID()))
		}
	}
	return list
}

// changePort adds what a port lacks, in one request: the group, the pairs, its
// address. Groups and pairs of others stay.
func (h *Holding) changePort(d Desired, p *plan, want DesiredPort, have *Port) {
	var details []string
	if h.groupsFor(have) != nil {
		details = append(details, "put it into security group "+d.Name)
	}
	if want.Address.IsValid() && !have.has(want.Address) {
		details = append(details, fmt.Sprintf("change its address from %s to %s", have.address(h.subnetID()), want.Address))
	}
	details = append(details, h.pairWords(want, have)...)
	if len(details) == 0 {
		return
	}
	s := change(stageChange, KindPort, "change "+named(KindPort, have.Object), func(ctx context.Context, api API, h *Holding) error {
		h.mu.Lock()
		c := PortChange{Groups: h.groupsFor(have), Pairs: h.pairsFor(want, have)}
		if want.Address.IsValid() && !have.has(want.Address) {
			c.Fixed = []FixedIP{{h.Subnet.ID, want.Address}}
		}
		h.mu.Unlock()
		after, err := api.ChangePort(ctx, *have, c)
		return h.got(err, func() { *have = after })
	})
	s.Details = details
	p.add(s)
}

// groupsFor are the groups that a port should be in, nil where it is: the cluster's,
// and those of others. A spare one of the cluster's goes.
func (h *Holding) groupsFor(have *Port) []string {
	spare := func(id string) bool {
		return slices.ContainsFunc(h.Spare.Groups, func(g Group) bool { return g.ID == id })
	}
	if h.Group != nil && slices.Contains(have.Groups, h.Group.ID) && !slices.ContainsFunc(have.Groups, spare) {
		return nil
	}
	groups := slices.DeleteFunc(slices.Clone(have.Groups), spare)
	if h.Group != nil && !slices.Contains(groups, h.Group.ID) {
		groups = append(groups, h.Group.ID)
	}
	return groups
}

// pairsFor are the pairs that a port should have, nil where it has them: those that
// it has, without the addresses that the cluster's reserved ports had before.
func (h *Holding) pairsFor(want DesiredPort, have *Port) []Pair {
	current := h.announced(want)
	stale := h.moved(current)
	pairs := slices.DeleteFunc(slices.Clone(have.Pairs), func(p Pair) bool { return slices.ContainsFunc(stale, p.is) })
	for _, a := range current {
		if !slices.ContainsFunc(pairs, func(p Pair) bool { return p.is(a) }) {
			pairs = append(pairs, Pair{Address: a.String()})
		}
	}
	if slices.Equal(pairs, have.Pairs) {
		return nil
	}
	return pairs
}

// is says that a pair is of one address.
func (p Pair) is(a netip.Addr) bool {
	return p.Address == a.String() || p.Address == netip.PrefixFrom(a, a.BitLen()).String()
}

// pairWords say which pairs a port lacks or has too many, also of a reserved port that
// is yet to be made.
func (h *Holding) pairWords(want DesiredPort, have *Port) []string {
	var words []string
	for _, use := range want.Announces {
		reserved := h.Ports[use]
		switch {
		case reserved == nil:
			words = append(words, fmt.Sprintf("let it send from the %s address, once there is one", use.For))
		case !slices.ContainsFunc(have.Pairs, func(p Pair) bool { return p.is(reserved.address(h.subnetID())) }):
			words = append(words, fmt.Sprintf("let it send from %s (%s)", reserved.address(h.subnetID()), use.For))
		}
	}
	for _, a := range h.moved(h.announced(want)) {
		if slices.ContainsFunc(have.Pairs, func(p Pair) bool { return p.is(a) }) {
			words = append(words, fmt.Sprintf("let it not send from %s any more", a))
		}
	}
	return words
}
