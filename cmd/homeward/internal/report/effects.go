package report

import (
	"slices"

	"homeward/netplan"
)

// gone is a set of machines that fail together: for sure, and perhaps besides.
type gone struct{ sure, perhaps []string }

// effects judges the loss of machines. Where it depends on whether the others are
// lost too, nothing is known unless the difference is only an interruption.
func (m *model) effects(g gone) Effects {
	sure := m.without(g.sure)
	if len(g.perhaps) == 0 {
		return sure
	}
	all := m.without(slices.Concat(g.sure, g.perhaps))
	return Effects{between(sure.Ingress, all.Ingress), between(sure.API, all.API), between(sure.Config, all.Config)}
}

func between(sure, all Effect) Effect {
	if sure != all && (all == Lost || all == Unknown) {
		return Unknown
	}
	return all
}

func (m *model) without(names []string) Effects {
	e := Effects{Ingress: m.ingressWithout(names), API: m.apiWithout(names)}
	e.Config = m.configWithout(names, e.API)
	return e
}

// ingressWithout judges the pool: an address moves to the next in its order, and
// needs ready endpoints where those are known.
func (m *model) ingressWithout(names []string) Effect {
	if !m.hasPool() {
		return Absent
	}
	if len(m.announcing) == 0 {
		return Lost
	}
	worst := Stays
	for _, a := range m.announcements {
		worst = worst.Worse(a.without(names))
	}
	return worst
}

func (a Announcement) without(names []string) Effect {
	lost := func(n string) bool { return slices.Contains(names, n) }
	left := 0
	for _, e := range a.Endpoints {
		if !lost(e.Node) {
			left += e.Count
		}
	}
	switch {
	case a.served && left == 0, !slices.ContainsFunc(a.order, func(n string) bool { return !lost(n) }):
		return Lost
	case a.local && !a.served && slices.ContainsFunc(a.order, lost):
		return Unknown // only nodes with a ready endpoint announce, and where those are is not known
	case lost(a.first()):
		return Moves
	}
	return Stays
}

// apiWithout judges the Kubernetes API: etcd's quorum, and its address.
func (m *model) apiWithout(names []string) Effect {
	lost := func(x netplan.Machine) bool { return slices.Contains(names, x.Name) }
	controlPlanes := len(m.named(func(x netplan.Machine) bool { return isControlPlane(x) && lost(x) }))
	balancer, machine := m.balancer()
	switch {
	case !m.etcd.Without(controlPlanes).Writes(), slices.Contains(names, machine):
		return Lost
	case controlPlanes == 0:
		return Stays
	case balancer != "":
		return Unknown // whether it notices is not in the plan
	case machine != "":
		return Stays
	case len(m.named(func(x netplan.Machine) bool { return m.mayHoldVIP(x) && !lost(x) })) == 0:
		return Lost
	}
	return Moves
}

// configWithout judges new addresses: they need the API, and MetalLB's controller on
// some machine that runs pods.
func (m *model) configWithout(names []string, api Effect) Effect {
	if !m.hasPool() {
		return Absent
	}
	running := m.named(m.runsPods)
	left := slices.DeleteFunc(slices.Clone(running), func(n string) bool { return slices.Contains(names, n) })
	switch {
	case len(left) == 0:
		return Lost
	case len(left) < len(running):
		return api.Worse(Moves)
	}
	return api
}
