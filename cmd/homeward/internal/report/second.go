package report

import (
	"fmt"
	"strings"
)

// failSecond judges two failures before the first is repaired, by counting pairs.
func (m *model) failSecond(hosts []Host) []Failure {
	if len(m.Plan.Machines) < 2 {
		return nil
	}
	f := Failure{Kind: FailSecond, Subject: "a second machine or host before the first is back"}
	units := make([][]string, 0, len(m.Plan.Machines))
	for _, x := range m.Plan.Machines {
		units = append(units, []string{x.Name})
	}
	machines := m.pairs(units)
	f.Effects = machines.worst
	f.Expected = machines.text("machines")
	if len(hosts) > 1 {
		units = units[:0]
		for _, h := range hosts {
			var names []string
			for _, x := range h.Machines {
				names = append(names, x.Name)
			}
			units = append(units, names)
		}
		both := m.pairs(units)
		f.Expected += " " + both.text("hosts")
		f.Effects = Effects{f.Ingress.Worse(both.worst.Ingress), f.API.Worse(both.worst.API), f.Config.Worse(both.worst.Config)}
	}
	f.Remains = fmt.Sprintf("This is beyond what a plan for one failure promises. Before work on a machine look at what is left: of %s %d must be there",
		counted(m.etcd.Members, "etcd member"), m.etcd.Quorum())
	if m.hasPool() {
		f.Remains += fmt.Sprintf(", and of %s one", counted(len(m.announcing), "announcer"))
	}
	f.Remains += "."
	return []Failure{f}
}

// pairing counts what pairs of failures do.
type pairing struct {
	all, api, ingress, unknown int
	worst                      Effects
	// limited says that there were too many to try.
	limited bool
}

// mostUnits bounds the pairs that are tried: 80 units make 3,160.
const mostUnits = 80

func (m *model) pairs(units [][]string) pairing {
	p := pairing{worst: Effects{Absent, Absent, Absent}}
	if len(units) > mostUnits {
		// Control planes come first, and announcers are what else decides.
		p.limited = true
		units = units[:mostUnits]
	}
	for i := range units {
		for _, other := range units[i+1:] {
			e := m.without(append(append([]string{}, units[i]...), other...))
			p.all++
			p.api += count(e.API == Lost)
			p.ingress += count(e.Ingress == Lost)
			p.unknown += count(e.Worst() == Unknown)
			p.worst = Effects{p.worst.Ingress.Worse(e.Ingress), p.worst.API.Worse(e.API), p.worst.Config.Worse(e.Config)}
		}
	}
	return p
}

func (p pairing) text(what string) string {
	if p.all == 0 {
		return fmt.Sprintf("There are no two %s.", what)
	}
	parts := []string{fmt.Sprintf("%d take the API down", p.api), fmt.Sprintf("%d the pool", p.ingress)}
	if p.worst.Ingress == Absent {
		parts = parts[:1]
	}
	if p.unknown > 0 {
		parts = append(parts, fmt.Sprintf("of %d it is not known", p.unknown))
	}
	if p.all == 1 {
		return fmt.Sprintf("The loss of both %s%s.", what, lostText(p.api > 0, p.ingress > 0))
	}
	among := fmt.Sprintf("the %d pairs of %s", p.all, what)
	if p.limited {
		among = fmt.Sprintf("the %d pairs of the first %d %s", p.all, mostUnits, what)
	}
	return fmt.Sprintf("Of %s %s.", among, strings.Join(parts, ", "))
}

func lostText(api, pool bool) string {
	switch {
	case api && pool:
		return " takes the API and the pool down"
	case api:
		return " takes the API down"
	case pool:
		return " takes the pool down"
	}
	return " takes neither the API nor the pool down"
}
