package netplan

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var fingerprint = regexp.MustCompile(`^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}$`)

// proxmoxURL checks the API's address. It never repeats one that carries
// credentials.
func (r *resolver) proxmoxURL(text string) {
	const path, like = "proxmox.url", "give it like https://pve.example.edu:8006"
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		r.fault(path, "not a URL: %s", like)
	case u.User != nil:
		r.fault(path, "carries credentials: keep them in secrets.yaml or the environment, and %s", like)
	case u.Scheme != "https":
		r.fault(path, "the scheme is not https: %s", like)
	case u.RawQuery != "" || u.Fragment != "":
		r.fault(path, "has a query or fragment: %s", like)
	}
}

// The allowlists whose port is known.
var knownPorts = map[string]int{AllowKubernetes: PortKubernetesAPI, AllowTalos: PortTalosAPI, AllowHTTP: PortHTTP, AllowHTTPS: PortHTTPS}

// security checks the allowlists and sorts them.
func (r *resolver) security() {
	ports := make(map[int]string)
	for _, s := range r.spec.Security {
		path := "security." + s.Name
		r.called(path, s.Name)
		port, known := knownPorts[s.Name]
		switch {
		case s.Port == nil && !known:
			r.fault(path, "needs a port: give {port: 9100, hosts: {...}}; without one only kubernetes, talos, http and https are known")
		case s.Port != nil && known && *s.Port != port:
			r.fault(path+".port", "%s is always port %d: leave it out", s.Name, port)
		case s.Port != nil:
			port = *s.Port
		}
		if port < 0 || port > 65535 || s.Port != nil && *s.Port == 0 {
			r.fault(path+".port", "%d is not a port: give 1 to 65535", port)
		} else if other := ports[port]; other != "" && port != 0 {
			r.clash(path+".port", "security."+other, "port %d is already %s's: name it once", port, other)
		} else {
			ports[port] = s.Name
		}
		if len(s.Hosts) == 0 {
			r.fault(path, "allows nobody: give hosts like {office: 198.51.100.0/24}, or leave it out")
		}
		r.plan.Security = append(r.plan.Security, Allow{Name: s.Name, Port: port, Hosts: r.allowed(path, s)})
	}
	slices.SortFunc(r.plan.Security, func(a, b Allow) int { return strings.Compare(a.Name, b.Name) })
}

// mostCalled is the longest name of an allowlist or of a host in one, in bytes: as long
// as a part of a hostname.
const mostCalled = 63

// called checks a name that is the operator's to choose and is shown on terminals.
func (r *resolver) called(path, name string) {
	if name == "" || len(name) > mostCalled || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.fault(path, "%s is no name: give one of 1 to %d characters without control characters", Quote(name), mostCalled)
	}
}

func (r *resolver) allowed(path string, s AllowSpec) []AllowedHost {
	if s.Port != nil {
		path += ".hosts"
	}
	var out []AllowedHost
	for _, name := range slices.Sorted(maps.Keys(s.Hosts)) {
		r.called(path+"."+name, name)
		for _, p := range s.Hosts[name] {
			if p != p.Masked() {
				r.fault(path+"."+name, "%s has host bits set: give %s, or %s/32 for the one host", p, p.Masked(), p.Addr())
			}
			out = append(out, AllowedHost{Name: name, Prefix: p})
		}
	}
	slices.SortStableFunc(out, func(a, b AllowedHost) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
	})
	return out
}

// ingress checks the Service in front of the ingress controller, and what
// Argo CD is told of it.
func (r *resolver) ingress() {
	s := r.spec.Ingress
	in := Ingress{
		Class:                 r.class("ingress.class", s.Class, "traefik"),
		Pin:                   r.oneOf("ingress.pin", s.Pin, PinLoadBalancerIP, PinAnnotation),
		ExternalTrafficPolicy: r.oneOf("ingress.external_traffic_policy", s.ExternalTrafficPolicy, "Cluster", "Local"),
		Interface:             s.Interface,
	}
	if s.Interface != "" && !interfaceName.MatchString(s.Interface) {
		r.fault("ingress.interface", "%s is not a kernel interface name: give at most 15 characters without spaces or slashes, like ens19", Quote(s.Interface))
	}
	if s.Interface == AliasExternal || s.Interface == AliasPrivate {
		r.fault("ingress.interface", "%s is Talos's alias, which MetalLB does not know: give the kernel's name, like ens19, or leave it out", s.Interface)
	}
	if s.Address.IsValid() {
		in.Address = s.Address
		r.pinned(s.Address)
	}
	r.plan.Ingress = in
	a := r.spec.ArgoCD
	// Where it follows ingress.class, its faults are that key's.
	class := in.Class
	if a.IngressClass != "" {
		class = r.class("argocd.ingress.class", a.IngressClass, "")
	}
	r.plan.ArgoCD = ArgoCD{
		MetalLBEnabled: given(a.MetalLBEnabled, true),
		IngressEnabled: given(a.IngressEnabled, true),
		IngressClass:   class,
	}
}

var interfaceName = regexp.MustCompile(`^[^\s/:[:cntrl:]]{1,15}$`)

// class checks the name of an ingress class, an RFC 1123 subdomain.
func (r *resolver) class(path, name, otherwise string) string {
	name = cmp.Or(name, otherwise)
	if len(name) > 253 || !dnsName.MatchString(name) {
		r.fault(path, "%s is not a class name: give lower-case letters, digits, dashes and dots, like traefik", Quote(name))
	}
	return name
}

// oneOf checks a choice; the first is the default.
func (r *resolver) oneOf(path, value string, choices ...string) string {
	if value == "" {
		return choices[0]
	}
	if slices.Contains(choices, value) {
		return value
	}
	r.fault(path, "%s is not known: give %s", Quote(value), strings.Join(choices, " or "))
	return value
}

// pinned refuses a Service's address that MetalLB could not give it.
func (r *resolver) pinned(a netip.Addr) {
	const path = "ingress.address"
	var pool AddressSet
	if r.spec.External != nil {
		pool = r.spec.External.Pool
	}
	switch {
	case len(pool) == 0:
		r.fault(path, "%s cannot be pinned without a pool: give %s", a, pathPool)
	case !pool.Contains(a):
		r.clash(path, pathPool, "%s is not in the pool %s: give one of it%s", a, pool.brief(), r.firstOfPool())
	}
}

// firstOfPool suggests an address of the pool that a Service could have.
func (r *resolver) firstOfPool() string {
	if !r.spec.External.CIDR.IsValid() || r.faulty(pathExternal+".cidr") {
		return ""
	}
	if left := r.poolLeft(); len(left) > 0 {
		return ", like " + left[0].First.String()
	}
	return ""
}

// brief is the set as an operator writes it, shortened.
func (s AddressSet) brief() string {
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = x.brief()
	}
	return listed(parts)
}

// imageReference is what a container image's name may look like: enough to be
// safe in a document, not a proof that it exists.
var imageReference = regexp.MustCompile(`^[a-z0-9]([A-Za-z0-9._:/-]{0,254}[A-Za-z0-9])?$`)

var imageDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// agent checks the static pod's image.
func (r *resolver) agent() {
	a := Agent{Image: r.spec.Agent.Image, Metrics: r.oneOf("agent.metrics", r.spec.Agent.Metrics, MetricsLoopback, MetricsPrivate)}
	r.image(a.Image)
	if a.Image == "" && a.Metrics == MetricsPrivate {
		r.fault("agent.metrics", "the nft pod has no metrics: give agent.image, or leave it out")
	}
	r.plan.Agent = a
}

// image checks an image reference. What stands around an @ is never repeated: it
// may be credentials, which no reference has.
func (r *resolver) image(ref string) {
	const path, like = "agent.image", "give it like registry.example.edu/homeward-agent@sha256:..."
	if ref == "" {
		return
	}
	name, digest, hasAt := strings.Cut(ref, "@")
	switch {
	case hasAt && !strings.HasPrefix(digest, "sha256:"):
		r.fault(path, "holds an @ that begins no digest: credentials belong in no image reference; %s", like)
	case hasAt && !imageDigest.MatchString(digest):
		r.fault(path, "the digest is not whole: give sha256: and 64 hexadecimal digits")
	case !imageReference.MatchString(name) && hasAt:
		r.fault(path, "not an image reference: %s", like)
	case !imageReference.MatchString(name):
		r.fault(path, "%s is not an image reference: %s", Quote(ref), like)
	}
}

// String gives a host that may come in as "name cidr".
func (h AllowedHost) String() string { return fmt.Sprintf("%s %s", h.Name, h.Prefix) }
