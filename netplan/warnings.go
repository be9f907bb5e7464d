package netplan

import "slices"

// flannelNodeBits is the prefix length of one node's part of pod_cidr, as
// kube-controller-manager cuts it.
const flannelNodeBits = 24

// warnings says what will work but should be known before.
func (r *resolver) warnings() {
	p := r.plan
	r.controlPlanes()
	if n := hosts(p.Cluster.CIDR).Count(); n < len(p.Machines) {
		r.warn(pathClusterCIDR, "%s has %d host addresses for %d machines", p.Cluster.CIDR, n, len(p.Machines))
	}
	if b := p.Kubernetes.PodCIDR.Bits(); p.Kubernetes.CNI == "flannel" && (b > flannelNodeBits || 1<<(flannelNodeBits-b) < len(p.Machines)) {
		r.warn(pathPodCIDR, "%s is cut into /%d networks, one a node: too few for %d machines", p.Kubernetes.PodCIDR, flannelNodeBits, len(p.Machines))
	}
	if p.OpenStack != nil {
		r.cloudWarnings()
		return
	}
	r.firewall()
	r.mtuWarning(pathCluster, p.Cluster.MTU)
	if p.External == nil {
		return
	}
	r.mtuWarning(pathExternal, p.External.MTU)
	if p.Kubernetes.KubeProxyReplacement {
		r.warn("return_path.force", "forced: a replacement of kube-proxy in BPF bypasses connection marks, replies may leave by the private NIC")
	}
	r.neighbours()
	if len(p.External.IngressPool) == 0 {
		return
	}
	r.announcers()
}

// ciliumIPsecBits are where Cilium has the key of a packet that it encrypts with IPsec
// (MARK_MAGIC_KEY_MASK without what is Cilium's anyway).
const ciliumIPsecBits Mask = 0xf000

// neighbours says what may collide without the plan telling.
func (r *resolver) neighbours() {
	p := r.plan
	if p.Kubernetes.CNI == "cilium" && !p.Kubernetes.KubeProxyReplacement && p.ReturnPath.Mask&ciliumIPsecBits != 0 {
		r.warn("return_path.mark", "Cilium's encryption by IPsec keeps its key in the bits %s, of which %s is one: not tried together; without it, or by WireGuard, there is no conflict", ciliumIPsecBits, p.ReturnPath.Mark)
	}
	if ours := p.ReturnPath.Priorities; ours.Mark > tailscaleRules[1] {
		r.warn("return_path.priority", "our rules (from %d) are asked after Tailscale's (to %d): where it is on a node and uses an exit node, replies leave by that; give another one, like %d", ours.VIP, tailscaleRules[1], DefaultPriority)
	}
}

// firewall says which of the machines' own ports stay open to everyone: without an
// allowlist they must, or a remote operator would be locked out.
func (r *resolver) firewall() {
	if !r.plan.Talos.Firewall {
		return
	}
	for _, name := range []string{AllowKubernetes, AllowTalos} {
		if !slices.ContainsFunc(r.plan.Security, func(a Allow) bool { return a.Name == name }) {
			r.warn("talos.firewall", "port %d stays open to everyone: give security.%s to say who may reach it", knownPorts[name], name)
		}
	}
}

func (r *resolver) controlPlanes() {
	n := *r.spec.ControlPlanes
	switch {
	case n == 1:
		r.warn("controlplane.count", "1 control plane: the API is away whenever it is")
	case n%2 == 0:
		r.warn("controlplane.count", "%d control planes survive no more failures than %d: give an odd number", n, n-1)
	}
}

func (r *resolver) mtuWarning(path string, mtu int) {
	if mtu > DefaultMTU {
		r.warn(path+".mtu", "%d bytes: the bridge, every switch and every host of the segment must carry it too", mtu)
	}
}

func (r *resolver) noWorkers() {
	r.warn("workers", "no worker: control planes announce the pool (their exclusion from external load balancers is taken away), and run pods only with cluster.allowSchedulingOnControlPlanes: true in the base config")
}

// announcers says who will announce the pool, where that is nobody, or all on
// one host.
func (r *resolver) announcers() {
	p := r.plan
	var announcing []Machine
	for _, m := range p.Machines {
		if m.Announces {
			announcing = append(announcing, m)
		}
	}
	switch {
	case !p.HasWorkers():
		r.noWorkers()
	case len(announcing) == 0:
		r.warn("workers", "no worker has the external NIC: nobody announces the pool, for control planes are excluded from external load balancers")
	}
	if len(announcing) < 2 || announcing[0].Node == "" {
		return
	}
	node := announcing[0].Node
	if !slices.ContainsFunc(announcing, func(m Machine) bool { return m.Node != node }) {
		r.warn("machines", "all %d announcing machines are on Proxmox host %s: the pool is away whenever it is", len(announcing), node)
	}
}
