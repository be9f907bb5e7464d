package netplan

import (
	"net/netip"
	"net/url"
	"slices"
)

// Paths of the section openstack that faults name.
const (
	pathCloudURL        = "openstack.url"
	pathExternalNet     = "openstack.external_net"
	pathIngressFixed    = "openstack.ingress_address"
	pathKubeAPIFixed    = "openstack.kubeapi_address"
	pathIngressFloating = "openstack.ingress_floating_ip"
	pathKubeAPIFloating = "openstack.kubeapi_floating_ip"
)

// cloud checks where the network is made.
func (r *resolver) cloud() {
	s := r.spec.OpenStack
	r.plan.Provider = OpenStack
	r.plan.OpenStack = &OpenStackCloud{
		URL: s.URL, ExternalNet: s.ExternalNet, Region: s.Region, AvailabilityZone: s.AvailabilityZone,
		KubeAPI: ChosenAddress{s.KubeAPIAddress, s.KubeAPIFloatingIP},
		Ingress: ChosenAddress{s.IngressAddress, s.IngressFloatingIP},
	}
	if link := r.spec.Cluster.CIDR; link.IsValid() {
		r.plan.Cluster.Gateway = hosts(link).First
		if slices.Contains(r.spec.DNS, hosts(link).First) {
			r.clash("network.dns", pathClusterCIDR, "%s is the router's, the network's first address, and no resolver: give one that answers outside", hosts(link).First)
		}
	}
	if s.ExternalNet == "" {
		r.fault(pathExternalNet, "missing: give the network that floating IPs come from, by name or id, like public")
	}
	r.keystone(s.URL)
}

// keystone checks the API's address. It never repeats one that carries credentials.
func (r *resolver) keystone(text string) {
	const like = "give it like https://openstack.example.edu:5000/v3"
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		r.fault(pathCloudURL, "not a URL: %s", like)
	case u.User != nil:
		r.fault(pathCloudURL, "carries credentials: keep them in secrets.yaml or the environment, and %s", like)
	case u.Scheme != "https" && u.Scheme != "http":
		r.fault(pathCloudURL, "the scheme is neither https nor http: %s", like)
	case u.RawQuery != "" || u.Fragment != "":
		r.fault(pathCloudURL, "has a query or fragment: %s", like)
	case u.Scheme == "http":
		r.warn(pathCloudURL, "http: the credential and all tokens go over the network in clear text")
	}
}

// cloudAddresses checks what the operator chose, and places what is known of it.
func (r *resolver) cloudAddresses() {
	s := r.spec.OpenStack
	if s.KubeAPIAddress.IsValid() {
		r.fixed(pathKubeAPIFixed, s.KubeAPIAddress)
	}
	if s.IngressAddress.IsValid() {
		r.fixed(pathIngressFixed, s.IngressAddress)
		if s.IngressAddress == s.KubeAPIAddress {
			r.clash(pathIngressFixed, pathKubeAPIFixed, "%s is also the API's: give another one", s.IngressAddress)
		}
	}
	r.floating(pathKubeAPIFloating, s.KubeAPIFloatingIP)
	r.floating(pathIngressFloating, s.IngressFloatingIP)
	if s.IngressFloatingIP.IsValid() && s.IngressFloatingIP == s.KubeAPIFloatingIP {
		r.clash(pathIngressFloating, pathKubeAPIFloating, "%s is also the API's: a floating IP leads to one port, give another one", s.IngressFloatingIP)
	}
}

// cloudAPI settles how the API is reached, as far as its addresses are chosen.
func (r *resolver) cloudAPI() {
	r.plan.KubeAPI.SANs = []string{}
	r.givenNames()
	r.plan.place(r.plan.OpenStack.KubeAPI, r.plan.OpenStack.Ingress)
}

// fixed refuses an address on the tenant network that no port of ours can have.
func (r *resolver) fixed(path string, a netip.Addr) {
	link := r.spec.Cluster.CIDR
	if !link.IsValid() || r.faulty(pathClusterCIDR) {
		return
	}
	usable := hosts(link)
	free := Range{First: usable.First.Next(), Last: usable.Last}
	switch {
	case !usable.Contains(a):
		r.clash(path, pathClusterCIDR, "%s is no host's address in %s: give one in %s-%s", a, link, free.First, free.Last)
	case a == usable.First:
		r.clash(path, pathClusterCIDR, "%s is the router's: the network's first address is its gateway; give one in %s-%s", a, free.First, free.Last)
	case slices.Contains(r.spec.DNS, a):
		r.clash(path, "network.dns", "%s is also a resolver", a)
	}
}

// portAddress checks the fixed IP of a machine's port.
func (r *resolver) portAddress(path string, a netip.Addr) {
	r.fixed(path, a)
	switch a {
	case r.spec.OpenStack.KubeAPIAddress:
		r.clash(path, pathKubeAPIFixed, "%s is also the API's: give another one", a)
	case r.spec.OpenStack.IngressAddress:
		r.clash(path, pathIngressFixed, "%s is also the ingress's: give another one", a)
	}
}

// floating refuses an address that cannot be one of the external network's.
func (r *resolver) floating(path string, a netip.Addr) {
	if !a.IsValid() {
		return
	}
	k := r.plan.Kubernetes
	for _, n := range []network{{path: pathClusterCIDR, prefix: r.spec.Cluster.CIDR}, {path: pathPodCIDR, prefix: k.PodCIDR}, {path: pathServiceCIDR, prefix: k.ServiceCIDR}} {
		if n.prefix.IsValid() && !r.faulty(n.path) && n.prefix.Contains(a) {
			r.clash(path, n.path, "%s is inside %s: a floating IP is an address of external_net, outside the cluster", a, n.prefix)
			return
		}
	}
	if !routable(a) {
		r.fault(path, "%s is no address that anyone can be reached by: give one of external_net", a)
	}
}

// Ports that the network has besides the machines': the router's and the two
// reserved ones. DHCP takes another on most clouds.
const (
	otherPorts    = 3
	portsWithDHCP = 4
)

// room refuses a network that cannot hold all ports.
func (r *resolver) room() {
	link := r.spec.Cluster.CIDR
	if !link.IsValid() || r.faulty(pathClusterCIDR) {
		return
	}
	n, machines := hosts(link).Count(), len(r.plan.Machines)
	switch {
	case link.Bits() >= 31 || n < machines+otherPorts:
		r.fault(pathClusterCIDR, "%s has %d host addresses, and %d machines, the router and the two reserved ports need %d: give a larger network", link, n, machines, machines+otherPorts)
	case n < machines+portsWithDHCP:
		r.warn(pathClusterCIDR, "%s has %d host addresses, just enough for %d machines, the router and the two reserved ports: on most clouds DHCP takes one too", link, n, machines)
	}
}

// cloudWarnings says what will work but should be known before, on OpenStack alone.
func (r *resolver) cloudWarnings() {
	p := r.plan
	for _, name := range []string{AllowKubernetes, AllowTalos} {
		if !slices.ContainsFunc(p.Security, func(a Allow) bool { return a.Name == name }) {
			r.warn("security", "nobody outside the network reaches port %d: the security group opens it to security.%s only, which is not given", knownPorts[name], name)
		}
	}
	if !p.HasWorkers() {
		r.noWorkers()
	}
}
