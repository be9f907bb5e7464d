package report

import (
	"fmt"
	"maps"
	"slices"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// draft is the plan as advice would have it. Every change of it resolves.
type draft struct {
	spec netplan.Spec
	plan *netplan.Plan
	// at is where each machine runs, and hosts are those there may be.
	at    map[string]string
	hosts []string
}

func (m *model) draft() *draft {
	d := &draft{spec: m.Spec, plan: m.Plan, at: maps.Clone(m.at)}
	for _, h := range m.hosts {
		if !m.offline(h) {
			d.hosts = append(d.hosts, h)
		}
	}
	return d
}

func (m *model) offline(host string) bool {
	return m.Snapshot != nil && slices.ContainsFunc(m.Snapshot.Nodes, func(n inventory.Node) bool { return n.Name == host && !n.Online })
}

// try changes the draft where the plan with the change resolves, and else says the
// first fault.
func (d *draft) try(change func(*netplan.Spec)) (fault string) {
	spec := d.spec
	spec.Machines = slices.Clone(spec.Machines)
	spec.Workers = slices.Clone(spec.Workers)
	change(&spec)
	plan, faults := netplan.Resolve(spec)
	if len(faults) > 0 {
		return faults[0].Path + ": " + faults[0].Message
	}
	d.spec, d.plan = spec, plan
	return ""
}

// place puts a machine on a host.
func (d *draft) place(machine, host string) (fault string) {
	fault = d.try(func(s *netplan.Spec) {
		at := slices.IndexFunc(s.Machines, func(x netplan.MachineSpec) bool { return x.Name == machine })
		if at < 0 {
			s.Machines = append(s.Machines, netplan.MachineSpec{Name: machine})
			at = len(s.Machines) - 1
		}
		s.Machines[at].Node = host
	})
	if fault == "" {
		d.at[machine] = host
	}
	return fault
}

// model is what would be so: the draft's machines where it has them, everything
// healthy.
func (d *draft) model() *model {
	m := newModel(Facts{Spec: d.spec, Plan: d.plan})
	m.at, m.hosts = d.at, d.hosts
	return m
}

// on are the machines of some on a host.
func (d *draft) on(host string, of []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(n string) bool { return d.at[n] != host })
}

// emptiest is the host with the fewest of some machines, then the fewest of all, then
// the first by name; not one of those left out. Empty where there is none.
func (d *draft) emptiest(of []string, but ...string) string {
	all := slices.Collect(maps.Keys(d.at))
	best := ""
	for _, h := range d.hosts {
		if slices.Contains(but, h) {
			continue
		}
		if best == "" || len(d.on(h, of)) < len(d.on(best, of)) ||
			len(d.on(h, of)) == len(d.on(best, of)) && len(d.on(h, all)) < len(d.on(best, all)) {
			best = h
		}
	}
	return best
}

// newHost adds one that there is not yet, under a name that says so.
func (d *draft) newHost() string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("new-host-%d", i); !slices.Contains(d.hosts, name) {
			d.hosts = append(d.hosts, name)
			return name
		}
	}
}
