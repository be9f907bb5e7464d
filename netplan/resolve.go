package netplan

import (
	"fmt"
	"net/netip"
	"slices"
)

// Paths of fields that checks and warnings name, in the documented layout.
const (
	pathCluster     = "proxmox.network.cluster"
	pathExternal    = "proxmox.network.external"
	pathClusterCIDR = "network.cidr"
	pathClusterVIP  = pathCluster + ".kubeapi_vip"
	pathGateway     = pathExternal + ".gateway"
	pathPool        = pathExternal + ".ingress_pool"
	pathVIP         = pathExternal + ".kubeapi_vip"
	pathAnchors     = pathExternal + ".anchor_cidr"
	pathDHCP        = pathExternal + ".dhcp_ranges"
	pathReserved    = pathExternal + ".reserved"
	pathPodCIDR     = "kubernetes.pod_cidr"
	pathServiceCIDR = "kubernetes.service_cidr"
)

// Resolve checks what the operator asked for and completes it. It returns every
// fault it finds, in no particular order; with any fault the plan is nil.
// The same Spec gives the same Plan.
func Resolve(s Spec) (*Plan, []Fault) {
	r := &resolver{spec: s, plan: &Plan{Name: s.Name, Provider: Proxmox, Warnings: []Warning{}}}
	for _, step := range r.steps() {
		step()
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	r.warnings()
	return r.plan, nil
}

// steps are those of the provider. With both given only what no provider changes is
// checked: which of the others' faults are meant nobody can say.
func (r *resolver) steps() []func() {
	switch {
	case r.spec.OpenStack != nil && r.spec.Proxmox != nil:
		return []func(){r.oneProvider, r.versions, r.pools, r.security}
	case r.spec.OpenStack != nil:
		return []func(){
			r.onlyOnProxmox, r.cloud, r.versions, r.networks, r.cluster,
			r.pools, r.machines, r.ingress, r.cloudAddresses, r.cloudAPI, r.security, r.room,
		}
	}
	return []func(){
		r.provider, r.versions, r.networks, r.segments,
		r.cluster, r.external, r.kubeAPI, r.pools, r.machines, r.pool,
		r.returnPath, r.ingress, r.agent, r.security, r.anchors,
	}
}

// resolver gathers the plan, its faults and its warnings, one step after the
// other. A step may use what earlier ones put into the plan; what they found
// faulty is left zero there and counts as not given.
type resolver struct {
	spec   Spec
	plan   *Plan
	faults []Fault
}

// maxFaults bounds what a hostile plan can make of a few thousand addresses that
// all overlap; nobody reads so many.
const maxFaults = 10_000

func (r *resolver) fault(path, format string, args ...any) {
	r.clash(path, "", format, args...)
}

// clash is a fault of two fields; path is the one that should change.
func (r *resolver) clash(path, other, format string, args ...any) {
	if len(r.faults) >= maxFaults {
		return
	}
	r.faults = append(r.faults, Fault{Path: path, Other: other, Message: fmt.Sprintf(format, args...)})
}

func (r *resolver) warn(path, format string, args ...any) {
	r.plan.Warnings = append(r.plan.Warnings, Warning{Path: path, Message: fmt.Sprintf(format, args...)})
}

// faulty says that this field already has a fault.
func (r *resolver) faulty(path string) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Path == path })
}

// given is the value of a pointer, or the default.
func given[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// edge says whether a is the network or the broadcast address of p: "" when it
// is neither. A /31 and a /32 have neither.
func edge(p netip.Prefix, a netip.Addr) string {
	switch {
	case p.Bits() >= 31:
		return ""
	case a == p.Masked().Addr():
		return "network address"
	case a == LastAddr(p):
		return "broadcast address"
	}
	return ""
}

// hosts is the range of addresses that a host of p may have.
func hosts(p netip.Prefix) Range {
	first, last := p.Masked().Addr(), LastAddr(p)
	if p.Bits() < 31 {
		first, last = first.Next(), last.Prev()
	}
	return Range{First: first, Last: last}
}
