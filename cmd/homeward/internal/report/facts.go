package report

import (
	"net/netip"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// Facts are what a report is made from.
type Facts struct {
	// Spec is what Plan was resolved from: advice is checked by resolving it, changed.
	Spec netplan.Spec
	Plan *netplan.Plan
	// Proxmox says whether Snapshot was read; Snapshot is nil where it was not.
	Proxmox  Source
	Snapshot *inventory.Snapshot
	// Kubernetes says whether Cluster was read; Cluster is nil where it was not.
	Kubernetes Source
	Cluster    *Cluster
	Measured   []Measurement
}

// SourceState is what became of a source.
type SourceState string

// The states of a source.
const (
	SourceRead    SourceState = "read"
	SourcePartial SourceState = "partial" // some of it could not be read
	SourceFailed  SourceState = "failed"
	SourceNotRead SourceState = "not_read" // nobody asked for it
)

// Source is one that a report may rest on.
type Source struct {
	State SourceState `json:"state"`
	// Detail says what could not be read, or why nothing was.
	Detail []string `json:"detail,omitempty"`
}

// Known says that there is something of it.
func (s Source) Known() bool { return s.State == SourceRead || s.State == SourcePartial }

// Cluster is what the Kubernetes API said. Slices may be in any order.
type Cluster struct {
	Nodes []Node
	// Controller is MetalLB's Deployment.
	Controller Workload
	// Speakers are the nodes with a ready speaker of MetalLB, and ReturnPath those with
	// a ready return-path pod; nil is not known.
	Speakers, ReturnPath []string
	// Services have an address from a load balancer.
	Services []Service
}

// Node is a node of Kubernetes.
type Node struct {
	Name  string
	Ready bool
	// Excluded says that MetalLB may not announce from it, by Kubernetes's label.
	Excluded bool
}

// Workload is a Deployment, as it is declared and as it is. Found is false where
// there is none.
type Workload struct {
	Found             bool
	Declared, Ready   int
	Namespace, Object string
}

// Service is one with an address from a load balancer.
type Service struct {
	Namespace, Name string
	Addresses       []netip.Addr
	// Local is externalTrafficPolicy: Local.
	Local bool
	// Endpoints counts ready ones by node. An endpoint that names no node is under "".
	Endpoints map[string]int
	// Announcers are the nodes that MetalLB names as announcing it; empty is not known.
	Announcers []string
}
