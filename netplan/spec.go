package netplan

import "net/netip"

// Spec is what the operator asked for: typed, but neither checked nor completed.
// A zero value means "not given"; where zero would be a mistake that must be
// named, the field is a pointer. Slices may be in any order.
type Spec struct {
	Name       string
	Talos      TalosSpec
	Kubernetes KubernetesSpec

	// ControlPlanes is how many control-plane machines there are; nil is not given.
	ControlPlanes *int
	// ControlPlaneNoExternal says that control planes have no external NIC.
	ControlPlaneNoExternal bool
	// ControlPlaneExternal says that it was written out that they have one.
	ControlPlaneExternal bool
	Workers              []PoolSpec
	Machines             []MachineSpec

	// DNS are the resolvers of the private network; may be empty with DHCP.
	DNS []netip.Addr
	// Proxmox and OpenStack are the providers, exactly one of them; nil when the
	// section is missing.
	Proxmox   *ProxmoxSpec
	OpenStack *OpenStackSpec
	Cluster   LinkSpec
	// External is nil for a cluster without a second NIC.
	External *ExternalSpec

	Security []AllowSpec
	Ingress  IngressSpec
	ArgoCD   ArgoCDSpec
	Agent    AgentSpec
	// KubeAPIEndpoint is a host, host:port or https URL, instead of a VIP or as
	// the name of one.
	KubeAPIEndpoint string
	KubeAPISANs     []string
	ReturnPath      ReturnPathSpec
}

// TalosSpec is the section talos.
type TalosSpec struct {
	Version  string
	Firewall bool
}

// KubernetesSpec is the section kubernetes.
type KubernetesSpec struct {
	Version              string
	PodCIDR, ServiceCIDR netip.Prefix
	CNI                  string
	KubeProxyReplacement bool
}

// PoolSpec is one pool of workers.
type PoolSpec struct {
	Name  string
	Count *int
	// NoExternal says that the pool's machines have no external NIC.
	NoExternal bool
	// External says that it was written out that they have one.
	External bool
}

// MachineSpec is what cannot be derived of one machine, by its hostname.
type MachineSpec struct {
	Name            string
	VMID            *int
	Node            string
	ClusterMAC      MAC
	ExternalMAC     MAC
	Address         netip.Addr
	ExternalAddress netip.Addr
	Anchor          netip.Addr
}

// ProxmoxSpec is how the Proxmox API is reached.
type ProxmoxSpec struct {
	URL string
	// TLSVerify is "true" (also when empty), "false" or the path of a CA file.
	TLSVerify string
	// Fingerprint pins the certificate: SHA-256, 32 hexadecimal bytes with colons.
	Fingerprint string
}

// LinkSpec is one link as the hypervisor and the network have it.
type LinkSpec struct {
	// Bridge or VNet, exactly one.
	Bridge, VNet string
	// VLAN nil is untagged.
	VLAN       *int
	MTU        *int
	CIDR       netip.Prefix
	Gateway    netip.Addr
	KubeAPIVIP netip.Addr
}

// ExternalSpec is the external link and the addresses on it.
type ExternalSpec struct {
	LinkSpec
	// GatewayOnLink allows a gateway outside CIDR.
	GatewayOnLink bool
	AnchorCIDR    netip.Prefix
	// Pool is what MetalLB may hand out; empty when there is none.
	Pool AddressSet
	// DHCP is what a DHCP server hands out there, Reserved other hosts' addresses.
	DHCP, Reserved AddressSet
}

// AllowSpec is one named allowlist of the section security.
type AllowSpec struct {
	// Name is kubernetes, talos, http, https or the operator's own.
	Name string
	// Port is given for the operator's own names.
	Port *int
	// Hosts by the operator's name for them.
	Hosts map[string][]netip.Prefix
}

// IngressSpec is the section ingress.
type IngressSpec struct {
	Class                 string
	Address               netip.Addr
	Pin                   string
	ExternalTrafficPolicy string
	Interface             string
}

// ArgoCDSpec is the section argocd; nil is the default (true).
type ArgoCDSpec struct {
	MetalLBEnabled, IngressEnabled *bool
	IngressClass                   string
}

// AgentSpec is the section agent.
type AgentSpec struct {
	Image   string
	Metrics string
}

// ReturnPathSpec is the section return_path; nil is the default.
type ReturnPathSpec struct {
	Mark     *Mark
	Mask     *Mask
	Table    *int
	Priority *int
	// Force accepts a data path that is known to bypass connection marks.
	Force bool
}
