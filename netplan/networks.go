package netplan

import (
	"fmt"
	"net/netip"
	"slices"
)

// The defaults of Kubernetes networks, as Talos has them.
var (
	defaultPodCIDR     = netip.MustParsePrefix("10.244.0.0/16")
	defaultServiceCIDR = netip.MustParsePrefix("10.96.0.0/12")
	linkLocal          = netip.MustParsePrefix("169.254.0.0/16")
	// unusable are networks that no link, pod or service may lie in.
	unusable = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("224.0.0.0/3"), // multicast and reserved
	}
)

// minPrefixBits is the shortest prefix of any network of the plan.
const minPrefixBits = 8

// unusableBy says why nobody can have a network: it is too large or lies where no
// host may be. Nil is usable.
func unusableBy(p netip.Prefix) error {
	if p.Bits() < minPrefixBits {
		return fmt.Errorf("is too large: give a prefix length of %d to 32", minPrefixBits)
	}
	for _, bad := range unusable {
		if bad.Overlaps(p) {
			return fmt.Errorf("overlaps %s, which no host may use", bad)
		}
	}
	return nil
}

// The shortest service network kube-apiserver takes: 20 bits of addresses.
const minServiceBits = 12

// network is one CIDR of the plan, with how readily an operator can change it.
type network struct {
	path   string
	prefix netip.Prefix
	// given is false for a default that stands nowhere in the file.
	given bool
}

// hostBits says that the operator gave an address inside the network.
func (n network) hostBits() bool { return n.prefix != n.prefix.Masked() }

// networks checks each CIDR by itself, then that no two overlap.
func (r *resolver) networks() {
	s, p := r.spec, r.plan
	p.Kubernetes.PodCIDR = orPrefix(s.Kubernetes.PodCIDR, defaultPodCIDR)
	p.Kubernetes.ServiceCIDR = orPrefix(s.Kubernetes.ServiceCIDR, defaultServiceCIDR)
	p.Cluster.CIDR = s.Cluster.CIDR
	// The order is which of two should change: the earlier one.
	all := []network{
		{pathServiceCIDR, p.Kubernetes.ServiceCIDR, s.Kubernetes.ServiceCIDR.IsValid()},
		{pathPodCIDR, p.Kubernetes.PodCIDR, s.Kubernetes.PodCIDR.IsValid()},
		{pathClusterCIDR, s.Cluster.CIDR, true},
	}
	if e := s.External; e != nil {
		p.External = &External{CIDR: e.CIDR, AnchorCIDR: e.AnchorCIDR}
		all = slices.Insert(all, 0, network{pathAnchors, e.AnchorCIDR, true})
		all = append(all, network{pathExternal + ".cidr", e.CIDR, true})
	}
	all = slices.DeleteFunc(all, func(n network) bool { return !r.usable(n) })
	for i, a := range all {
		for _, b := range all[i+1:] {
			r.apart(a, b)
		}
	}
	for _, n := range all {
		// One that also overlaps another has its fault already: the network
		// around it would be refused.
		if n.hostBits() && !r.faulty(n.path) {
			r.fault(n.path, "%s has host bits set: give the network address, %s", n.prefix, n.prefix.Masked())
		}
	}
}

func orPrefix(p, otherwise netip.Prefix) netip.Prefix {
	if p.IsValid() {
		return p
	}
	return otherwise
}

// usable checks one network by itself, all but its host bits.
func (r *resolver) usable(n network) bool {
	p := n.prefix
	switch {
	case !p.IsValid():
		example := map[string]string{pathClusterCIDR: "10.0.0.0/24", pathAnchors: "169.254.32.0/20"}[n.path]
		if example == "" {
			example = "203.0.113.0/25"
		}
		r.fault(n.path, "missing: give a network like %s", example)
	case p.Bits() < minPrefixBits:
		r.fault(n.path, "%s %v", p, unusableBy(p))
	case n.path == pathAnchors && (!linkLocal.Contains(p.Addr()) || p.Bits() < linkLocal.Bits()):
		r.fault(n.path, "%s is not link-local: give a part of 169.254.0.0/16, like 169.254.32.0/20", p)
	case n.path == pathAnchors && p.Bits() > 30:
		r.fault(n.path, "%s is too small: give a /30 or larger, like 169.254.32.0/20", p)
	case n.path == pathServiceCIDR && p.Bits() < minServiceBits:
		r.fault(n.path, "%s is larger than kube-apiserver takes: give a /%d or longer prefix", p, minServiceBits)
	case unusableBy(p) != nil:
		r.fault(n.path, "%s %v", p, unusableBy(p))
	default:
		return true
	}
	return false
}

// apart refuses two networks that share addresses, once, at the one that should
// change.
func (r *resolver) apart(a, b network) {
	if !a.prefix.Overlaps(b.prefix) {
		return
	}
	if !a.given || a.hostBits() != b.hostBits() && b.hostBits() {
		a, b = b, a
	}
	r.clash(a.path, b.path, "%s overlaps %s %s: give a network outside it%s", a.prefix, b.path, b.prefix, r.freeNetwork(a))
}

// freeNetworks are what is suggested for pods and for services: no two of them
// overlap, so that both suggestions can be taken at once.
var freeNetworks = map[string][]string{
	pathPodCIDR:     {"10.244.0.0/16", "172.20.0.0/16", "192.168.0.0/17", "10.32.0.0/16", "172.28.0.0/16"},
	pathServiceCIDR: {"10.96.0.0/12", "172.24.0.0/16", "192.168.128.0/17", "172.16.0.0/16", "10.64.0.0/16"},
}

// freeNetwork suggests a network for pods or services that overlaps no other.
func (r *resolver) freeNetwork(n network) string {
	taken := []netip.Prefix{r.spec.Cluster.CIDR, r.plan.Kubernetes.PodCIDR, r.plan.Kubernetes.ServiceCIDR}
	if r.spec.External != nil {
		taken = append(taken, r.spec.External.CIDR)
	}
	for _, text := range freeNetworks[n.path] {
		c := netip.MustParsePrefix(text)
		if !slices.ContainsFunc(taken, func(t netip.Prefix) bool { return t.IsValid() && t.Overlaps(c) }) {
			return ", like " + text
		}
	}
	return ""
}
