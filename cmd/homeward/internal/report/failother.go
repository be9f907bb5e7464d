package report

import (
	"fmt"
	"slices"

	"homeward/netplan"
)

func (m *model) failBalancer() []Failure {
	balancer, _ := m.balancer()
	if balancer == "" {
		return nil
	}
	return []Failure{{
		Kind: FailBalancer, Subject: "the outside balancer " + balancer,
		Effects:  Effects{Ingress: m.poolOr(Stays), API: Lost, Config: m.poolOr(Unknown)},
		Expected: fmt.Sprintf("The API's endpoint %s answers nobody, though %s run. The pool is not touched.", m.Plan.KubeAPI.Endpoint, counted(m.etcd.Members, "control plane")),
		Remains:  "What makes the balancer redundant stands outside the plan.",
	}}
}

func (m *model) failController() []Failure {
	if !m.hasPool() {
		return nil
	}
	running := m.named(m.runsPods)
	f := Failure{Kind: FailController, Subject: "MetalLB's controller", Effects: Effects{Ingress: Stays, API: Stays, Config: Moves}}
	f.Expected = fmt.Sprintf("Addresses that services have go on being announced. New ones and changes wait until Kubernetes has it started again on one of %s.", counted(len(running), "machine"))
	f.Remains = "The API, and an image that can be pulled."
	if len(running) == 1 {
		f.Remains = fmt.Sprintf("The API, and %s itself: it can run nowhere else.", running[0])
	}
	if m.Cluster != nil && m.Cluster.Controller.Found && m.Cluster.Controller.Declared > 1 {
		f.Remains += fmt.Sprintf(" %d replicas are declared: more than one may hand out one address twice.", m.Cluster.Controller.Declared)
	}
	return []Failure{f}
}

func (m *model) failConflict() []Failure {
	if m.Plan.External == nil || !m.hasPool() && !m.externalVIP() {
		return nil
	}
	f := Failure{Kind: FailAddressConflict, Subject: "another machine on the segment that uses one of the addresses", Effects: Effects{Ingress: m.poolOr(Unknown), API: Stays, Config: m.poolOr(Stays)}}
	if m.externalVIP() {
		f.API = Unknown
	}
	f.Expected = fmt.Sprintf("%s has %s. Neither MetalLB nor Talos looks whether somebody else answers: whichever answers last has the gateway's traffic for that address, and it may change back and forth.",
		m.Plan.External.CIDR, m.claimed())
	lines, known := m.conflicts()
	switch {
	case !known:
		f.Remains = "Who else has these addresses was not looked up. homeward reserve looks and claims them; no record stops a machine that does not ask."
	case len(lines) == 0:
		f.Remains = "Proxmox knows nobody else with one of them now. A machine outside Proxmox, or one that does not ask, is not seen."
	default:
		f.Remains = fmt.Sprintf("There are %d of them now: %s.", len(lines), some(lines))
	}
	return []Failure{f}
}

func (m *model) claimed() string {
	text := ""
	if m.hasPool() {
		text = counted(m.Plan.External.IngressPool.Count(), "address") + " of the pool"
	}
	if m.externalVIP() {
		if text != "" {
			text += " and "
		}
		text += "the VIP " + m.Plan.KubeAPI.VIP.String()
	}
	return text
}

func (m *model) failReturnPath() []Failure {
	pods := m.named(m.Plan.MarksConnections)
	if len(pods) == 0 {
		return nil
	}
	f := Failure{Kind: FailReturnPath, Subject: "the return-path pod on one machine", Effects: Effects{Ingress: m.poolOr(Stays), API: Stays, Config: m.poolOr(Stays)}}
	f.Expected = fmt.Sprintf("Replies keep going home: the rules stay in that machine's kernel, and the other %d are not touched.", len(pods)-1)
	f.Remains = "If somebody else flushes the rules meanwhile, replies of that machine are lost until the pod is back: clients behind the router get none, while the speaker goes on announcing."
	if bare := m.named(func(x netplan.Machine) bool { return m.Plan.MarksConnections(x) && !x.ExternalAddress.IsValid() }); len(bare) > 0 && m.Plan.ReturnPath.Pod == netplan.PodAgent {
		f.Remains += fmt.Sprintf(" Before a gateway that ignores anchors, %d of %d lose their replies after about 20 s without the agent.", len(bare), len(pods))
	}
	if m.Cluster != nil && m.Cluster.ReturnPath != nil {
		var away []string
		for _, p := range pods {
			if slices.Contains(m.announcing, p) && !slices.Contains(m.Cluster.ReturnPath, p) {
				away = append(away, p)
			}
		}
		if len(away) > 0 {
			f.Ingress = Unknown
			f.Remains += fmt.Sprintf(" Not ready now, on machines that may announce: %s.", some(away))
		}
	}
	return []Failure{f}
}
