package report

import (
	"fmt"
	"slices"

	"homeward/netplan"
)

// failures are those that the plan lets happen, in a fixed order.
func (m *model) failures(hosts []Host) []Failure {
	var list []Failure
	for _, f := range []func() []Failure{
		m.failWorker, m.failAnnouncer, m.failControlPlane,
		func() []Failure { return m.failHosts(hosts) },
		func() []Failure { return m.failSecond(hosts) },
		m.failGateways, m.failSegments, m.failBalancer, m.failController, m.failConflict, m.failReturnPath,
	} {
		list = append(list, f()...)
	}
	return list
}

// worstOf judges the loss of any one of some machines.
func (m *model) worstOf(names []string) Effects {
	e := Effects{Absent, Absent, Absent}
	for _, n := range names {
		one := m.effects(gone{sure: []string{n}})
		e = Effects{e.Ingress.Worse(one.Ingress), e.API.Worse(one.API), e.Config.Worse(one.Config)}
	}
	return e
}

func (m *model) failWorker() []Failure {
	workers := m.named(func(x netplan.Machine) bool { return !isControlPlane(x) })
	if len(workers) == 0 {
		return nil
	}
	f := Failure{Kind: FailWorker, Subject: fmt.Sprintf("any one worker of %d (its VM alone)", len(workers)), Effects: m.worstOf(workers)}
	f.Expected = "The API is not touched. "
	if m.hasPool() {
		n := len(slices.DeleteFunc(slices.Clone(workers), func(w string) bool { return !slices.Contains(m.announcing, w) }))
		f.Expected += fmt.Sprintf("%d of the %d may announce the pool; one that announces nothing costs no address. ", n, len(workers))
	}
	f.Expected += fmt.Sprintf("%s left to run what ran on it.", counted(len(workers)-1, "worker"))
	f.Remains = m.endpointsRemain()
	return []Failure{f}
}

// endpointsRemain says what the traffic to the pool depends on beside its address.
func (m *model) endpointsRemain() string {
	if !m.hasPool() {
		return "Room on the other workers for what ran there."
	}
	switch {
	case m.Cluster != nil && len(m.used()) > 0:
		var thin []string
		for _, a := range m.announcements {
			if total, nodes := a.endpoints(); nodes < 2 {
				thin = append(thin, fmt.Sprintf("%s (%s on %s)", a.Address, counted(total, "ready endpoint"), counted(nodes, "node")))
			}
		}
		if len(thin) > 0 {
			return "These services have their endpoints on fewer than two nodes: " + some(thin) + "."
		}
		return "Each service of the pool has ready endpoints on two nodes or more, so some are left."
	case m.Plan.Ingress.ExternalTrafficPolicy == "Local":
		return "Policy Local: an address only moves to a machine with a ready endpoint of its own. How many there are is not known."
	}
	return "Ready endpoints on other machines; how many there are is not known. Policy Cluster: until Kubernetes marks the machine not ready, its endpoints still get a share of new connections."
}

func (m *model) failAnnouncer() []Failure {
	if !m.hasPool() {
		return nil
	}
	f := Failure{Kind: FailAnnouncer, Subject: "the machine that announces", Effects: m.worstOf(m.announcing)}
	switch len(m.announcing) {
	case 0:
		f.Effects = Effects{Lost, Stays, Stays}
		f.Expected = "No machine may announce the pool: it is away already."
	case 1:
		f.Subject = m.announcing[0]
		f.Expected = fmt.Sprintf("%s is the only machine that may announce: all %s are away until it is back.", m.announcing[0], counted(m.Plan.External.IngressPool.Count(), "address"))
	default:
		f.Subject, f.Expected = m.announcerMoves()
	}
	f.Remains = "The gateway has to take the new MAC, and open connections through the lost machine break. " + m.endpointsRemain()
	return []Failure{f}
}

// announcerMoves names the machine that announces the most, and who follows it.
func (m *model) announcerMoves() (subject, expected string) {
	most, busiest := -1, ""
	for _, name := range m.announcing {
		if n := len(m.announcedBy(name)); n > most {
			most, busiest = n, name
		}
	}
	if most == 0 {
		return "the machine that announces", fmt.Sprintf("An address moves to the next of %d that may announce it.", len(m.announcing))
	}
	var moves []string
	for _, a := range m.announcements {
		if a.first() != busiest {
			continue
		}
		next := "nobody"
		for _, n := range a.order {
			if n != busiest {
				next = n
				break
			}
		}
		if a.local && !a.served {
			next = "the next with a ready endpoint"
		}
		moves = append(moves, a.Address+" goes to "+next)
	}
	return busiest + ", which announces most", fmt.Sprintf("It announces %d of %s that %s: %s. In Homeward's lab another speaker answered 6.2 s after the first was killed; here it was not measured unless Measured says so.",
		len(moves), counted(len(m.announcements), "address"), map[bool]string{true: "services have", false: "were looked at"}[len(m.used()) > 0], some(moves))
}

func (m *model) failControlPlane() []Failure {
	all := m.named(isControlPlane)
	left := m.etcd.Without(1)
	f := Failure{Kind: FailControlPlane, Subject: fmt.Sprintf("any one control plane of %d (its VM alone)", len(all)), Effects: m.worstOf(all)}
	f.Expected = upper(left.String()) + ". "
	switch {
	case !left.Writes():
		f.Expected += "The quorum is lost: the API serves no change, and its address cannot move."
		f.Remains = "Repair of that machine, or etcd from a snapshot."
		if m.hasPool() {
			f.Remains += " Addresses of the pool that are announced stay so: the speakers need no API for what they know."
		}
	case m.Plan.KubeAPI.VIP.IsValid():
		f.Expected += fmt.Sprintf("If it held the VIP %s another of the %d that may hold it takes it when its lease ends (about 60 s).", m.Plan.KubeAPI.VIP, len(m.named(m.mayHoldVIP)))
		f.Remains = spareText(left)
	default:
		f.Expected += "The API goes on from the others."
		f.Remains = spareText(left)
		if b, _ := m.balancer(); b != "" {
			f.Remains += " The balancer " + b + " has to notice by itself."
		}
	}
	return []Failure{f}
}

func spareText(left Etcd) string {
	if left.Spare() == 0 {
		return "No further member may be lost before it is back."
	}
	return fmt.Sprintf("%s more may be lost before it is back.", counted(left.Spare(), "member"))
}

func (m *model) failHosts(hosts []Host) []Failure {
	var list []Failure
	for _, h := range hosts {
		f := Failure{Kind: FailHost, Subject: fmt.Sprintf("Proxmox host %s with its %s", h.Name, counted(len(h.Machines), "machine")), Effects: h.Loss.Effects, Expected: upper(h.Loss.Text) + "."}
		switch {
		case h.Loss.Quorum == NotKept && h.Loss.Announcers > 0 && h.Loss.AnnouncersLeft > 0:
			f.Remains = "Without the API nothing marks the lost machines not ready: the addresses move, but lost endpoints keep getting connections. Nothing starts again elsewhere."
		case h.Loss.Quorum == NotKept:
			f.Remains = "The host, or etcd from a snapshot. Until then nothing starts again elsewhere."
		case h.Loss.Quorum == Kept && h.Loss.ControlPlanes > 0:
			f.Remains = spareText(h.Loss.Etcd)
		default:
			f.Remains = "Room on the other hosts. A machine whose disk is on that host does not start elsewhere."
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		f := Failure{Kind: FailHost, Subject: "a Proxmox host with all its machines", Effects: m.shared(Effects{Absent, Absent, Absent}, m.allMachines())}
		f.Expected = fmt.Sprintf("Not known in full: the plan names no host. If one host ran all %d machines, everything would be away at once.", len(m.Plan.Machines))
		if len(m.Plan.Machines) == 1 {
			f.Expected = "It runs the only machine, so everything is away with it."
		}
		f.Remains = "Where the machines run: machines.NAME.node in cluster.yaml, or a token for Proxmox."
		list = append(list, f)
	}
	return list
}

func (m *model) allMachines() []Machine {
	var out []Machine
	for _, x := range m.Plan.Machines {
		out = append(out, m.machine(x))
	}
	return out
}
