package netplan

import "slices"

// Pin is one machine's anchor as a line under machines: would keep it.
type Pin struct {
	Machine string
	Anchor  string
}

// PinAnchors gives the pins that keep every machine of old on its anchor when
// spec is resolved, in the order of machines: only those that are needed, none
// when nobody moves. With old nil it pins every machine as spec resolves.
// The faults are those of spec with the pins, for instance an old anchor that
// the new anchor_cidr does not hold.
func PinAnchors(s Spec, old *Plan) ([]Pin, []Fault) {
	plan, faults := Resolve(s)
	if plan == nil {
		return nil, faults
	}
	if old == nil {
		return pins(plan.Machines), nil
	}
	kept := make(map[string]Machine, len(old.Machines))
	for _, m := range old.Machines {
		if m.Anchor.IsValid() {
			kept[m.Name] = m
		}
	}
	var pinned []Machine
	for {
		movers := slices.DeleteFunc(slices.Clone(plan.Machines), func(m Machine) bool {
			was, ok := kept[m.Name]
			return !ok || !m.Anchor.IsValid() || was.Anchor == m.Anchor
		})
		if len(movers) == 0 {
			break
		}
		for _, m := range movers {
			m.Anchor = kept[m.Name].Anchor
			pinned = append(pinned, m)
			s.Machines = withAnchor(s.Machines, m)
		}
		// A pin can push another machine aside, which then needs one too.
		if plan, faults = Resolve(s); plan == nil {
			return nil, faults
		}
	}
	slices.SortStableFunc(pinned, func(a, b Machine) int { return place(plan, a) - place(plan, b) })
	return pins(pinned), nil
}

func pins(machines []Machine) []Pin {
	var out []Pin
	for _, m := range machines {
		if m.Anchor.IsValid() {
			out = append(out, Pin{Machine: m.Name, Anchor: m.Anchor.String()})
		}
	}
	return out
}

// withAnchor gives the specs with one machine's anchor set, leaving its argument.
func withAnchor(specs []MachineSpec, m Machine) []MachineSpec {
	specs = slices.Clone(specs)
	for i := range specs {
		if specs[i].Name == m.Name {
			specs[i].Anchor = m.Anchor
			return specs
		}
	}
	return append(specs, MachineSpec{Name: m.Name, Anchor: m.Anchor})
}

func place(p *Plan, m Machine) int {
	return slices.IndexFunc(p.Machines, func(o Machine) bool { return o.Name == m.Name })
}
