package openstack

import (
	"context"
	"slices"

	"homeward/agent/ledger"
)

func (o *operator) CreateNetwork(ctx context.Context, x Object) (n Network, err error) {
	err = o.do(ctx, "create network", true, func() error {
		if err := o.room(KindNetwork, 1); err != nil {
			return err
		}
		n = Network{Object: o.new(x)}
		c := n
		o.networks[n.ID] = &c
		return nil
	})
	return n, err
}

func (o *operator) CreateSubnet(ctx context.Context, s Subnet) (_ Subnet, err error) {
	err = o.do(ctx, "create subnet", true, func() error {
		if o.networks[s.NetworkID] == nil {
			return refuse(ledger.ErrGone, "network")
		}
		for _, other := range o.subnets {
			if other.NetworkID == s.NetworkID && other.CIDR.Overlaps(s.CIDR) {
				return refuse(ledger.ErrTaken, "overlaps with another subnet")
			}
		}
		s.Object = o.new(s.Object)
		c := s
		o.subnets[s.ID] = &c
		return nil
	})
	return s, err
}

func (o *operator) CreateRouter(ctx context.Context, r Router) (_ Router, err error) {
	err = o.do(ctx, "create router", true, func() error {
		r.Object = o.new(r.Object)
		c := r
		o.routers[r.ID] = &c
		return nil
	})
	return r, err
}

func (o *operator) CreateGroup(ctx context.Context, x Object) (g Group, err error) {
	err = o.do(ctx, "create group", true, func() error {
		g = Group{Object: o.new(x), Rules: []GroupRule{{ID: x.Name + "4", Rule: Rule{Egress: true}}, {ID: x.Name + "6", Rule: Rule{Egress: true, V6: true}}}}
		c := g
		o.groups[g.ID] = &c
		return nil
	})
	return g, err
}

func (o *operator) CreateRules(ctx context.Context, group string, rules []GroupRule) error {
	return o.do(ctx, "create rules", true, func() error {
		g := o.groups[group]
		if g == nil {
			return refuse(ledger.ErrGone, "group")
		}
		for _, r := range rules {
			if slices.ContainsFunc(g.Rules, func(have GroupRule) bool { return have.Rule == r.Rule }) {
				return refuse(ledger.ErrTaken, "SecurityGroupRuleExists")
			}
		}
		for _, r := range rules {
			r.ID = o.new(Object{}).ID
			g.Rules = append(g.Rules, r)
		}
		return nil
	})
}

func (o *operator) CreatePort(ctx context.Context, p Port) (made Port, err error) {
	err = o.do(ctx, "create port", true, func() error {
		if err := o.room(KindPort, 1); err != nil {
			return err
		}
		made, err = o.createPort(copyPort(p))
		return err
	})
	return made, err
}

func (o *operator) CreateFloating(ctx context.Context, f FloatingIP) (_ FloatingIP, err error) {
	err = o.do(ctx, "create floating IP", true, func() error {
		if err := o.room(KindFloating, 1); err != nil {
			return err
		}
		if err := o.place(f, f.PortID); err != nil {
			return err
		}
		f.Object = o.new(f.Object)
		for f.Address = addr("203.0.113.10"); o.hasFloating(f); f.Address = f.Address.Next() {
		}
		c := f
		o.floating[f.ID] = &c
		return nil
	})
	return f, err
}

func (w *world) hasFloating(f FloatingIP) bool {
	for _, other := range w.floating {
		if other.Address == f.Address {
			return true
		}
	}
	return false
}

// place says whether a floating IP can be put on a port.
func (w *world) place(f FloatingIP, port string) error {
	p := w.ports[port]
	if p == nil {
		return refuse(ledger.ErrGone, "port")
	}
	for _, other := range w.floating {
		if other.PortID == port && other.ID != f.ID {
			return refuse(ledger.ErrTaken, "FloatingIPPortAlreadyAssociated")
		}
	}
	for _, plug := range w.ports {
		if r := w.routers[plug.DeviceID]; plug.plug() && plug.NetworkID == p.NetworkID && r != nil && r.ExternalID == f.NetworkID {
			return nil
		}
	}
	return refuse(ledger.ErrGone, "ExternalGatewayForFloatingIPNotFound")
}

func (o *operator) SetGateway(ctx context.Context, router, external string) error {
	return o.do(ctx, "set gateway", true, func() error { o.routers[router].ExternalID = external; return nil })
}

func (o *operator) Plug(ctx context.Context, router, subnet string) error {
	return o.do(ctx, "plug", true, func() error {
		s := o.subnets[subnet]
		if s == nil || o.routers[router] == nil {
			return refuse(ledger.ErrGone, "subnet or router")
		}
		for _, p := range o.ports {
			if p.DeviceID == router && len(p.Fixed) > 0 {
				if other := o.subnets[p.Fixed[0].SubnetID]; other != nil && other.ID != subnet && other.CIDR.Overlaps(s.CIDR) {
					return refuse(ledger.ErrTaken, "Cidr %s overlaps with %s", s.CIDR, other.CIDR)
				}
			}
		}
		_, err := o.createPort(Port{NetworkID: s.NetworkID, DeviceOwner: "network:router_interface", DeviceID: router, Fixed: []FixedIP{{s.ID, s.Gateway}}})
		return err
	})
}

func (o *operator) Unplug(ctx context.Context, router, subnet string) error {
	return o.do(ctx, "unplug", true, func() error {
		for id, p := range o.ports {
			if p.DeviceID == router && p.Fixed[0].SubnetID == subnet {
				for _, f := range o.floating {
					if on := o.ports[f.PortID]; on != nil && on.NetworkID == p.NetworkID {
						return refuse(ledger.ErrTaken, "RouterInterfaceInUseByFloatingIP")
					}
				}
				delete(o.ports, id)
				return nil
			}
		}
		return refuse(ledger.ErrGone, "interface")
	})
}

func (o *operator) SetDNS(ctx context.Context, s Subnet) error {
	return o.do(ctx, "set DNS", true, func() error { o.subnets[s.ID].DNS = s.DNS; return nil })
}

func (o *operator) ChangePort(ctx context.Context, was Port, c PortChange) (p Port, err error) {
	err = o.do(ctx, "change port", true, func() error {
		now := o.ports[was.ID]
		switch {
		case now == nil:
			return refuse(ledger.ErrGone, "port")
		case now.Revision != was.Revision:
			return refuse(ledger.ErrStale, "RevisionNumberConstraintFailed")
		}
		if c.Fixed != nil {
			for _, other := range o.ports {
				if other.ID != was.ID && slices.ContainsFunc(c.Fixed, func(f FixedIP) bool { return slices.Contains(other.Fixed, f) }) {
					return refuse(ledger.ErrTaken, "IpAddressInUse")
				}
			}
			now.Fixed = slices.Clone(c.Fixed)
		}
		if c.Groups != nil {
			now.Groups = slices.Clone(c.Groups)
		}
		if c.Pairs != nil {
			now.Pairs = slices.Clone(c.Pairs)
		}
		now.Revision++
		p = copyPort(*now)
		return nil
	})
	return p, err
}

func (o *operator) Associate(ctx context.Context, was FloatingIP, port string) (f FloatingIP, err error) {
	err = o.do(ctx, "associate", true, func() error {
		now := o.floating[was.ID]
		if now == nil {
			return refuse(ledger.ErrGone, "floating IP")
		}
		if now.Revision != was.Revision && !o.lastWins {
			return refuse(ledger.ErrStale, "RevisionNumberConstraintFailed")
		}
		if port != "" {
			if err := o.place(*now, port); err != nil {
				return err
			}
		}
		now.PortID = port
		now.Revision++
		f = *now
		return nil
	})
	return f, err
}

func (o *operator) Delete(ctx context.Context, kind Kind, id string) error {
	return o.do(ctx, "delete "+string(kind), true, func() error {
		on := func(f func(*Port) bool) bool {
			for _, p := range o.ports {
				if f(p) {
					return true
				}
			}
			return false
		}
		switch kind {
		case KindPort:
			for _, f := range o.floating {
				if f.PortID == id {
					f.PortID = ""
				}
			}
			delete(o.ports, id)
		case KindFloating:
			delete(o.floating, id)
		case KindRule:
			for _, g := range o.groups {
				g.Rules = slices.DeleteFunc(g.Rules, func(r GroupRule) bool { return r.ID == id })
			}
		case KindRouter:
			if on(func(p *Port) bool { return p.DeviceID == id }) {
				return refuse(ledger.ErrTaken, "RouterInUse")
			}
			delete(o.routers, id)
		case KindSubnet:
			if on(func(p *Port) bool {
				return slices.ContainsFunc(p.Fixed, func(f FixedIP) bool { return f.SubnetID == id }) && !p.servant()
			}) {
				return refuse(ledger.ErrTaken, "SubnetInUse")
			}
			delete(o.subnets, id)
		case KindGroup:
			if on(func(p *Port) bool { return slices.Contains(p.Groups, id) }) {
				return refuse(ledger.ErrTaken, "SecurityGroupInUse")
			}
			delete(o.groups, id)
		case KindNetwork:
			if on(func(p *Port) bool { return p.NetworkID == id && !p.servant() }) {
				return refuse(ledger.ErrTaken, "NetworkInUse")
			}
			for s, x := range o.subnets {
				if x.NetworkID == id {
					delete(o.subnets, s)
				}
			}
			for p, x := range o.ports {
				if x.NetworkID == id {
					delete(o.ports, p)
				}
			}
			delete(o.networks, id)
		}
		return nil
	})
}
