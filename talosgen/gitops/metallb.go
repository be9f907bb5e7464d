package gitops

import "homeward/netplan"

const (
	// MetalLBNamespace is where MetalLB reads its objects from.
	MetalLBNamespace = "metallb-system"
	// PoolName is the pool's and its announcement's name.
	PoolName      = "ingress"
	metallbAPI    = "metallb.io/v1beta1"
	podSecurity   = "pod-security.kubernetes.io/"
	privilegedPod = "privileged"
)

type poolSpec struct {
	Addresses []string `yaml:"addresses"`
}

type l2Spec struct {
	IPAddressPools []string        `yaml:"ipAddressPools"`
	NodeSelectors  []labelSelector `yaml:"nodeSelectors,omitempty"`
	Interfaces     []string        `yaml:"interfaces,omitempty"`
}

type labelSelector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// MetalLB renders Namespace metallb-system, IPAddressPool and L2Advertisement
// (both named ingress). Nil where the plan has no pool: MetalLB refuses an empty
// one. While the ingress's address is not allocated it fails with
// netplan.ErrUnallocated, as all here do.
//
// The Namespace carries the Pod Security labels that let the speaker use the
// node's network. The announcement names nodes only when some eligible machine has
// no external NIC, and interfaces only when the plan knows the kernel's name: the
// link's alias is none.
func MetalLB(p *netplan.Plan) ([]byte, error) {
	if err := p.Complete(); err != nil {
		return nil, err
	}
	addresses := poolAddresses(p)
	if len(addresses) == 0 {
		return nil, nil
	}
	l2 := l2Spec{IPAddressPools: []string{PoolName}}
	if !p.AnnouncesEverywhere() {
		label := map[string]string{netplan.LabelExternal: "true"}
		l2.NodeSelectors = []labelSelector{{MatchLabels: label}}
	}
	if p.Ingress.Interface != "" {
		l2.Interfaces = []string{p.Ingress.Interface}
	}
	meta := metadata{Name: PoolName, Namespace: MetalLBNamespace}
	return encode(
		namespace(MetalLBNamespace, map[string]string{
			podSecurity + "enforce": privilegedPod,
			podSecurity + "audit":   privilegedPod,
			podSecurity + "warn":    privilegedPod,
		}),
		object{APIVersion: metallbAPI, Kind: "IPAddressPool", Metadata: meta, Spec: poolSpec{Addresses: addresses}},
		object{APIVersion: metallbAPI, Kind: "L2Advertisement", Metadata: meta, Spec: l2},
	)
}

// poolAddresses gives the pool as MetalLB takes it, in the operator's order; empty
// without a pool, never nil.
func poolAddresses(p *netplan.Plan) []string {
	addresses := []string{}
	for _, r := range p.ServicePool() {
		addresses = append(addresses, r.String())
	}
	return addresses
}
