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

// lost has the names of machines that are.
type lost map[string]bool

func lostOf(names []string) lost {
	l := make(lost, len(names))
	for _, n := range names {
		l[n] = true
	}
	return l
}

func (m *model) without(names []string) Effects {
	l := lostOf(names)
	e := Effects{Ingress: m.ingressWithout(l), API: m.apiWithout(l)}
	e.Config = m.configWithout(l, e.API)
	return e
}

// ingressWithout judges the pool: an address moves to the next in its order, and
// needs ready endpoints where those are known.
func (m *model) ingressWithout(l lost) Effect {
	if !m.hasPool() {
		return Absent
	}
	if len(m.announcing) == 0 {
		return Lost
	}
	worst := Stays
	for _, a := range m.announcements {
		worst = worst.Worse(a.without(l))
	}
	return worst
}

func (a Announcement) without(l lost) Effect {
	gone := func(n string) bool { return l[n] }
	left := 0
	for _, e := range a.Endpoints {
		if !l[e.Node] {
			left += e.Count
		}
	}
	switch {
	case a.served && left == 0, !slices.ContainsFunc(a.order, func(n string) bool { return !l[n] }):
		return Lost
	case a.local && !a.served && slices.ContainsFunc(a.order, gone):
		return Unknown // only nodes with a ready endpoint announce, and where those are is not known
	case l[a.first()]:
		return Moves
	}
	return Stays
}

// apiWithout judges the Kubernetes API: etcd's quorum, and its address.
func (m *model) apiWithout(l lost) Effect {
	controlPlanes := len(m.named(func(x netplan.Machine) bool { return isControlPlane(x) && l[x.Name] }))
	balancer, machine := m.balancer()
	switch {
	case !m.etcd.Without(controlPlanes).Writes(), machine != "" && l[machine]:
		return Lost
	case controlPlanes == 0:
		return Stays
	case balancer != "":
		return Unknown // whether it notices is not in the plan
	case machine != "":
		return Stays
	case len(m.named(func(x netplan.Machine) bool { return m.mayHoldVIP(x) && !l[x.Name] })) == 0:
		return Lost
	}
	return Moves
}

// configWithout judges new addresses: they need the API, and MetalLB's controller on
// some machine that runs pods.
func (m *model) configWithout(l lost, api Effect) Effect {
	if !m.hasPool() {
		return Absent
	}
	running := m.named(m.runsPods)
	left := slices.DeleteFunc(slices.Clone(running), func(n string) bool { return l[n] })
	switch {
	case len(left) == 0:
		return Lost
	case len(left) < len(running):
		return api.Worse(Moves)
	}
	return api
}
