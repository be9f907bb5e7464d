package netplan

import "net/netip"

// Plan is a checked and completed address plan. Its JSON form is the contract
// of `homeward plan -o json` and of plan.json: fields are added, never renamed.
type Plan struct {
	Name       string     `json:"name"`
	Provider   Provider   `json:"provider"`
	Talos      Talos      `json:"talos"`
	Kubernetes Kubernetes `json:"kubernetes"`
	// OpenStack is nil on any other provider. There, External and ReturnPath are nil.
	OpenStack  *OpenStackCloud `json:"openstack,omitempty"`
	Cluster    Cluster         `json:"cluster"`
	External   *External       `json:"external,omitempty"`
	KubeAPI    KubeAPI         `json:"kubeapi"`
	ReturnPath *ReturnPath     `json:"return_path,omitempty"`
	Ingress    Ingress         `json:"ingress"`
	ArgoCD     ArgoCD          `json:"argocd"`
	// Agent is zero on OpenStack, where no static pod is needed.
	Agent Agent `json:"agent,omitzero"`
	// Security is sorted by name; empty when nothing is restricted.
	Security []Allow `json:"security,omitempty"`
	// Machines are control planes first, then pools by name, each in numeric order.
	Machines []Machine `json:"machines"`
	// Warnings is never nil.
	Warnings []Warning `json:"warnings"`
}

// Provider is who runs the machines.
type Provider string

// Proxmox is the provider with an external NIC per machine.
const Proxmox Provider = "proxmox"

// Role is what a machine does in the cluster.
type Role string

// The two roles.
const (
	RoleControlPlane Role = "controlplane"
	RoleWorker       Role = "worker"
)

// Talos is the operating system's part.
type Talos struct {
	// Version has a leading v.
	Version string `json:"version"`
	// Firewall asks for Talos's own ingress firewall, from Security.
	Firewall bool `json:"firewall,omitempty"`
}

// Kubernetes is the cluster's part. CNI is flannel, calico, cilium or none.
type Kubernetes struct {
	Version              string       `json:"version,omitempty"`
	CNI                  string       `json:"cni"`
	PodCIDR              netip.Prefix `json:"pod_cidr"`
	ServiceCIDR          netip.Prefix `json:"service_cidr"`
	KubeProxyReplacement bool         `json:"kube_proxy_replacement,omitempty"`
}

// Segment is one L2 network of the hypervisor: a bridge and a VLAN, or a VNet.
// Two segments are the same when all three are equal.
type Segment struct {
	Bridge string `json:"bridge,omitempty"`
	VNet   string `json:"vnet,omitempty"`
	VLAN   VLAN   `json:"vlan"`
}

// Cluster is the private link with the default route: on OpenStack the tenant
// network, which is no segment of a hypervisor's.
type Cluster struct {
	Segment
	CIDR netip.Prefix `json:"cidr"`
	// Gateway is the zero Addr where DHCP says it. On OpenStack it is the network's
	// first address, which the router gets.
	Gateway netip.Addr `json:"gateway,omitzero"`
	// MTU in bytes, 1500 when not given. On OpenStack zero: DHCP says it.
	MTU int          `json:"mtu,omitzero"`
	DNS []netip.Addr `json:"dns,omitempty"`
}

// External is the link that carries the pool and perhaps the API's VIP.
type External struct {
	Segment
	CIDR          netip.Prefix `json:"cidr"`
	Gateway       netip.Addr   `json:"gateway"`
	GatewayOnLink bool         `json:"gateway_onlink,omitempty"`
	// MTU in bytes, 1500 when not given.
	MTU        int          `json:"mtu"`
	AnchorCIDR netip.Prefix `json:"anchor_cidr"`
	// IngressPool in the operator's order, each entry as MetalLB takes it
	// ("a-b" or a CIDR). Empty when there is no pool.
	IngressPool AddressSet `json:"ingress_pool"`
	// IngressAddresses are all addresses of the pool, ascending; nil for a pool
	// of more than MaxListedAddresses.
	IngressAddresses []netip.Addr `json:"ingress_addresses,omitempty"`
	DHCPRanges       AddressSet   `json:"dhcp_ranges,omitempty"`
	Reserved         AddressSet   `json:"reserved,omitempty"`
}

// MaxListedAddresses is the largest pool whose addresses are listed one by one.
const MaxListedAddresses = 4096

// LinkName is a link by the alias that Talos documents give it, or "cluster"
// and "external" in the plan's JSON.
type LinkName string

// The link that carries the API's VIP.
const (
	LinkCluster  LinkName = "cluster"
	LinkExternal LinkName = "external"
)

// KubeAPI is how the Kubernetes API is reached.
type KubeAPI struct {
	// VIP is the zero Addr when there is none; then Link is empty.
	VIP  netip.Addr `json:"vip,omitzero"`
	Link LinkName   `json:"link,omitempty"`
	// Port says that a reserved port has the address, as on OpenStack. Then the JSON
	// has fixed and floating, empty while they are not known.
	Port bool `json:"-"`
	// Fixed and Floating are the port's addresses; the zero Addr until they are
	// reserved, where the operator chose none. Fixed is also the VIP.
	Fixed    netip.Addr `json:"-"`
	Floating netip.Addr `json:"-"`
	// Endpoint is an https URL with a port; on OpenStack it is empty until the
	// floating IP is known.
	Endpoint string `json:"endpoint"`
	// SANs are names and addresses the certificates must carry besides Talos's
	// own: the VIP first, then the floating IP, the endpoint's host, the operator's;
	// no duplicates.
	SANs []string `json:"sans"`
}

// ReturnPath is what the static pod and the routing rules use.
type ReturnPath struct {
	Mark       Mark       `json:"mark"`
	Mask       Mask       `json:"mask"`
	Table      TableID    `json:"table"`
	Priorities Priorities `json:"priorities"`
	// Pod is "agent" with an agent image, "nft" without.
	Pod PodKind `json:"pod"`
}

// Priorities of the four routing rules; the unreachable ones stand behind the
// others and fail closed when the external NIC is gone.
type Priorities struct {
	VIP             Priority `json:"vip"`
	Mark            Priority `json:"mark"`
	VIPUnreachable  Priority `json:"vip_unreachable"`
	MarkUnreachable Priority `json:"mark_unreachable"`
}

// PrioritiesAt gives the four priorities for one of the VIP's rule.
func PrioritiesAt(vip Priority) Priorities {
	return Priorities{
		VIP: vip, Mark: vip + markRuleOffset,
		VIPUnreachable: vip + vipUnreachableRuleOffset, MarkUnreachable: vip + markUnreachableRuleOffset,
	}
}

// PreferMain is the priority of the rule that looks into the main table first,
// which only an agent that owns the rules may make, and only when asked: in front
// of all others.
func (p Priorities) PreferMain() Priority { return p.VIP - preferMainRuleOffset }

// PodKind is which program the static pod runs.
type PodKind string

// The two kinds of static pod.
const (
	PodAgent PodKind = "agent"
	PodNFT   PodKind = "nft"
)

// Ingress is the LoadBalancer Service in front of the ingress controller.
type Ingress struct {
	// Class is the ingress class, "traefik" by default.
	Class string `json:"class"`
	// Address pins the Service; the zero Addr leaves the choice to MetalLB.
	Address netip.Addr `json:"address,omitzero"`
	// Port, Fixed and Floating are as in KubeAPI. Fixed is also Address, and all that
	// MetalLB may hand out.
	Port     bool       `json:"-"`
	Fixed    netip.Addr `json:"-"`
	Floating netip.Addr `json:"-"`
	// Pin is loadBalancerIP or annotation.
	Pin string `json:"pin"`
	// ExternalTrafficPolicy is Cluster or Local.
	ExternalTrafficPolicy string `json:"external_traffic_policy"`
	// Interface is the kernel's name for the L2Advertisement; mostly empty.
	Interface string `json:"interface,omitempty"`
}

// The ways to pin a Service to an address.
const (
	PinLoadBalancerIP = "loadBalancerIP"
	PinAnnotation     = "annotation"
)

// ArgoCD is what the values for the infrastructure chart say.
type ArgoCD struct {
	MetalLBEnabled bool   `json:"metallb_enabled"`
	IngressEnabled bool   `json:"ingress_enabled"`
	IngressClass   string `json:"ingress_class"`
}

// Agent is the static pod's agent. Metrics is loopback or private.
type Agent struct {
	Image   string `json:"image,omitempty"`
	Metrics string `json:"metrics"`
}

// Where the agent serves its metrics.
const (
	MetricsLoopback = "loopback"
	MetricsPrivate  = "private"
)

// Allow is one allowlist: who may reach a TCP port from outside.
type Allow struct {
	Name string `json:"name"`
	Port int    `json:"port"`
	// Hosts sorted by name, then by prefix.
	Hosts []AllowedHost `json:"hosts"`
}

// AllowedHost is one source that may come in.
type AllowedHost struct {
	Name   string       `json:"name"`
	Prefix netip.Prefix `json:"cidr"`
}

// Machine is one virtual machine.
type Machine struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Pool is "controlplane" or the pool's name.
	Pool     string `json:"pool"`
	External bool   `json:"external"`
	// Announces says that MetalLB's speaker there announces the pool.
	Announces bool   `json:"announces"`
	VMID      int    `json:"vmid,omitempty"`
	Node      string `json:"node,omitempty"`
	MACs      MACs   `json:"macs"`
	// Address is the static private address; the zero Addr means DHCP. On OpenStack
	// it is the fixed IP of the machine's port, which DHCP gives to it; the zero
	// Addr leaves the choice to Neutron.
	Address netip.Addr `json:"address,omitzero"`
	// ExternalAddress is a real address of its own on the external link.
	ExternalAddress netip.Addr `json:"external_address,omitzero"`
	// Anchor is the link-local /32 on the external link; zero without that NIC.
	Anchor netip.Addr `json:"anchor,omitzero"`
}

// MACs of the two NICs; External is zero without the external NIC.
type MACs struct {
	Cluster  MAC `json:"cluster"`
	External MAC `json:"external,omitzero"`
}

// Warning is what will work but should be known before.
type Warning struct {
	// Path is the field's path in cluster.yaml.
	Path string `json:"path"`
	// Line is 1-based, zero when nothing in the file says it.
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}
