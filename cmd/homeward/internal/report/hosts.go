package report

import (
	"fmt"
	"slices"

	"homeward/netplan"
)

// placed lists the hosts that have machines, and the machines without a host.
func (m *model) placed() (hosts []Host, unplaced []Machine) {
	hosts, unplaced = []Host{}, []Machine{}
	for _, name := range m.hosts {
		h := Host{Name: name, Machines: []Machine{}, Uplinks: m.uplinks(name)}
		if m.Snapshot != nil {
			for _, n := range m.Snapshot.Nodes {
				h.Offline = h.Offline || n.Name == name && !n.Online
			}
		}
		for _, x := range m.Plan.Machines {
			if m.at[x.Name] == name {
				h.Machines = append(h.Machines, m.machine(x))
			}
		}
		if len(h.Machines) > 0 {
			h.Loss = m.loss(h)
			hosts = append(hosts, h)
		}
	}
	for _, x := range m.Plan.Machines {
		if m.at[x.Name] == "" {
			unplaced = append(unplaced, m.machine(x))
		}
	}
	return hosts, unplaced
}

func (m *model) machine(x netplan.Machine) Machine {
	return Machine{
		Name: x.Name, Role: x.Role, External: x.External, HoldsVIP: m.mayHoldVIP(x),
		Announces: slices.Contains(m.announcing, x.Name), Addresses: m.announcedBy(x.Name),
	}
}

// announcedBy are the addresses that one of the machines is expected to announce.
func (m *model) announcedBy(names ...string) []string {
	out := []string{}
	for _, a := range m.announcements {
		if slices.Contains(names, a.first()) {
			out = append(out, a.Address)
		}
	}
	return out
}

// uplinks are the ports of the external segment's bridge on a host that was read.
func (m *model) uplinks(host string) []string {
	if m.Snapshot == nil || m.Plan.External == nil {
		return nil
	}
	for _, n := range m.Snapshot.Nodes {
		for _, i := range n.Interfaces {
			if n.Name == host && i.Name == m.Plan.External.Bridge {
				return slices.Sorted(slices.Values(i.Ports))
			}
		}
	}
	return nil
}

// loss says what a host takes down at once. A machine whose host is not known may be
// on this one.
func (m *model) loss(h Host) Loss {
	var g gone
	var l Loss
	unplacedControl, unplacedAnnouncing := 0, 0
	for _, x := range m.Plan.Machines {
		announces := slices.Contains(m.announcing, x.Name)
		switch m.at[x.Name] {
		case h.Name:
			g.sure = append(g.sure, x.Name)
			l.ControlPlanes += count(isControlPlane(x))
			l.Candidates += count(m.mayHoldVIP(x))
			l.Announcers += count(announces)
		case "":
			g.perhaps = append(g.perhaps, x.Name)
			unplacedControl += count(isControlPlane(x))
			unplacedAnnouncing += count(announces)
		}
	}
	l.Effects = m.effects(g)
	l.Etcd = m.etcd.Without(l.ControlPlanes)
	l.Quorum = m.etcd.keeps(l.ControlPlanes, unplacedControl)
	l.AnnouncersLeft = max(len(m.announcing)-l.Announcers-unplacedAnnouncing, 0)
	l.Addresses = m.announcedBy(g.sure...)
	l.Text = m.lossText(h, l, len(g.perhaps))
	return l
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (m *model) lossText(h Host, l Loss, perhaps int) string {
	text := fmt.Sprintf("takes %s at once", counted(len(h.Machines), "machine"))
	switch {
	case l.Quorum == NotKept:
		text += fmt.Sprintf("; etcd loses its quorum (%s), so the API answers no writes and its address has no election", l.Etcd)
	case l.Quorum == Unforeseen:
		text += fmt.Sprintf("; at most %s, and whether more are lost with it is not known", l.Etcd)
	case l.ControlPlanes > 0:
		text += fmt.Sprintf("; etcd goes on (%s)", l.Etcd)
	default:
		text += "; no control plane among them"
	}
	if m.hasPool() {
		switch {
		case len(m.announcing) == 0:
			text += "; nobody announces the pool anyway"
		case l.Announcers == len(m.announcing):
			text += fmt.Sprintf("; all %s go, so the whole pool is away", counted(l.Announcers, "announcer"))
		case l.Announcers > 0:
			text += fmt.Sprintf("; %d of %s left", len(m.announcing)-l.Announcers, counted(len(m.announcing), "announcer"))
		default:
			text += "; no announcer among them"
		}
		if n := len(l.Addresses); n > 0 && l.Announcers < len(m.announcing) {
			text += fmt.Sprintf(", and %s to move (%s)", counted(n, "address"), some(l.Addresses))
		}
	}
	if l.Candidates > 0 && l.Quorum != NotKept {
		text += fmt.Sprintf("; the API's VIP moves if it stood here (%d of %d that may hold it)", l.Candidates, len(m.named(m.mayHoldVIP)))
	}
	if perhaps > 0 {
		text += fmt.Sprintf("; %s of unknown host may go too", counted(perhaps, "machine"))
	}
	return text
}
