package report

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// spreadControlPlanes moves as few control planes as it takes for the loss of any one
// host to leave a quorum. With a control plane of unknown host it says nothing.
func (m *model) spreadControlPlanes(d *draft) *Improvement {
	var all []string
	for _, x := range d.plan.Machines {
		if isControlPlane(x) {
			all = append(all, x.Name)
		}
	}
	most := Etcd{len(all), len(all)}.mostTogether()
	if most == 0 || len(d.hosts) == 0 || m.homeless(all) {
		return nil
	}
	lacking := (len(all)+most-1)/most - len(d.hosts)
	moves := m.spread(d, all, most)
	if moves.none() {
		return nil
	}
	why := fmt.Sprintf("Of %d etcd members a host may have at most %d, so that the rest is a quorum (%d).", len(all), most, Etcd{len(all), len(all)}.Quorum())
	if lacking > 0 {
		why += fmt.Sprintf(" That takes %s more than the %d there are.", counted(lacking, "Proxmox host"), len(d.hosts)-lacking)
	}
	return advice(moves.text(m.at), why, moves.fault, moves.edits...)
}

// spreadAnnouncers moves one announcer away where all are on one host.
func (m *model) spreadAnnouncers(d *draft) *Improvement {
	all := planned(d.plan)
	if !m.hasPool() || len(all) < 2 || len(d.hosts) == 0 || m.homeless(all) {
		return nil
	}
	moves := m.spread(d, all, len(all)-1)
	if moves.none() {
		return nil
	}
	return advice(moves.text(m.at), fmt.Sprintf("All %d announcers on one host go with it; with one elsewhere the addresses move there.", len(all)), moves.fault, moves.edits...)
}

// homeless says that a machine that there is already runs nobody knows where.
func (m *model) homeless(names []string) bool {
	return slices.ContainsFunc(m.Plan.Machines, func(x netplan.Machine) bool {
		return slices.Contains(names, x.Name) && m.at[x.Name] == ""
	})
}

// moves are placements that were tried.
type moves struct {
	edits []Edit
	names []string
	fault string
}

func (v moves) none() bool { return len(v.edits) == 0 && v.fault == "" }

// text says them as an operator does.
func (v moves) text(from map[string]string) string {
	var parts []string
	for i, name := range v.names {
		if at := from[name]; at != "" {
			parts = append(parts, fmt.Sprintf("move %s from %s to %s", name, at, v.edits[i].Value))
		} else {
			parts = append(parts, fmt.Sprintf("create %s on %s", name, v.edits[i].Value))
		}
	}
	return upper(strings.Join(parts, ", "))
}

// spread places machines so that no host has more than so many of them: new ones on
// the emptiest host, then the last ones of a host that has too many. Hosts are added
// where those there are do not suffice.
func (m *model) spread(d *draft, all []string, most int) moves {
	var v moves
	put := func(name string) {
		host := d.emptiest(all, d.at[name])
		if host == "" || len(d.on(host, all)) >= most {
			host = d.newHost()
		}
		fault := d.place(name, host)
		if fault != "" {
			v.fault = fault
			return
		}
		v.names = append(v.names, name)
		v.edits = append(v.edits, Edit{"machines." + name + ".node", host})
	}
	for _, name := range all {
		if d.at[name] == "" && v.fault == "" {
			put(name)
		}
	}
	for _, host := range slices.Clone(d.hosts) {
		for here := d.on(host, all); len(here) > most && v.fault == ""; here = d.on(host, all) {
			put(here[len(here)-1])
		}
	}
	return v
}
