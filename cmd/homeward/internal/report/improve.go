package report

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// improve gives advice: first the changes of the plan, each tried on what the ones
// before it left, then what no plan can say. After says what the changed plan
// survives.
func (m *model) improve(r Report) (list []Improvement, after string) {
	list = []Improvement{}
	d := m.draft()
	for _, step := range []func(*draft) *Improvement{
		m.moreAnnouncers, m.moreControlPlanes, m.giveVIP, m.spreadControlPlanes, m.spreadAnnouncers, m.runAgent,
	} {
		if i := step(d); i != nil {
			list = append(list, *i)
		}
	}
	edited := slices.ContainsFunc(list, func(i Improvement) bool { return len(i.Edits) > 0 })
	if edited {
		then := d.model()
		hosts, unplaced := then.placed()
		var parts []string
		for _, a := range then.answers(hosts, unplaced) {
			parts = append(parts, a.Text)
		}
		after = strings.Join(parts, "; ")
	}
	return append(list, m.beyondPlan(r)...), after
}

// advice is an improvement by a change of the plan, or why the plan refuses it.
func advice(change, why, fault string, edits ...Edit) *Improvement {
	if fault != "" {
		return &Improvement{Change: change, Why: why + " As it stands the plan refuses it: " + fault, Edits: []Edit{}}
	}
	return &Improvement{Change: change, Why: why, Edits: edits}
}

func planned(p *netplan.Plan) []string {
	var out []string
	for _, x := range p.Machines {
		if x.Announces {
			out = append(out, x.Name)
		}
	}
	return out
}

// moreAnnouncers gives the pool at least two machines that may announce it.
func (m *model) moreAnnouncers(d *draft) *Improvement {
	if !m.hasPool() || !d.plan.HasWorkers() {
		return nil
	}
	now := planned(d.plan)
	if len(now) > 1 {
		return nil
	}
	at := slices.IndexFunc(d.spec.Workers, func(p netplan.PoolSpec) bool { return len(now) == 0 || poolOf(d.plan, now[0]) == p.Name })
	if at < 0 {
		return nil
	}
	pool := d.spec.Workers[at]
	count := max(*pool.Count, 2)
	fault := d.try(func(s *netplan.Spec) { s.Workers[at].NoExternal, s.Workers[at].Count = false, &count })
	var edits []Edit
	if pool.NoExternal {
		edits = append(edits, Edit{"workers." + pool.Name + ".external", "true"})
	}
	if count != *pool.Count {
		edits = append(edits, Edit{"workers." + pool.Name + ".count", fmt.Sprint(count)})
	}
	if fault == "" && len(planned(d.plan)) < 2 {
		return nil
	}
	return advice(fmt.Sprintf("Let %d machines of the pool %s announce", count, pool.Name),
		fmt.Sprintf("Now %d may, so the pool is away with it; with two an address moves to the other.", len(now)), fault, edits...)
}

func poolOf(p *netplan.Plan, machine string) string {
	for _, x := range p.Machines {
		if x.Name == machine {
			return x.Pool
		}
	}
	return ""
}

// moreControlPlanes asks for an odd number of at least three.
func (m *model) moreControlPlanes(d *draft) *Improvement {
	n := m.etcd.Members
	want := max(n+1-n%2, 3)
	if n == want {
		return nil
	}
	fault := d.try(func(s *netplan.Spec) { s.ControlPlanes = &want })
	then := Etcd{want, want}
	return advice(fmt.Sprintf("Run %d control planes instead of %d", want, n),
		fmt.Sprintf("Of %d etcd members %d may be lost (quorum %d); of %d it is %d (quorum %d).", n, m.etcd.mostTogether(), m.etcd.Quorum(), want, then.mostTogether(), then.Quorum()),
		fault, Edit{"controlplane.count", fmt.Sprint(want)})
}

// runAgent replaces the nft pod where it matters.
func (m *model) runAgent(d *draft) *Improvement {
	rp := d.plan.ReturnPath
	if rp == nil || rp.Pod != netplan.PodNFT || d.plan.Agent.Image != "" {
		return nil
	}
	bare := m.named(func(x netplan.Machine) bool { return m.Plan.MarksConnections(x) && !x.ExternalAddress.IsValid() })
	if len(bare) == 0 {
		return nil
	}
	const image = "registry.example.edu/homeward-agent:v1"
	fault := d.try(func(s *netplan.Spec) { s.Agent.Image = image })
	return advice("Run the agent in the return-path pod instead of the nft loop",
		fmt.Sprintf("%s only an anchor as external address. The agent reaches a gateway that ignores those, and puts flushed rules back in milliseconds instead of seconds. Take the image that homeward image push printed.", has(len(bare), "machine")),
		fault, Edit{"agent.image", image})
}

func has(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " has"
	}
	return counted(n, noun) + " have"
}

// beyondPlan is advice that changes no key of the plan.
func (m *model) beyondPlan(r Report) []Improvement {
	var list []Improvement
	add := func(change, why string) { list = append(list, Improvement{Change: change, Why: why, Edits: []Edit{}}) }
	if len(r.Unplaced) > 0 {
		add("Say on which Proxmox host each machine runs: machines.NAME.node, or give homeward report a token for Proxmox", fmt.Sprintf("For %d of %d machines it is not known, so neither is what the loss of one host takes down.", len(r.Unplaced), len(m.Plan.Machines)))
	}
	if lines, _ := m.conflicts(); len(lines) > 0 {
		add("Clear the addresses that somebody else has: homeward status lists them with remedies", some(lines))
	}
	if m.Cluster != nil && m.Cluster.Controller.Found && m.Cluster.Controller.Declared > 1 {
		add("Set the replicas of MetalLB's controller to 1", fmt.Sprintf("%d are declared. They do not elect a leader, so two may hand out one address.", m.Cluster.Controller.Declared))
	}
	for _, a := range m.announcements {
		if total, nodes := a.endpoints(); a.served && nodes < 2 {
			add(fmt.Sprintf("Run the pods behind %s (%s) on two nodes or more, with a topology spread constraint", a.Address, some(a.Services)), fmt.Sprintf("Now it has %s on %s.", counted(total, "ready endpoint"), counted(nodes, "node")))
		}
	}
	if e := m.Plan.External; e != nil {
		if e.Name() == m.Plan.Cluster.Name() {
			add("Put the private network on another bridge than "+e.Name()+", with its own NIC and switch", "Both networks hang on the same bridge, so one fault takes etcd and the pool together.")
		}
		add("Find out, and write down, what stands behind "+e.Segment.String()+": is "+e.Gateway.String()+" one router or a pair, which switches carry the VLAN, which power feeds them", "They are single points of everything external whatever the cluster does.")
	}
	if len(m.Measured) == 0 && (m.hasPool() || m.Plan.KubeAPI.VIP.IsValid()) {
		add("Measure a drill: run homeward probe "+m.target()+" -o json behind the external router while the machine that announces is switched off, and give the file with --measured", "How long an interruption is was not measured for this cluster.")
	}
	return list
}

// target is what a drill would probe.
func (m *model) target() string {
	switch {
	case m.Plan.Ingress.Address.IsValid():
		return m.Plan.Ingress.Address.String() + ":443"
	case m.hasPool():
		return m.Plan.External.IngressPool[0].First.String() + ":443"
	}
	return m.Plan.KubeAPI.VIP.String() + ":6443"
}
