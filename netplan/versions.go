package netplan

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Versions of Talos that decide something.
const (
	// 1.13.0 can delete the kernel's own local rule; earlier ones ignore the
	// table of a route.
	oldestTalos = "v1.13.1"
	// Fixes to the network controllers that a two-NIC node is glad of.
	advisedTalos = "v1.13.5"
	// The newest minor whose documents the generator knows.
	newestTalosMinor = "v1.14"
)

var imageTag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// The CNIs whose marks and tables are known; "none" is any other.
var knownCNIs = []string{"flannel", "calico", "cilium", "none"}

// provider checks how Proxmox is reached; a plan alone needs none of it.
func (r *resolver) provider() {
	p := r.spec.Proxmox
	if p == nil {
		r.fault("proxmox", "missing: give the provider's section, with network.cluster and network.external (or openstack, with external_net)")
		return
	}
	r.proxmoxURL(p.URL)
	if p.TLSVerify == "false" {
		r.warn("proxmox.tls_verify", "the Proxmox API's certificate is not verified: give a CA file, or proxmox.fingerprint")
	}
	if p.Fingerprint != "" && !fingerprint.MatchString(p.Fingerprint) {
		r.fault("proxmox.fingerprint", "not a SHA-256 fingerprint: give 32 hexadecimal bytes with colons")
	}
}

// versions checks Talos, Kubernetes and the CNI.
func (r *resolver) versions() {
	s, p := r.spec, r.plan
	p.Talos = Talos{Version: r.talos(s.Talos.Version), Firewall: s.Talos.Firewall}
	k := &p.Kubernetes
	k.KubeProxyReplacement = s.Kubernetes.KubeProxyReplacement
	k.Version = r.kubernetes(s.Kubernetes.Version)
	switch k.CNI = s.Kubernetes.CNI; {
	case k.CNI == "":
		k.CNI = knownCNIs[0]
	case !slices.Contains(knownCNIs, k.CNI):
		r.fault("kubernetes.cni", "%s is not known: give one of %s (none for any other)", Quote(k.CNI), strings.Join(knownCNIs, ", "))
	}
	if k.KubeProxyReplacement && k.CNI == "flannel" {
		r.clash("kubernetes.kube_proxy_replacement", "kubernetes.cni", "flannel does not replace kube-proxy: give the cni that does (cilium, calico with eBPF), or leave this out")
	}
}

func (r *resolver) talos(text string) string {
	const path = "talos.version"
	v := canonical(text)
	switch {
	case text == "":
		r.fault(path, "missing: give the version the machines run, like v1.13.9")
	case v == "":
		r.fault(path, "%s is not a version: give it like v1.13.9", Quote(text))
	case semver.Compare(v, oldestTalos) < 0:
		r.fault(path, "%s is too old: before %s Talos can delete the kernel's local rule, or ignores a route's table; give %s or later", v, oldestTalos[1:], advisedTalos)
	case semver.Compare(v, advisedTalos) < 0:
		r.warn(path, "%s works, but %s or later is advised", v, advisedTalos)
	case semver.Compare(semver.MajorMinor(v), newestTalosMinor) > 0:
		r.warn(path, "%s is newer than the documents known here (%s): they are written in the shape of %s", v, newestTalosMinor, newestTalosMinor)
	}
	return v
}

// kubernetes checks the version, which names the nft pod's image.
func (r *resolver) kubernetes(text string) string {
	const path = "kubernetes.version"
	v := canonical(text)
	switch {
	case text == "" && r.runsNFT():
		r.fault(path, "missing: the return-path pod runs in the kube-proxy image of that version; give it like v1.36.3, or give agent.image")
	case text != "" && (v == "" || !imageTag.MatchString(v)):
		r.fault(path, "%s is not a version: give it like v1.36.3", Quote(text))
	}
	return v
}

// runsNFT says that some machine will run the nft pod.
func (r *resolver) runsNFT() bool {
	s := r.spec
	return s.Agent.Image == "" && s.External != nil && (len(s.External.Pool) > 0 ||
		slices.ContainsFunc(s.Machines, func(m MachineSpec) bool { return m.ExternalAddress.IsValid() }))
}

// canonical gives a full version with a leading v, "" when text is none.
func canonical(text string) string {
	v := "v" + strings.TrimPrefix(text, "v")
	if !semver.IsValid(v) || strings.Count(strings.SplitN(strings.SplitN(v, "-", 2)[0], "+", 2)[0], ".") != 2 {
		return ""
	}
	return v
}
