package verify

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"homeward/netplan"
)

func forwardChecks() []check {
	return []check{
		{"kube-proxy", "forwarding keeps connection marks",
			"the return path marks connections in conntrack: Cilium with kube-proxy replacement bypasses it, and kube-proxy in mode ipvs without strictARP has every node answer for every address",
			forwarding},
	}
}

// The modes of kube-proxy.
const (
	modeIPTables = "iptables"
	modeNFTables = "nftables"
	modeIPVS     = "ipvs"
)

// askCilium has Cilium say whether it replaces kube-proxy.
const askCilium = "kubectl -n " + kubeSystem + " exec ds/cilium -- cilium-dbg status --verbose"

func forwarding(s *Snapshot, n *notes) {
	p, ok := need(n, s.Proxy)
	if !ok {
		return
	}
	replaced := false
	if p.Cilium != nil {
		replaced = s.cilium(n, p)
	} else if s.Plan.Kubernetes.CNI == "cilium" {
		n.warn("the plan has Cilium, and there is no DaemonSet %s/cilium", kubeSystem)
		n.remedy("bring the plan's kubernetes.cni to what runs", "")
	}
	if p.KubeProxy == nil {
		switch {
		case replaced:
		case s.onOpenStack():
			n.saw("there is no DaemonSet %s/kube-proxy; on OpenStack there are no marks that what forwards could bypass", kubeSystem)
		case s.Plan.Kubernetes.KubeProxyReplacement && s.Plan.Kubernetes.CNI != "cilium":
			n.warn("there is no DaemonSet %s/kube-proxy: as the plan has forced, something else forwards, which may bypass connection marks", kubeSystem)
			n.remedy("run kube-proxy, and take kubernetes.kube_proxy_replacement out of the plan", "")
		default:
			n.unknown("there is no DaemonSet %s/kube-proxy, so what forwards services is not known", kubeSystem)
			n.remedy("look on a node what forwards: kube-proxy in nftables or iptables mode keeps the marks", "")
		}
		return
	}
	if s.Plan.Kubernetes.KubeProxyReplacement && !replaced {
		n.warn("kube-proxy runs, and the plan has kubernetes.kube_proxy_replacement")
		n.remedy("take kubernetes.kube_proxy_replacement out of the plan", "")
	}
	s.kubeProxy(n, p)
}

// cilium says what Cilium does beside or instead of kube-proxy, and whether it takes
// kube-proxy's place.
func (s *Snapshot) cilium(n *notes, p Proxy) (replaced bool) {
	if s.Plan.Kubernetes.CNI != "cilium" {
		n.warn("Cilium runs, and the plan has kubernetes.cni %s", s.Plan.Kubernetes.CNI)
		n.remedy("bring the plan's kubernetes.cni to what runs", "")
	}
	if s.onOpenStack() {
		n.saw("Cilium runs; on OpenStack there are no marks that it could bypass")
		return p.KubeProxy == nil
	}
	if p.CiliumConfig == nil {
		n.unknown("there is no ConfigMap %s/cilium-config, so whether Cilium replaces kube-proxy is not known", kubeSystem)
		n.remedy("ask Cilium itself", askCilium)
		return p.KubeProxy == nil
	}
	value := p.CiliumConfig.Data["kube-proxy-replacement"]
	switch value {
	case "", "false", "disabled":
		n.saw("Cilium without kube-proxy replacement")
		return false
	case "true", "strict", "partial", "probe":
	default:
		n.unknown("Cilium's kube-proxy-replacement is %s, which is not known", netplan.Quote(value))
		n.remedy("ask Cilium itself", askCilium)
		return p.KubeProxy == nil
	}
	if s.Plan.Kubernetes.KubeProxyReplacement {
		n.warn("Cilium replaces kube-proxy (%s), as the plan has forced: its path bypasses connection marks", value)
	} else {
		n.fail("Cilium replaces kube-proxy (%s): its path bypasses connection marks", value)
	}
	n.remedy("run kube-proxy and set Cilium's kubeProxyReplacement to false", "helm -n "+kubeSystem+" upgrade cilium cilium/cilium --reuse-values --set kubeProxyReplacement=false")
	return true
}

// kubeProxy judges its mode and whether it runs.
func (s *Snapshot) kubeProxy(n *notes, p Proxy) {
	mode, strict, from := proxyMode(p)
	switch mode {
	case modeIPTables, modeNFTables:
		n.saw("kube-proxy in mode %s (%s)", mode, from)
	case modeIPVS:
		if strict {
			n.warn("kube-proxy in mode ipvs with strictARP (%s): the return path is tried with nftables and iptables only", from)
		} else {
			n.fail("kube-proxy in mode ipvs without strictARP (%s): every node answers ARP for every address of the pool", from)
		}
		n.remedy("use mode nftables; where ipvs must stay set ipvs.strictARP: true", "kubectl -n "+kubeSystem+" edit configmap kube-proxy")
	default:
		n.unknown("kube-proxy's mode is %s (%s), which is not known", netplan.Quote(mode), from)
		n.remedy("use mode nftables", "kubectl -n "+kubeSystem+" edit configmap kube-proxy")
	}
	if st := p.KubeProxy.Status; st.NumberReady < st.DesiredNumberScheduled {
		n.warn("kube-proxy is ready on %d of %d nodes", st.NumberReady, st.DesiredNumberScheduled)
		n.remedy("see why it is not", "kubectl -n "+kubeSystem+" describe daemonset kube-proxy")
	}
}

// proxyMode is kube-proxy's mode, by its configuration file where it is given one, else
// by its flags, and where it is said. A kube-proxy that is told nothing uses iptables.
func proxyMode(p Proxy) (mode string, strict bool, from string) {
	spec := p.KubeProxy.Spec.Template.Spec
	if _, ok := flagOf(spec, "config"); ok && p.KubeProxyConfig != nil {
		from = "ConfigMap kube-proxy"
		mode, strict = configured(p.KubeProxyConfig)
	} else if ok {
		return "", false, "its configuration file is not in ConfigMap kube-proxy"
	} else {
		from = "its flags"
		mode, _ = flagOf(spec, "proxy-mode")
		_, strict = flagOf(spec, "ipvs-strict-arp")
		if mode == "" {
			mode = separate(p.KubeProxy, "--proxy-mode")
		}
	}
	if mode == "" {
		from += ", by default"
	}
	return cmp.Or(mode, modeIPTables), strict, from
}

// separate is the value of a flag that stands in the next argument.
func separate(d *appsv1.DaemonSet, flag string) string {
	for _, c := range d.Spec.Template.Spec.Containers {
		args := slices.Concat(c.Command, c.Args)
		if at := slices.Index(args, flag); at >= 0 && at+1 < len(args) {
			return args[at+1]
		}
	}
	return ""
}

// configured reads mode and strictARP of the KubeProxyConfiguration in a ConfigMap.
func configured(m *corev1.ConfigMap) (mode string, strict bool) {
	for _, text := range m.Data {
		if !strings.Contains(text, "KubeProxyConfiguration") {
			continue
		}
		var config struct {
			Mode string `json:"mode"`
			IPVS struct {
				StrictARP bool `json:"strictARP"`
			} `json:"ipvs"`
		}
		if err := yaml.Unmarshal([]byte(text), &config); err != nil {
			return "that cannot be read", false
		}
		return config.Mode, config.IPVS.StrictARP
	}
	return "that is not said", false
}
