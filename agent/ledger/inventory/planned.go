package inventory

import (
	"net/netip"
	"slices"

	"homeward/netplan"
)

// Use is what the plan wants an address of the segment for.
type Use string

// The uses.
const (
	UseIngress Use = "ingress"          // the pool
	UseKubeAPI Use = "kubeapi"          // the VIP, where it is on the external link
	UseAnchor  Use = "anchor"           // a machine's link-local address there
	UseAddress Use = "external_address" // a machine's own real address there
)

// Planned is a range of the segment's addresses that the plan uses.
type Planned struct {
	Range netplan.Range `json:"range"`
	For   Use           `json:"for"`
	// Machine is whose it is; empty for the pool and the VIP, which move.
	Machine string `json:"machine,omitempty"`
}

// PlannedOn lists what a plan uses on its external link, ascending; empty without
// such a link. The plan's checks see to it that no two overlap.
func PlannedOn(plan *netplan.Plan) []Planned {
	if plan.External == nil {
		return nil
	}
	var out []Planned
	for _, r := range plan.External.IngressPool.Merged() {
		out = append(out, Planned{Range: r, For: UseIngress})
	}
	if plan.KubeAPI.Link == netplan.LinkExternal && plan.KubeAPI.VIP.IsValid() {
		out = append(out, Planned{Range: single(plan.KubeAPI.VIP), For: UseKubeAPI})
	}
	for _, m := range plan.Machines {
		for _, x := range []struct {
			address netip.Addr
			use     Use
		}{{m.Anchor, UseAnchor}, {m.ExternalAddress, UseAddress}} {
			if m.External && x.address.IsValid() {
				out = append(out, Planned{Range: single(x.address), For: x.use, Machine: m.Name})
			}
		}
	}
	slices.SortFunc(out, func(a, b Planned) int { return compareRanges(a.Range, b.Range) })
	return out
}

// meet gives the planned ranges that share an address with r, which all come
// one after another in the list.
func meet(planned []Planned, r netplan.Range) []Planned {
	from, _ := slices.BinarySearchFunc(planned, r.First, func(p Planned, a netip.Addr) int { return p.Range.Last.Compare(a) })
	to := from
	for to < len(planned) && !r.Last.Less(planned[to].Range.First) {
		to++
	}
	return planned[from:to]
}
