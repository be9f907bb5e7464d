package verify

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
)

// MetalLB's annotations of a service, the old prefix second.
var (
	pinAnnotations     = []string{"metallb.io/loadBalancerIPs", "metallb.universe.tf/loadBalancerIPs"}
	poolAnnotations    = []string{"metallb.io/address-pool", "metallb.universe.tf/address-pool"}
	sharingAnnotations = []string{"metallb.io/allow-shared-ip", "metallb.universe.tf/allow-shared-ip"}
)

// annotation is the first that a service has.
func annotation(s corev1.Service, keys []string) string {
	for _, k := range keys {
		if v, ok := s.Annotations[k]; ok {
			return v
		}
	}
	return ""
}

// balanced is a service of type LoadBalancer.
type balanced struct {
	key     ServiceKey
	service corev1.Service
	// addresses are those it has, IPv4 only; six are the others.
	addresses []netip.Addr
	six       []string
	// foreign says that another load balancer than MetalLB takes care of it.
	foreign bool
}

// balanced are the services that a load balancer takes care of, by name.
func (s *Snapshot) balanced() []balanced {
	class := s.metallbClass()
	var out []balanced
	for _, svc := range s.Services.Value {
		if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		b := balanced{key: ServiceKey{svc.Namespace, svc.Name}, service: svc}
		given := ""
		if svc.Spec.LoadBalancerClass != nil {
			given = *svc.Spec.LoadBalancerClass
		}
		b.foreign = given != class
		for _, i := range svc.Status.LoadBalancer.Ingress {
			a, err := netip.ParseAddr(i.IP)
			switch {
			case err != nil:
			case a.Is4():
				b.addresses = append(b.addresses, a)
			default:
				b.six = append(b.six, a.String())
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b balanced) int { return strings.Compare(a.key.String(), b.key.String()) })
	return out
}

// metallbClass is the loadBalancerClass that MetalLB's controller was told to serve;
// empty is that of services without one.
func (s *Snapshot) metallbClass() string {
	for _, p := range s.component(kube.Controller) {
		if class, ok := flagOf(p.Spec, "lb-class"); ok {
			return class
		}
	}
	return ""
}

// wants are the addresses that a service is pinned to. Odd says why MetalLB refuses
// what is asked for.
func (b balanced) wants() (list []netip.Addr, odd string) {
	text := annotation(b.service, pinAnnotations)
	field := b.service.Spec.LoadBalancerIP
	switch {
	case text != "" && field != "":
		return nil, "has both spec.loadBalancerIP and annotation " + pinAnnotations[0] + ", which MetalLB refuses"
	case text == "" && field == "":
		return nil, ""
	case text == "":
		text = field
	}
	for part := range strings.SplitSeq(text, ",") {
		a, err := netip.ParseAddr(strings.TrimSpace(part))
		if err != nil {
			return nil, "is pinned to " + plain(part) + ", which is no address"
		}
		list = append(list, a)
	}
	return list, ""
}

// local says that only nodes with an endpoint announce the service's address.
func (b balanced) local() bool {
	return b.service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// needServices gives the services of load balancers; ok is false where they could not
// be read, or there are none.
func (s *Snapshot) needServices(n *notes) ([]balanced, bool) {
	if _, ok := need(n, s.Services); !ok {
		return nil, false
	}
	list := s.balanced()
	if len(list) == 0 {
		n.skip("there is no service of type LoadBalancer")
	}
	return list, len(list) > 0
}

// inPool says that the plan gives an address to services.
func (s *Snapshot) inPool(a netip.Addr) bool {
	return s.Plan.ServicePool().Contains(a)
}
