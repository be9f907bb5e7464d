package netplan

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// kubeAPI settles how the API is reached: by a VIP on one of the links, or by
// an outside endpoint.
func (r *resolver) kubeAPI() {
	api := &r.plan.KubeAPI
	api.SANs = []string{}
	external := netip.Addr{}
	if e := r.spec.External; e != nil {
		external = e.KubeAPIVIP
	}
	private := r.spec.Cluster.KubeAPIVIP
	switch {
	case external.IsValid() && private.IsValid():
		r.clash(pathVIP, pathClusterVIP, "the VIP is given on both links, %s and %s: give it on one", external, private)
	case external.IsValid():
		api.VIP, api.Link = external, LinkExternal
		r.externalVIP(external)
	case private.IsValid():
		api.VIP, api.Link = private, LinkCluster
		r.privateVIP(private)
	case r.spec.KubeAPIEndpoint == "":
		r.fault(pathVIP, "missing: give the API's address on one of the two links, or kubeapi_endpoint for an outside balancer or a single node")
	}
	if api.VIP.IsValid() {
		host := api.VIP.String()
		api.SANs = append(api.SANs, host)
		api.Endpoint = "https://" + net.JoinHostPort(host, strconv.Itoa(PortKubernetesAPI))
	}
	r.givenNames()
}

// givenNames takes the endpoint and the certificates' names that the operator gave,
// after those that are there already.
func (r *resolver) givenNames() {
	api := &r.plan.KubeAPI
	if r.spec.KubeAPIEndpoint != "" {
		var host string
		host, api.Endpoint = r.endpoint(r.spec.KubeAPIEndpoint)
		api.SANs = append(api.SANs, host)
		if a, err := netip.ParseAddr(host); err == nil {
			r.endpointAddress(a)
		}
	}
	for _, san := range r.spec.KubeAPISANs {
		r.san(san)
	}
	api.SANs = uniq(api.SANs)
}

func (r *resolver) san(san string) {
	if strings.Contains(san, "@") {
		r.fault("kubeapi_sans", "an entry holds an @, like credentials do: give DNS names and IPv4 addresses")
		return
	}
	if _, err := ParseAddr(san); err != nil && !validName(san) {
		r.fault("kubeapi_sans", "%s is neither a DNS name nor an IPv4 address", Quote(san))
		return
	}
	r.plan.KubeAPI.SANs = append(r.plan.KubeAPI.SANs, san)
}

// validName says that s is a DNS name in lower case. What looks like an address
// is none.
func validName(s string) bool {
	return len(s) <= 253 && dnsName.MatchString(s) && strings.Trim(s, "0123456789.") != ""
}

// uniq drops empty and repeated strings, keeping the first of each.
func uniq(list []string) []string {
	out := list[:0]
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// endpoint reads host, host:port or an https URL; it gives the host and the URL.
func (r *resolver) endpoint(text string) (host, endpoint string) {
	const path = "kubeapi_endpoint"
	full := text
	if !strings.Contains(text, "://") {
		full = "https://" + text
	}
	u, err := url.Parse(full)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		r.fault(path, "not an API endpoint: give a host, host:port or https URL, like api.example.edu")
		return "", ""
	}
	host = u.Hostname()
	if _, err := ParseAddr(host); err != nil && !validName(host) {
		r.fault(path, "%s is neither a DNS name nor an IPv4 address", Quote(host))
		return "", ""
	}
	port := PortKubernetesAPI
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			r.fault(path, "%s is not a port: give 1 to 65535", Quote(p))
			return "", ""
		}
	}
	return host, "https://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// endpointAddress refuses an endpoint at an address where no API can answer.
func (r *resolver) endpointAddress(a netip.Addr) {
	const path = "kubeapi_endpoint"
	other, what := "", ""
	if e := r.spec.External; e != nil {
		switch {
		case e.Pool.Contains(a):
			other, what = pathPool, "in the ingress pool, which MetalLB hands out"
		case e.DHCP.Contains(a):
			other, what = pathDHCP, "handed out by DHCP"
		case a == e.Gateway:
			other, what = pathGateway, "the external gateway"
		case e.CIDR.IsValid() && e.CIDR.Contains(a) && edge(e.CIDR, a) != "":
			other, what = pathExternal+".cidr", "the "+edge(e.CIDR, a)+" of "+e.CIDR.String()
		}
	}
	if a == r.spec.Cluster.Gateway {
		other, what = pathCluster+".gateway", "the private gateway"
	}
	if o := r.spec.OpenStack; o != nil && (a == o.IngressAddress || a == o.IngressFloatingIP) {
		other, what = "openstack.ingress_address", "the ingress's"
		if a == o.IngressFloatingIP {
			other = "openstack.ingress_floating_ip"
		}
	}
	for _, m := range r.spec.Machines {
		if (a == m.Address || a == m.ExternalAddress) && !strings.HasPrefix(m.Name, r.spec.Name+"-"+poolControlPlane+"-") {
			other, what = "machines."+m.Name, m.Name+"'s, which is no control plane"
		}
	}
	if what != "" {
		r.clash(path, other, "%s is %s: give a balancer's, the VIP or a control plane's address", a, what)
	}
}

// externalVIP checks the VIP on the external link.
func (r *resolver) externalVIP(vip netip.Addr) {
	e := r.spec.External
	if !e.CIDR.IsValid() || r.faulty(pathExternal+".cidr") {
		return
	}
	free := ": " + r.vipAdvice()
	if !e.CIDR.Contains(vip) {
		r.clash(pathVIP, pathExternal+".cidr", "%s is outside %s%s", vip, e.CIDR, free)
		return
	}
	if kind := edge(e.CIDR, vip); kind != "" {
		r.clash(pathVIP, pathExternal+".cidr", "%s is the %s of %s%s", vip, kind, e.CIDR, free)
	}
	if vip == e.Gateway {
		r.clash(pathVIP, pathGateway, "%s is also the gateway%s", vip, free)
	}
	for _, set := range []struct {
		path, what string
		set        AddressSet
	}{
		{pathPool, "is inside ingress_pool %s", e.Pool},
		{pathDHCP, "is handed out by DHCP in %s", e.DHCP},
		{pathReserved, "is reserved (%s)", e.Reserved},
	} {
		for _, x := range set.set {
			if x.Contains(vip) {
				r.clash(pathVIP, set.path, "%s "+set.what+"%s", vip, x.brief(), free)
				break
			}
		}
	}
}

// privateVIP checks the VIP on the private link.
func (r *resolver) privateVIP(vip netip.Addr) {
	link := r.spec.Cluster.CIDR
	if !link.IsValid() || r.faulty(pathClusterCIDR) {
		return
	}
	usable := hosts(link)
	kind := edge(link, vip)
	switch {
	case !link.Contains(vip):
		r.clash(pathClusterVIP, pathClusterCIDR, "%s is outside %s: give an address in %s-%s", vip, link, usable.First, usable.Last)
	case kind != "":
		r.clash(pathClusterVIP, pathClusterCIDR, "%s is the %s of %s: give an address in %s-%s", vip, kind, link, usable.First, usable.Last)
	case vip == r.spec.Cluster.Gateway:
		r.clash(pathClusterVIP, pathCluster+".gateway", "%s is also the gateway: give another address in %s-%s", vip, usable.First, usable.Last)
	}
	for i, dns := range r.spec.DNS {
		if dns == vip {
			r.clash(pathClusterVIP, "network.dns", "%s is also resolver %d: give another address in %s-%s", vip, i+1, usable.First, usable.Last)
		}
	}
}
