package verify

import (
	"net/netip"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan"
)

// Read is one source: its value, or why there is none. The zero Read is a source that
// is empty.
type Read[T any] struct {
	Value T
	Err   error
}

// Snapshot is everything that was read, at one time. Slices may be in any order.
type Snapshot struct {
	Plan  *netplan.Plan
	Taken time.Time
	// Tool is the version of this program.
	Tool string
	// File and Out are what the commands of remedies name: the plan and the generated
	// tree.
	File, Out string
	// Namespace is MetalLB's.
	Namespace string
	// Server is the API server that was asked.
	Server string
	// Here are this machine's own addresses.
	Here []netip.Addr

	Version Read[Version]
	Nodes   Read[[]corev1.Node]
	// ReturnPath are Homeward's pods in kube-system.
	ReturnPath Read[[]corev1.Pod]
	// Agents is what agents said of themselves, by machine; those that could not be
	// asked are not in it.
	Agents map[string]AgentInfo

	// MetalLBNamespace is nil where there is none.
	MetalLBNamespace Read[*corev1.Namespace]
	// MetalLB are all pods of its namespace.
	MetalLB Read[[]corev1.Pod]
	Pools   Read[[]Pool]
	L2      Read[[]Advertisement]
	BGP     Read[[]Advertisement]

	Services Read[[]corev1.Service]
	// Endpoints are the ready ones by node, of the services that have an address of a
	// load balancer.
	Endpoints map[ServiceKey]Read[map[string]int]
	// APIEndpoints are those of service default/kubernetes.
	APIEndpoints Read[[]discoveryv1.EndpointSlice]
	// Doors are TLS handshakes with API servers: first the plan's endpoints, then the
	// control planes' own.
	Doors []Door
	// Knocks are TCP handshakes with services.
	Knocks Read[[]Knock]
	Proxy  Read[Proxy]

	Files       Files
	Reservation Reservation
}

// ServiceKey names a service.
type ServiceKey struct{ Namespace, Name string }

// String is the name as kubectl's users write it.
func (k ServiceKey) String() string { return k.Namespace + "/" + k.Name }

// Version is what the API server says of itself.
type Version struct {
	GitVersion string `json:"gitVersion"`
}

// AgentInfo is what an agent's metrics say.
type AgentInfo struct{ Version string }

// Pool is MetalLB's IPAddressPool, as far as it is used.
type Pool struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Addresses     []string `json:"addresses"`
		AutoAssign    *bool    `json:"autoAssign"`
		AvoidBuggyIPs bool     `json:"avoidBuggyIPs"`
		// AllocateTo confines the pool to some services.
		AllocateTo *struct {
			Namespaces         []string   `json:"namespaces"`
			NamespaceSelectors []Selector `json:"namespaceSelectors"`
			ServiceSelectors   []Selector `json:"serviceSelectors"`
		} `json:"serviceAllocation"`
	} `json:"spec"`
}

// Advertisement is MetalLB's L2Advertisement or BGPAdvertisement, as far as it is used.
type Advertisement struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Pools         []string   `json:"ipAddressPools"`
		PoolSelectors []Selector `json:"ipAddressPoolSelectors"`
		NodeSelectors []Selector `json:"nodeSelectors"`
		Interfaces    []string   `json:"interfaces"`
	} `json:"spec"`
}

// Metadata is an object's.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// Proxy is what there is of programs that forward services; what is not there is nil.
type Proxy struct {
	KubeProxy       *appsv1.DaemonSet
	KubeProxyConfig *corev1.ConfigMap
	Cilium          *appsv1.DaemonSet
	CiliumConfig    *corev1.ConfigMap
}

// Files is the generated tree beside the plan.
type Files struct {
	// There says that there is one.
	There bool
	// Format is that of the tree, and Known the tool's own.
	Format, Known int
	// Differ are files that generate would write or remove.
	Differ []string
	Err    error
}

// Reservation is what the provider has of the plan's addresses.
type Reservation struct {
	// Asked says that there were credentials.
	Asked bool
	// Status is Proxmox's, Cloud OpenStack's.
	Status *reservation.Status
	Cloud  *allocation.Report
	Err    error
}
