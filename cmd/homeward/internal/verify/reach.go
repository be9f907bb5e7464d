package verify

import (
	"fmt"
	"net/netip"
	"slices"
)

func serviceEndpoints(s *Snapshot, n *notes) {
	list, ok := s.needServices(n)
	if !ok {
		return
	}
	announce := map[string]bool{}
	for _, m := range s.Plan.Machines {
		announce[m.Name] = m.Announces
	}
	good := 0
	for _, b := range list {
		if len(b.addresses) == 0 || b.foreign {
			continue
		}
		by, ok := need(n, s.Endpoints[b.key])
		if !ok {
			continue
		}
		total, announced := 0, 0
		for node, count := range by {
			total += count
			if announce[node] {
				announced += count
			}
		}
		look := fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", b.key.Namespace, b.key.Name)
		switch {
		case total == 0:
			n.warn("%s has no ready endpoint, so that its address is not announced", b.key)
			n.remedy("see why no pod that the service selects is ready", look)
		case b.local() && announced == 0:
			n.fail("%s has externalTrafficPolicy Local, and no endpoint on a machine that announces", b.key)
			n.remedy("let its pods run on announcing machines, or use policy Cluster", look)
		default:
			good++
		}
	}
	n.saw("%s with endpoints", plural(good, "service"))
}

func serviceHandshake(s *Snapshot, n *notes) {
	list, ok := s.needServices(n)
	if !ok {
		return
	}
	knocks, ok := need(n, s.Knocks)
	if !ok {
		return
	}
	if len(knocks) == 0 {
		n.skip("no service has an address and a TCP port")
		return
	}
	by := map[ServiceKey]balanced{}
	for _, b := range list {
		by[b.key] = b
	}
	inside := s.insideCluster()
	answered, near := 0, []string{}
	for _, k := range knocks {
		switch {
		case k.Answered == 0:
			s.noAnswer(n, k, by[k.Service])
			continue
		case k.Answered < k.Attempts-k.Unknown:
			n.warn("%s (%s): %d of %d handshakes failed: %s", k.Target, k.Service, k.Attempts-k.Unknown-k.Answered, k.Attempts-k.Unknown, k.Causes)
			n.remedy("measure it for longer", "homeward probe "+k.Target.String()+" --duration 1m")
		}
		answered++
		if k.OnLink {
			near = append(near, k.Target.String())
		}
	}
	if len(near) > 0 && !s.onOpenStack() {
		n.warn("on this machine's own segment, where answers need no router: %s. That they come proves nothing of the return path", named(near))
		n.remedy("verify from a machine behind the external router", "")
	}
	if inside != "" && answered > 0 && !s.onOpenStack() {
		n.warn("this machine is %s: that services answer here proves nothing of the return path", inside)
		n.remedy("verify from a machine behind the external router", "")
	}
	n.unseen = "UDP ports, and clients elsewhere"
	n.saw("%d of %s answered", answered, plural(len(knocks), "TCP port"))
}

// noAnswer says what a service that did not answer once looks like from here.
func (s *Snapshot) noAnswer(n *notes, k Knock, b balanced) {
	endpoints, known := s.Endpoints[k.Service]
	none := known && endpoints.Err == nil && len(endpoints.Value) == 0
	switch {
	case k.Attempts == 0, k.Unknown == k.Attempts:
		n.unknown("%s (%s): this machine could not try", k.Target, k.Service)
		n.remedy("see what it lacks (files, ports, rights)", "homeward probe "+k.Target.String()+" --count 3")
	case k.NoWay:
		n.unknown("%s (%s): this machine has no route there", k.Target, k.Service)
		n.remedy("verify from a machine that has a way there", "")
	case len(b.service.Spec.LoadBalancerSourceRanges) > 0 && !k.Refused && !s.admitted(b):
		n.unknown("%s (%s): no answer (%s); it lets in only %s, and perhaps not this machine", k.Target, k.Service, k.Causes, plain(named(b.service.Spec.LoadBalancerSourceRanges)))
		n.remedy("verify from a machine that the service lets in", "")
	case s.noAnswerOnOpenStack(n, k):
	case none:
		n.fail("%s (%s): no answer (%s), and it has no ready endpoint", k.Target, k.Service, k.Causes)
		n.remedy("see why no pod that the service selects is ready", fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", k.Service.Namespace, k.Service.Name))
	case s.onOpenStack():
		n.fail("%s (%s): no answer (%s)", k.Target, k.Service, k.Causes)
		n.remedy("see whether floating IP, ports and security group are as planned", "homeward status -f "+s.File+" --out "+s.Out)
	default:
		n.fail("%s (%s): no answer (%s)", k.Target, k.Service, k.Causes)
		n.remedy("see where it gets lost: who announces it, and whether that machine's return path is ready", "homeward probe "+k.Target.String()+" --count 20")
	}
}

// admitted says that a service's source ranges let one of this machine's addresses in.
func (s *Snapshot) admitted(b balanced) bool {
	return slices.ContainsFunc(b.service.Spec.LoadBalancerSourceRanges, func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && slices.ContainsFunc(s.Here, p.Contains)
	})
}

// insideCluster says that this machine is a node, or a pod; empty where it is neither.
// kube-proxy rewrites there what clients elsewhere send over the wire.
func (s *Snapshot) insideCluster() string {
	for _, a := range s.Here {
		if s.Plan.Kubernetes.PodCIDR.Contains(a) {
			return "in the pod network"
		}
		for _, node := range s.Nodes.Value {
			if slices.Contains(internalIPs(node), a) {
				return "node " + node.Name
			}
		}
	}
	return ""
}
