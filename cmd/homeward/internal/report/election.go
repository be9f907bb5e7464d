package report

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"slices"
)

// announcers orders nodes as MetalLB's speakers do for an address in L2 mode: by the
// SHA-256 of node, "#" and address (speaker/layer2_controller.go, the same from
// v0.13 to v0.15). The first announces it; when it is gone, the next does.
func announcers(nodes []string, address netip.Addr) []string {
	type ranked struct {
		node string
		rank [sha256.Size]byte
	}
	list := make([]ranked, len(nodes))
	for i, n := range nodes {
		list[i] = ranked{n, sha256.Sum256([]byte(n + "#" + address.String()))}
	}
	slices.SortFunc(list, func(a, b ranked) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.node
	}
	return out
}

// MaxAnnouncements is how many addresses of a pool a report names, and as long as no
// service is known looks at.
const MaxAnnouncements = 64

// Announcement is who is expected to announce one address.
type Announcement struct {
	Address string `json:"address"`
	// Order are the first three that may announce it: when one is lost the next takes
	// over. It follows from MetalLB's election among those in Eligible.
	Order    []string `json:"order"`
	Eligible int      `json:"eligible"`
	// Services have the address, as namespace/name; empty when the cluster was not read
	// or has none.
	Services []string `json:"services"`
	// Policy is Cluster or Local.
	Policy string `json:"policy"`
	// Now is who announces it by what MetalLB says; empty is not known.
	Now []string `json:"now"`
	// Endpoints are the ready ones by node; empty is not known, or none.
	Endpoints []NodeCount `json:"endpoints"`

	// order is the whole of Order, and served says that a service has the address.
	order  []string
	served bool
	local  bool
}

// NodeCount is a number of endpoints on a node.
type NodeCount struct {
	Node  string `json:"node"`
	Count int    `json:"count"`
}

// shownOrder is how many of an order are named.
const shownOrder = 3
