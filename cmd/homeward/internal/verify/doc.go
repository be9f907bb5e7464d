// Package verify holds a living cluster against its plan: nodes and their addresses,
// the return-path pod, MetalLB's pools, announcements and speakers, services and their
// addresses, the API's address, what forwards, and what the provider has reserved.
//
// [Gather] reads everything once into a [Snapshot], and changes nothing. [Check] is a
// pure function of a snapshot: each check says what it saw, why that matters and what
// to do. A source that could not be read makes the checks that rest on it unknown,
// never passed. Printing is the caller's.
//
// The numbers and rules of others that are held here: MetalLB's allocation and sharing
// of addresses (its v0.15.2, controller/service.go and internal/allocator), the
// defaults that the Kubernetes API writes into a pod, and what a kubelet adds to a
// static one (pkg/kubelet/config/common.go of v1.36).
package verify
