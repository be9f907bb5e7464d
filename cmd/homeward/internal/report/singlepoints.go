package report

import (
	"fmt"
	"slices"
)

// singlePoints are the failures that lose something, by name. Two failures at once,
// and an address conflict, are no point.
func (m *model) singlePoints(hosts []Host) []SinglePoint {
	list := []SinglePoint{}
	add := func(kind Kind, name string, e Effects, why string) {
		takes := []string{}
		for _, t := range []struct {
			what   string
			effect Effect
		}{{"ingress", e.Ingress}, {"api", e.API}, {"config", e.Config}} {
			if t.effect == Lost {
				takes = append(takes, t.what)
			}
		}
		if len(takes) > 0 {
			list = append(list, SinglePoint{kind, name, takes, why})
		}
	}
	before := m.without(nil)
	if before.Ingress == Lost {
		add(FailAnnouncer, "no announcer", Effects{Ingress: Lost}, "Nobody may announce the pool, or no ready endpoint stands behind it: it is away without any failure.")
	}
	for _, x := range m.Plan.Machines {
		kind := FailWorker
		if isControlPlane(x) {
			kind = FailControlPlane
		}
		e := m.effects(gone{sure: []string{x.Name}}).beyond(before)
		add(kind, x.Name, e, m.machineWhy(x.Name, isControlPlane(x), e))
	}
	for _, h := range hosts {
		add(FailHost, h.Name, h.Loss.Effects.beyond(before), "Its loss "+h.Loss.Text)
	}
	for _, f := range slices.Concat(m.failGateways(), m.failSegments(), m.failBalancer()) {
		if f.Kind == FailSwitch && m.Plan.External.Name() != m.Plan.Cluster.Name() {
			continue // whether there is such a switch is not known
		}
		add(f.Kind, f.Subject, f.Effects, f.Expected)
	}
	if m.hasPool() && len(m.announcing) > 0 {
		list = append(list, SinglePoint{FailController, "MetalLB's controller", []string{}, "Only new addresses wait for it, and Kubernetes starts it again."})
	}
	return list
}

func (m *model) machineWhy(name string, controlPlane bool, e Effects) string {
	switch {
	case controlPlane && !m.etcd.Without(1).Writes():
		return fmt.Sprintf("%s: the API writes nothing without it.", upper(m.etcd.Without(1).String()))
	case e.API == Lost:
		return "The API has no address without it."
	case e.Ingress == Lost && len(m.announcing) == 1:
		return "No other machine may announce the pool."
	case e.Ingress == Lost:
		var only []string
		for _, a := range m.announcements {
			if a.without(lost{name: true}) == Lost {
				only = append(only, a.Address)
			}
		}
		return fmt.Sprintf("All ready endpoints of %s are on it.", some(only))
	}
	return "Nothing else runs pods, so MetalLB's controller can start nowhere."
}

// beyond leaves out what is lost without the failure.
func (e Effects) beyond(before Effects) Effects {
	if before.Ingress == Lost {
		e.Ingress = Absent
	}
	if before.Config == Lost {
		e.Config = Absent
	}
	return e
}
