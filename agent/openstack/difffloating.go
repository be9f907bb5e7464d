package openstack

import (
	"context"
	"fmt"
)

// diffFloating puts a floating IP on each reserved port.
func (h *Holding) diffFloating(d Desired, p *plan) {
	for _, want := range d.Reserved {
		h.diffOneFloating(d, p, want)
	}
	for _, f := range h.Spare.Floating {
		p.add(remove(stageRemoveFloating, KindFloating, f.Object, "delete floating IP "+f.Address.String()))
		if f.PortID != "" && h.needed(d, f.PortID) {
			p.add(detach(stageClear, f))
		}
	}
	for _, f := range h.Spare.Adopted {
		h.give(p, f)
	}
}

// needed says that a port which has a floating IP is to get another one.
func (h *Holding) needed(d Desired, port string) bool {
	for _, want := range d.Reserved {
		if have := h.Ports[want.Use]; have != nil && have.ID == port && (h.Floating[want.Use] == nil || h.Floating[want.Use].PortID != port) {
			return true
		}
	}
	return false
}

func (h *Holding) diffOneFloating(d Desired, p *plan, want DesiredPort) {
	use := want.Use
	get := func(h *Holding) string { return h.Floating[use].ID }
	have := h.Floating[use]
	if have == nil {
		p.add(create(stageFloating, KindFloating, fmt.Sprintf("create a floating IP on %s for port %s", d.External, want.Name), func(ctx context.Context, api API, h *Holding) error {
			f, err := api.CreateFloating(ctx, FloatingIP{Object: Object{Description: d.mark(use).String()}, NetworkID: h.External.ID, PortID: h.Ports[use].ID})
			return h.got(err, func() { h.Floating[use] = &f })
		}))
		h.tag(p, KindFloating, nil, "of "+want.Name, get)
		return
	}
	_, ours := h.markOf(have.Object)
	there := h.Ports[use] != nil && have.PortID == h.Ports[use].ID
	claim := !ours && !there && !h.tagged(*have)
	if claim {
		s := change(stageClear, KindFloating, fmt.Sprintf("tag floating IP %s with %s, to put it on port %s", have.Address, tagOf(h.Owner), want.Name), func(ctx context.Context, api API, _ *Holding) error {
			return api.Tag(ctx, KindFloating, have.ID, tagOf(h.Owner))
		})
		s.claims = true
		p.add(s)
	} else {
		h.tag(p, KindFloating, &have.Object, "", get)
	}
	if there {
		return
	}
	s := change(stageFloating, KindFloating, fmt.Sprintf("put floating IP %s on port %s", have.Address, want.Name), func(ctx context.Context, api API, h *Holding) error {
		f, err := api.Associate(ctx, *have, h.Ports[use].ID)
		return h.got(err, func() { *have = f })
	})
	s.needsClaim = claim
	p.add(s)
}

// detach takes a floating IP off its port and keeps it.
func detach(st stage, f FloatingIP) Step {
	return change(st, KindFloating, fmt.Sprintf("take floating IP %s off its port, and keep it", f.Address), func(ctx context.Context, api API, _ *Holding) error {
		_, err := api.Associate(ctx, f, "")
		return err
	})
}

// give gives an adopted floating IP back to the operator: off the port, and without
// the tag.
func (h *Holding) give(p *plan, f FloatingIP) {
	if f.PortID != "" {
		p.add(detach(stageClear, f))
	}
	if h.tagged(f) {
		p.add(change(stageUntag, KindFloating, fmt.Sprintf("take tag %s off floating IP %s", tagOf(h.Owner), f.Address), func(ctx context.Context, api API, _ *Holding) error {
			return api.Untag(ctx, KindFloating, f.ID, tagOf(h.Owner))
		}))
	}
}
