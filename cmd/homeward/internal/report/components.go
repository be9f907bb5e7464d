package report

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// components are the parts with what makes them redundant, those that the plan has.
func (m *model) components() []Component {
	list := []Component{}
	if m.hasPool() {
		list = append(list, m.speakers(), m.controller(), m.forwarding())
	}
	list = append(list, m.api(), m.etcdMembers())
	if pods := m.named(m.Plan.MarksConnections); len(pods) > 0 {
		list = append(list, m.returnPath(pods))
	}
	return list
}

func (m *model) speakers() Component {
	planned := m.named(func(x netplan.Machine) bool { return x.Announces })
	c := Component{
		Name:      "MetalLB speakers",
		Layout:    fmt.Sprintf("%s may announce %s of the pool (%s)", counted(len(planned), "machine"), counted(m.Plan.External.IngressPool.Count(), "address"), some(planned)),
		Mechanism: "For each address the speakers elect one of them, without the API and without a vote. When it is lost the next in the order announces the address with its own MAC, and the gateway has to learn that.",
	}
	switch len(planned) {
	case 0:
		c.Layout = "no machine may announce the pool"
		c.Mechanism = "None: nobody answers for the pool."
	case 1:
		c.Mechanism = "None: there is no other to take an address over."
	}
	if m.Cluster != nil && m.Cluster.Speakers != nil {
		c.Observed = fmt.Sprintf("%d of %d have a ready speaker on a ready node that may announce", len(m.announcing), len(planned))
	}
	return c
}

func (m *model) controller() Component {
	c := Component{
		Name:      "MetalLB controller",
		Layout:    "1 replica: MetalLB's controller has no leader election and is not made for more",
		Mechanism: "Kubernetes starts it again on another machine. Until then no service gets a new address; those that have one keep it.",
	}
	if m.Cluster == nil {
		return c
	}
	w := m.Cluster.Controller
	if !w.Found {
		c.Observed = "no controller was found"
		return c
	}
	c.Observed = fmt.Sprintf("%d of %d ready (%s/%s)", w.Ready, w.Declared, w.Namespace, w.Object)
	if w.Declared > 1 {
		c.Observed += fmt.Sprintf(": %d may hand out one address twice, set replicas to 1", w.Declared)
	}
	return c
}

func (m *model) forwarding() Component {
	policy := m.Plan.Ingress.ExternalTrafficPolicy
	c := Component{
		Name:   "Service and endpoints",
		Layout: fmt.Sprintf("externalTrafficPolicy %s; the plan does not say how many endpoints there are", policy),
	}
	if policy == "Local" {
		c.Mechanism = "Only a machine with a ready endpoint of its own announces the address and serves it: at least two machines with endpoints are needed for one to be lost. The client's address is kept."
	} else {
		c.Mechanism = "The announcing machine passes connections on to ready endpoints on any machine, so an address can move without its endpoints. The endpoints of a lost machine get connections until Kubernetes marks it not ready."
	}
	if m.Cluster == nil {
		return c
	}
	served := 0
	for _, a := range m.announcements {
		if !a.served {
			continue
		}
		served++
		total, nodes := a.endpoints()
		if served <= 3 {
			c.Observed += fmt.Sprintf("%s (%s, %s): %s on %s. ", a.Address, some(a.Services), a.Policy, counted(total, "ready endpoint"), counted(nodes, "node"))
		}
	}
	c.Observed = strings.TrimSuffix(c.Observed, ". ")
	switch {
	case served == 0:
		c.Observed = "no service has an address of the pool"
	case served > 3:
		c.Observed += fmt.Sprintf(". %d more addresses below", served-3)
	}
	return c
}

// endpoints counts the ready ones and the nodes they are on.
func (a Announcement) endpoints() (total, nodes int) {
	for _, e := range a.Endpoints {
		total += e.Count
		if e.Node != "" && e.Count > 0 {
			nodes++
		}
	}
	return total, nodes
}

func (m *model) api() Component {
	balancer, machine := m.balancer()
	c := Component{Name: "Kubernetes API's address"}
	switch {
	case balancer != "":
		c.Layout = fmt.Sprintf("an outside balancer, %s, before %s", balancer, counted(m.etcd.Members, "control plane"))
		c.Mechanism = "The balancer's own: it stands outside the plan."
	case machine != "":
		c.Layout = fmt.Sprintf("the address of %s", machine)
		c.Mechanism = "None: the address stays with its machine."
	default:
		holders := m.named(m.mayHoldVIP)
		c.Layout = fmt.Sprintf("VIP %s on the %s link; %d of %s may hold it", m.Plan.KubeAPI.VIP, m.linkName(), len(holders), counted(m.etcd.Members, "control plane"))
		c.Mechanism = "Talos elects its holder through etcd, so it needs a quorum to move. A holder that shuts down hands it on; of one that is lost the lease has to end first, about 60 s."
		if len(holders) < 2 {
			c.Mechanism = "None: no other control plane may hold it."
		}
	}
	return c
}

func (m *model) linkName() string {
	if m.Plan.KubeAPI.Link == netplan.LinkExternal {
		return "external"
	}
	return "private"
}

func (m *model) etcdMembers() Component {
	c := Component{
		Name:   "etcd",
		Layout: fmt.Sprintf("%s, one on each control plane; quorum is %d", counted(m.etcd.Members, "member"), m.etcd.Quorum()),
	}
	c.Mechanism = fmt.Sprintf("Raft: %s may be lost and the rest still writes.", counted(m.etcd.mostTogether(), "member"))
	if m.etcd.mostTogether() == 0 {
		c.Mechanism = "None: no member may be lost."
	}
	if m.Cluster != nil {
		ready := 0
		for _, name := range m.named(isControlPlane) {
			if slices.ContainsFunc(m.Cluster.Nodes, func(n Node) bool { return n.Name == name && n.Ready }) {
				ready++
			}
		}
		c.Observed = fmt.Sprintf("%d of %d control planes are ready nodes; whether their etcd is healthy was not asked", ready, m.etcd.Members)
	}
	return c
}

func (m *model) returnPath(pods []string) Component {
	c := Component{
		Name:      "Return-path pod",
		Layout:    fmt.Sprintf("a static pod (%s) on each of %s with the external NIC", m.Plan.ReturnPath.Pod, counted(len(pods), "machine")),
		Mechanism: "Each machine keeps its own rules in its kernel, and they stay when the pod ends. The kubelet starts it again without the API.",
	}
	if m.Cluster != nil && m.Cluster.ReturnPath != nil {
		ready := 0
		for _, p := range pods {
			ready += count(slices.Contains(m.Cluster.ReturnPath, p))
		}
		c.Observed = fmt.Sprintf("%d of %d ready", ready, len(pods))
	}
	return c
}
