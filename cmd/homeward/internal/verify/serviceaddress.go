package verify

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
	"homeward/talosgen/gitops"
)

func serviceChecks() []check {
	return []check{
		{"service-addresses", "services have addresses of the plan",
			"connections to an address outside the plan are not marked, so their replies get lost, and nobody has reserved it",
			serviceAddresses},
		{"service-pins", "pinned services have their address",
			"DNS and firewalls name that address, and it answers for nobody or for somebody else",
			servicePins},
		{"service-sharing", "services that share an address may do so",
			"MetalLB takes the address away from one of them at the next change or restart of its controller",
			serviceSharing},
		{"service-pending", "no service waits for an address",
			"it cannot be reached from outside",
			servicePending},
		{"service-endpoints", "services have endpoints where announced",
			"MetalLB announces an address only while there is a ready endpoint, and with externalTrafficPolicy Local only from a node that has one",
			serviceEndpoints},
		{"service-handshake", "services answer a TCP handshake from here",
			"it is the whole way there and back; only a client behind the external router proves the way back",
			serviceHandshake},
	}
}

func serviceAddresses(s *Snapshot, n *notes) {
	services, ok := need(n, s.Services)
	if !ok {
		return
	}
	for _, svc := range services {
		s.externalIPs(n, svc)
	}
	good := 0
	list := s.balanced()
	for _, b := range list {
		before := len(n.lines)
		for _, a := range b.addresses {
			s.serviceAddress(n, b, a)
		}
		if len(b.six) > 0 {
			n.warn("%s has %s: plans have IPv4 only", b.key, named(b.six))
			n.remedy("make it a service of IPv4 (ipFamilies)", fmt.Sprintf("kubectl -n %s edit service %s", b.key.Namespace, b.key.Name))
		}
		if len(n.lines) == before && len(b.addresses) > 0 {
			good++
		}
	}
	if len(list) == 0 && len(n.lines) == 0 {
		n.skip("there is no service of type LoadBalancer")
		return
	}
	n.saw("%s with addresses of the plan", plural(good, "service"))
}

func (s *Snapshot) serviceAddress(n *notes, b balanced, a netip.Addr) {
	external := s.externalCIDR()
	switch {
	case s.inPool(a):
		return
	case a == s.Plan.KubeAPI.VIP:
		n.fail("%s has %s, which is the API's VIP", b.key, a)
	case external.IsValid() && external.Contains(a):
		n.fail("%s has %s, which is of the external network and not of the plan's pool", b.key, a)
	case s.floating(a) != "":
		n.fail("%s has %s, which is %s: the cloud translates it, and MetalLB can announce the fixed address only", b.key, a, s.floating(a))
	case b.foreign:
		n.saw("%s has %s of another load balancer", b.key, a)
		return
	default:
		n.fail("%s has %s, which is not of the plan's pool", b.key, a)
	}
	n.remedy("take the pool that it is of away"+s.widen("the address"),
		fmt.Sprintf("kubectl -n %s describe service %s", b.key.Namespace, b.key.Name))
}

// externalIPs finds services that take addresses without any load balancer: kube-proxy
// then answers for them on every node.
func (s *Snapshot) externalIPs(n *notes, svc corev1.Service) {
	for _, text := range svc.Spec.ExternalIPs {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			continue
		}
		external := s.externalCIDR()
		switch {
		case a == s.Plan.KubeAPI.VIP:
			n.fail("%s/%s has externalIP %s, which is the API's VIP: every node keeps such requests to itself", svc.Namespace, svc.Name, a)
		case s.inPool(a):
			n.fail("%s/%s has externalIP %s, which is of the plan's pool: MetalLB gives it to another", svc.Namespace, svc.Name, a)
		case external.IsValid() && external.Contains(a):
			n.fail("%s/%s has externalIP %s, which is of the external network and not in the plan", svc.Namespace, svc.Name, a)
		default:
			continue
		}
		n.remedy("make it a service of type LoadBalancer, pinned to an address of the pool", fmt.Sprintf("kubectl -n %s edit service %s", svc.Namespace, svc.Name))
	}
}

func servicePins(s *Snapshot, n *notes) {
	list, ok := s.needServices(n)
	if !ok {
		return
	}
	pools := map[string]bool{}
	for _, p := range s.Pools.Value {
		pools[p.Metadata.Name] = true
	}
	pinned := 0
	for _, b := range list {
		if b.foreign {
			continue
		}
		fix := fmt.Sprintf("kubectl -n %s edit service %s", b.key.Namespace, b.key.Name)
		if name := annotation(b.service, poolAnnotations); name != "" && s.Pools.Err == nil && !pools[name] {
			n.fail("%s asks for pool %s, which is not there", b.key, netplan.Quote(name))
			n.remedy("name a pool that is there, or none", fix)
		}
		want, odd := b.wants()
		if odd != "" {
			n.fail("%s %s", b.key, odd)
			n.remedy("correct the service", fix)
		}
		if len(want) > 0 {
			pinned++
			s.servicePin(n, b, want, fix)
		}
	}
	s.planPin(n, list)
	n.saw("%s", plural(pinned, "pinned service"))
}

func (s *Snapshot) servicePin(n *notes, b balanced, want []netip.Addr, fix string) {
	for _, a := range want {
		if a.Is4() && !s.inPool(a) {
			n.fail("%s is pinned to %s, which is not of the plan's pool", b.key, a)
			n.remedy("pin it to an address of the pool", fix)
		}
		if a.Is4() && len(b.addresses) > 0 && !slices.Contains(b.addresses, a) {
			n.fail("%s is pinned to %s and has %s", b.key, a, addresses(b.addresses))
			n.remedy("see why MetalLB does not give it: who has it, and what its controller says", fmt.Sprintf("kubectl -n %s describe service %s", b.key.Namespace, b.key.Name))
		}
	}
}

// planPin says whether the address that the plan pins the ingress to is the ingress's.
func (s *Snapshot) planPin(n *notes, list []balanced) {
	planned := s.Plan.Ingress.Address
	if !planned.IsValid() {
		return
	}
	generated := ServiceKey{gitops.IngressNamespace, gitops.IngressService}
	remedy := func() {
		n.remedy("apply the plan's objects", fmt.Sprintf("homeward generate -f %s --out %s && kubectl apply -f %s/kubernetes/traefik.yaml", s.File, s.Out, s.Out))
	}
	for _, b := range list {
		if slices.Contains(b.addresses, planned) {
			n.saw("%s has ingress.address %s", b.key, planned)
			return
		}
	}
	for _, b := range list {
		if b.key == generated {
			n.fail("%s has not ingress.address %s of the plan", b.key, planned)
			remedy()
			return
		}
	}
	n.warn("no service has ingress.address %s of the plan", planned)
	remedy()
}
