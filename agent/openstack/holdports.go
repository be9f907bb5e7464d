package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// ports keeps one port for each of the plan, and says what of the others goes.
func (h *Holding) ports(d Desired, a *Actual) {
	mine := map[Use][]Port{}
	for _, p := range a.Ports {
		if m, ok := h.markOf(p.Object); ok {
			mine[m.Use] = append(mine[m.Use], p)
		}
	}
	for _, want := range d.ports() {
		keep := h.keepPort(d, want, mine[want.Use])
		if keep != nil {
			h.Ports[want.Use] = keep
		}
		delete(mine, want.Use)
	}
	for _, rest := range mine {
		for _, p := range rest {
			h.spare(p, "it is in the plan no more")
		}
	}
	slices.SortFunc(h.Spare.Ports, older)
	slices.SortFunc(h.Left, func(x, y Left) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID)) })
	for _, want := range d.ports() {
		h.inTheWay(want, a)
	}
	for _, want := range d.ports() {
		namesakes(h, KindPort, want.Name, a.Namesakes, h.Ports[want.Use] != nil)
	}
}

// spare lets a port go that nothing uses.
func (h *Holding) spare(p Port, why string) {
	if p.used() {
		h.leave(KindPort, p.Object, "%s, but %s uses it: delete that first", why, user(&p))
		return
	}
	h.Spare.Ports = append(h.Spare.Ports, p)
}

// user names what has a port.
func user(p *Port) string {
	return fmt.Sprintf("%s %s", cmp.Or(p.DeviceOwner, "device"), p.DeviceID)
}

// keepPort chooses of the ports of one use, nil where none does.
func (h *Holding) keepPort(d Desired, want DesiredPort, found []Port) *Port {
	slices.SortFunc(found, older)
	here := func(p Port) bool { return h.Network != nil && p.NetworkID == h.Network.ID }
	fits := func(p Port) bool { return d.fits(want, &p) }
	slices.SortStableFunc(found, func(x, y Port) int {
		return cmp.Or(cmp.Compare(rank(here(x)), rank(here(y))), cmp.Compare(rank(fits(x)), rank(fits(y))), cmp.Compare(rank(x.used()), rank(y.used())))
	})
	var keep *Port
	for i, p := range found {
		// The address of a machine's port can be changed, and one that is used stays as
		// it is.
		stays := fits(p) || want.For == ForMachine && (want.Address.IsValid() || p.used())
		switch {
		case i == 0 && here(p) && stays:
			keep = &p
		case i == 0 && here(p):
			h.spare(p, "the plan has another address for it")
		default:
			h.spare(p, "this cluster has a second one")
		}
	}
	if keep != nil && want.For == ForMachine {
		h.checkMachine(want, keep)
	}
	return keep
}

// fits says that a port has the address that the plan chose for it, and where it chose
// none, not one that it chose for another.
func (d Desired) fits(want DesiredPort, p *Port) bool {
	if want.Address.IsValid() {
		return p.has(want.Address)
	}
	return !slices.ContainsFunc(d.ports(), func(other DesiredPort) bool { return other.Use != want.Use && p.has(other.Address) })
}

// checkMachine tells of what cannot be changed of a machine's port.
func (h *Holding) checkMachine(want DesiredPort, p *Port) {
	if want.Address.IsValid() && !p.has(want.Address) && p.used() {
		h.Conflicts = append(h.Conflicts, conflict(KindPort, p.Object, "take the machine down and let its server go, or give the address that it has",
			"machines.%s.address: it is %s, and %s has %s and is used by %s", want.Machine, want.Address, named(KindPort, p.Object), p.address(h.subnetID()), user(p)).at(want.Address.String()).wrong())
	}
	if !want.MAC.IsZero() && p.MAC != want.MAC.String() {
		remedy := "delete the port (openstack port delete " + p.ID + ") and reserve again, or give machines." + want.Machine + ".macs.cluster: " + p.MAC
		if p.used() {
			remedy = "give machines." + want.Machine + ".macs.cluster: " + p.MAC + ", or take the machine down first and delete the port"
		}
		h.Conflicts = append(h.Conflicts, conflict(KindPort, p.Object, remedy, "%s has MAC %s, and the plan has %s, which only an administrator could change",
			named(KindPort, p.Object), p.MAC, want.MAC).wrong())
	}
}

// inTheWay tells of ports on the cluster's network that have an address or a MAC of a
// port that is to be made. One that goes anyway is none: it goes first.
func (h *Holding) inTheWay(want DesiredPort, a *Actual) {
	if h.Network == nil {
		return
	}
	have := h.Ports[want.Use]
	for _, p := range a.Ports {
		if p.NetworkID != h.Network.ID || have != nil && have.ID == p.ID || h.goes(&p) {
			continue
		}
		address := want.Address.IsValid() && p.has(want.Address) && (have == nil || !have.has(want.Address))
		mac := have == nil && p.MAC == want.MAC.String()
		if !address && !mac {
			continue
		}
		what, remedy := want.Address.String(), "choose another address, or remove that port"
		if !address {
			what, remedy = want.MAC.String(), "give machines."+want.Machine+".macs.cluster another, or remove that port"
		}
		c := conflict(KindPort, p.Object, remedy, "%s, which the plan has for %s, is taken by %s: %s", what, want.Name, named(KindPort, p.Object), holderOf(&p, h))
		if address {
			c = c.at(what)
		}
		h.Conflicts = append(h.Conflicts, c)
	}
}

func holderOf(p *Port, h *Holding) string {
	if p.DeviceOwner != "" {
		return "it is of " + user(p)
	}
	return whose(p.Object, h.Owner)
}

// goes says that a port is among the spare ones.
func (h *Holding) goes(p *Port) bool {
	return slices.ContainsFunc(h.Spare.Ports, func(s Port) bool { return s.ID == p.ID })
}

// moved are the addresses that reserved ports of this cluster had before and a machine
// has no use for any more: it announces the addresses of current.
func (h *Holding) moved(current []netip.Addr) []netip.Addr {
	var list []netip.Addr
	for _, p := range h.Spare.Ports {
		m, _ := h.markOf(p.Object)
		if m.Use != kubeAPI && m.Use != ingress {
			continue
		}
		for _, f := range p.Fixed {
			if !slices.Contains(current, f.Address) {
				list = append(list, f.Address)
			}
		}
	}
	return list
}
