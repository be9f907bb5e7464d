package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"homeward/netplan"
)

// holders are the services that have or want each address.
func holders(list []balanced) map[netip.Addr][]balanced {
	out := map[netip.Addr][]balanced{}
	for _, b := range list {
		if b.foreign {
			continue
		}
		want, _ := b.wants()
		of := slices.Clone(b.addresses)
		for _, a := range want {
			if !slices.Contains(of, a) {
				of = append(of, a)
			}
		}
		for _, a := range of {
			out[a] = append(out[a], b)
		}
	}
	return out
}

func serviceSharing(s *Snapshot, n *notes) {
	list, ok := s.needServices(n)
	if !ok {
		return
	}
	by := holders(list)
	var all []netip.Addr
	for a := range by {
		all = append(all, a)
	}
	slices.SortFunc(all, netip.Addr.Compare)
	shared := 0
	for _, a := range all {
		if len(by[a]) > 1 {
			shared++
		}
		for i, x := range by[a] {
			for _, y := range by[a][i+1:] {
				if why := clash(x, y); why != "" {
					n.fail("%s: %s and %s %s", a, x.key, y.key, why)
					n.remedy("give one of them another address, or make both alike: one annotation metallb.io/allow-shared-ip, one policy, different ports",
						fmt.Sprintf("kubectl -n %s edit service %s", y.key.Namespace, y.key.Name))
				}
			}
		}
	}
	n.saw("%s of %d shared", plural(shared, "address"), len(all))
}

// clash says why two services may not share an address; empty where they may. The
// rules are MetalLB's.
func clash(x, y balanced) string {
	a, b := annotation(x.service, sharingAnnotations), annotation(y.service, sharingAnnotations)
	switch {
	case a == "" && b == "":
		return "do not say that they share (metallb.io/allow-shared-ip)"
	case a != b:
		return fmt.Sprintf("have different keys to share by: %s and %s", netplan.Quote(a), netplan.Quote(b))
	case x.local() != y.local():
		return fmt.Sprintf("have different policies: externalTrafficPolicy %s and %s", policy(x), policy(y))
	case x.local() && backends(x) != backends(y):
		return "have externalTrafficPolicy Local and different selectors: their endpoints can be on different nodes"
	}
	if ports := commonPorts(x.service, y.service); len(ports) > 0 {
		return "both have " + strings.Join(ports, ", ")
	}
	return ""
}

func policy(b balanced) corev1.ServiceExternalTrafficPolicy {
	if b.local() {
		return corev1.ServiceExternalTrafficPolicyLocal
	}
	return corev1.ServiceExternalTrafficPolicyCluster
}

func backends(b balanced) string { return labels.Set(b.service.Spec.Selector).String() }

func commonPorts(x, y corev1.Service) []string {
	var out []string
	for _, p := range x.Spec.Ports {
		for _, q := range y.Spec.Ports {
			if p.Port == q.Port && protocol(p) == protocol(q) {
				out = append(out, fmt.Sprintf("port %d/%s", p.Port, protocol(p)))
			}
		}
	}
	return out
}

func protocol(p corev1.ServicePort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}
