package report

import (
	"fmt"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// Make gives the report that follows from the facts.
func Make(f Facts) Report {
	m := newModel(f)
	r := Report{
		Format: Format, Cluster: f.Plan.Name, Sources: Sources{f.Proxmox, f.Kubernetes},
		Assumptions: m.assumptions(), Components: m.components(), Announcements: []Announcement{},
		Network: m.network(), Measured: append([]Measurement{}, f.Measured...),
	}
	r.Announcements = append(r.Announcements, m.announcements[:min(len(m.announcements), MaxAnnouncements)]...)
	r.Hosts, r.Unplaced = m.placed()
	r.Failures = m.failures(r.Hosts)
	r.Answers = m.answers(r.Hosts, r.Unplaced)
	r.SinglePoints = m.singlePoints(r.Hosts)
	r.Improvements, r.After = m.improve(r)
	r.Unknown = m.unknown(r)
	return r
}

func (m *model) assumptions() []string {
	list := []string{
		"Everything that is declared is there and healthy: each machine runs, each etcd member votes, each speaker of MetalLB and each return-path pod is ready, and the services behind the pool have enough ready endpoints.",
		"What they share is reachable: storage, time, DNS, images, and the network between the Proxmox hosts. None of it stands in the plan, so none of it is judged here.",
		"Nothing here was tried. What was measured stands under Measured, and only there.",
	}
	if m.Cluster == nil {
		list = append(list, "The cluster was not read, so replicas, endpoints and who announces now are those that follow from the plan.")
	}
	return list
}

func (m *model) network() Network {
	gateway := "by DHCP"
	if m.Plan.Cluster.Gateway.IsValid() {
		gateway = m.Plan.Cluster.Gateway.String()
	}
	n := Network{Private: Link{m.Plan.Cluster.Segment.String(), m.Plan.Cluster.CIDR.String(), gateway}}
	if e := m.Plan.External; e != nil {
		n.External = &Link{e.Segment.String(), e.CIDR.String(), e.Gateway.String()}
	}
	if m.Plan.KubeAPI.VIP.IsValid() {
		n.VIP, n.VIPLink = m.Plan.KubeAPI.VIP.String(), string(m.Plan.KubeAPI.Link)
	}
	return n
}

// answers are the three questions that an operator asks first.
func (m *model) answers(hosts []Host, unplaced []Machine) []Answer {
	one := func(q Question, what string, is func(netplan.Machine) bool) Answer {
		a := Answer{Question: q, Effects: Effects{Absent, Absent, Absent}}
		var worst []string
		for _, name := range m.named(is) {
			e := m.effects(gone{sure: []string{name}})
			a.Effects = Effects{a.Ingress.Worse(e.Ingress), a.API.Worse(e.API), a.Config.Worse(e.Config)}
			if e.Worst() == Lost {
				worst = append(worst, name)
			}
		}
		a.Text = verdictText("any one "+what, a.Effects, worst)
		return a
	}
	list := []Answer{}
	if m.Plan.HasWorkers() {
		list = append(list, one(AnyWorker, "worker", func(x netplan.Machine) bool { return !isControlPlane(x) }))
	}
	list = append(list, one(AnyControlPlane, "control plane", isControlPlane))
	a := Answer{Question: AnyHost, Effects: Effects{Absent, Absent, Absent}}
	var worst []string
	for _, h := range hosts {
		e := h.Loss.Effects
		a.Effects = Effects{a.Ingress.Worse(e.Ingress), a.API.Worse(e.API), a.Config.Worse(e.Config)}
		if e.Worst() == Lost {
			worst = append(worst, h.Name)
		}
	}
	for _, x := range unplaced {
		if m.effects(gone{sure: []string{x.Name}}).Worst() == Lost {
			worst = append(worst, "the host of "+x.Name)
		}
	}
	if len(unplaced) > 0 {
		a.Effects = m.shared(a.Effects, unplaced)
	}
	a.Text = verdictText("any one Proxmox host", a.Effects, worst)
	if len(unplaced) > 0 && a.Worst() != Lost {
		a.Text += fmt.Sprintf(": the host of %s of %s is not known", counted(len(unplaced), "machine"), fmt.Sprint(len(m.Plan.Machines)))
	}
	return append(list, a)
}

// shared worsens what is known of hosts by machines that may share an unknown one.
func (m *model) shared(e Effects, unplaced []Machine) Effects {
	var names []string
	for _, x := range unplaced {
		names = append(names, x.Name)
	}
	single := Effects{Absent, Absent, Absent}
	for _, n := range names {
		one := m.effects(gone{sure: []string{n}})
		single = Effects{single.Ingress.Worse(one.Ingress), single.API.Worse(one.API), single.Config.Worse(one.Config)}
	}
	all := m.without(names)
	return Effects{
		e.Ingress.Worse(between(single.Ingress, all.Ingress)),
		e.API.Worse(between(single.API, all.API)),
		e.Config.Worse(between(single.Config, all.Config)),
	}
}

func verdictText(subject string, e Effects, names []string) string {
	switch e.Worst() {
	case Lost:
		what := "the pool and the API"
		if e.Ingress != Lost {
			what = "the API"
		} else if e.API != Lost {
			what = "the pool"
		}
		return fmt.Sprintf("No: the loss of %s takes %s down", oneOf(names), what)
	case Unknown:
		return "Not known for " + subject
	case Moves:
		return fmt.Sprintf("Yes: %s may be lost, with an interruption while another takes over", subject)
	}
	return fmt.Sprintf("Yes: %s may be lost", subject)
}

// unknown gathers what could change the answers and is not known.
func (m *model) unknown(r Report) []string {
	list := []string{}
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if n := len(r.Unplaced); n > 0 {
		say("On which Proxmox host %s %s: so also what one host takes with it. Give machines.NAME.node in cluster.yaml, or a token for Proxmox.", namesOf(r.Unplaced), map[bool]string{true: "runs", false: "run"}[n == 1])
	}
	for _, text := range m.own.Faults {
		say("Which guest is a machine of the plan: %s", text)
	}
	if m.Snapshot != nil && len(m.own.Missing) > 0 {
		say("Proxmox shows no guest for %s.", some(m.own.Missing))
	}
	if len(m.moved) > 0 {
		say("cluster.yaml and Proxmox differ on the host of %s: the report goes by Proxmox.", some(m.moved))
	}
	if m.Cluster == nil && m.hasPool() {
		say("How many ready endpoints the services behind the pool have, and on which nodes: give --kubeconfig.")
	}
	say("Whether the switches, routers and power supplies behind %s are redundant: no plan and no Proxmox says so.", m.segments())
	if m.Plan.KubeAPI.VIP.IsValid() {
		say("Which control plane holds the API's VIP now: talosctl get addresses on each of them shows it.")
	}
	return list
}

func (m *model) segments() string {
	if m.Plan.External == nil {
		return m.Plan.Cluster.Segment.String()
	}
	return m.Plan.External.Segment.String() + " and " + m.Plan.Cluster.Segment.String()
}

func namesOf(machines []Machine) string {
	names := make([]string, len(machines))
	for i, x := range machines {
		names[i] = x.Name
	}
	return some(names)
}

// conflicts are those of the inventory, each on a line; known is false where it could
// not be judged.
func (m *model) conflicts() (lines []string, known bool) {
	if m.Snapshot == nil || m.Plan.External == nil {
		return nil, false
	}
	survey, err := inventory.Take(m.Plan, m.Snapshot)
	if err != nil {
		return nil, false
	}
	for _, c := range inventory.Judge(m.Plan, survey, nil).Conflicts {
		if c.Claim.Kind != inventory.SDNIPAM { // an entry of the own reservation looks the same from here
			lines = append(lines, strings.TrimSuffix(c.String(), "."))
		}
	}
	return lines, true
}
