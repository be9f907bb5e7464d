package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"homeward/agent/ledger"
)

// Holding is what an owner has at a cloud, and what of it is kept for a plan.
type Holding struct {
	Owner   ledger.Owner
	Project string
	// External is the network of the floating IPs; no ID where the plan's is not there.
	External Network
	// Network, Subnet, Router and Group are nil while they are to be made. Plug is the
	// router's interface in the subnet.
	Network *Network
	Subnet  *Subnet
	Router  *Router
	Plug    *Port
	Group   *Group
	// Ports are those of the plan that are there, Floating those of the reserved ones.
	Ports    map[Use]*Port
	Floating map[Use]*FloatingIP
	// Spare is what is the owner's and not needed, and used by nobody.
	Spare Spare
	// Left is what is the owner's and not needed, but used: it stays.
	Left []Left
	// Conflicts stand against the plan; Warnings do not.
	Conflicts []Conflict
	Warnings  []string

	// claimed are floating IPs that the plan names and that others announced to take as
	// well; first says that we go before them.
	claimed []FloatingIP
	first   bool

	mu sync.Mutex // while steps run side by side
}

// Spare are objects that go.
type Spare struct {
	Networks []Network
	Subnets  []Subnet
	Routers  []Router
	// Plugs are interfaces of routers of the owner's.
	Plugs  []Port
	Groups []Group
	Ports  []Port
	// Floating are the owner's; Adopted the operator's, which are taken off only.
	Floating []FloatingIP
	Adopted  []FloatingIP
}

// Left is an object that should go and is in use.
type Left struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name,omitempty"`
	ID      string `json:"id"`
	Message string `json:"message"`
}

// holder is any object.
type holder interface{ object() Object }

// markOf reads an object's mark where that is the owner's.
func (h *Holding) markOf(o Object) (Mark, bool) {
	m, err := ParseMark(o.Description)
	return m, err == nil && m.Owner == h.Owner
}

// ours are the objects of a use, the oldest first.
func ours[T holder](h *Holding, list []T, use Use) []T {
	var found []T
	for _, x := range list {
		if m, ok := h.markOf(x.object()); ok && m.Use == use {
			found = append(found, x)
		}
	}
	slices.SortFunc(found, older)
	return found
}

func older[T holder](a, b T) int {
	switch {
	case a.object().before(b.object()):
		return -1
	case b.object().before(a.object()):
		return 1
	}
	return 0
}

// Resolve says what of what there is is the owner's and kept, what is the owner's and
// goes, and what stands against the plan. It changes nothing.
func Resolve(d Desired, a *Actual) *Holding {
	h := &Holding{Owner: d.Owner, Project: a.Project, Ports: map[Use]*Port{}, Floating: map[Use]*FloatingIP{}}
	h.external(d, a)
	h.network(d, a)
	h.subnet(d, a)
	h.router(d, a)
	h.group(d, a)
	h.ports(d, a)
	h.floating(d, a)
	return h
}

func (h *Holding) external(d Desired, a *Actual) {
	var found []Network
	names := make([]string, 0, len(a.External))
	for _, n := range a.External {
		if n.ID == d.External {
			h.External = n
			return
		}
		if n.Name == d.External {
			found = append(found, n)
		}
		names = append(names, n.Name)
	}
	const path = "openstack.external_net"
	switch len(found) {
	case 1:
		h.External = found[0]
	case 0:
		slices.Sort(names)
		h.Conflicts = append(h.Conflicts, Conflict{Blame: Wrong, Kind: KindNetwork, Name: d.External,
			Message: fmt.Sprintf("%s: there is no external network %s", path, d.External), Remedy: "give one of " + cmp.Or(strings.Join(names, ", "), "those that the project sees, which is none now")})
	default:
		h.Conflicts = append(h.Conflicts, Conflict{Blame: Wrong, Kind: KindNetwork, Name: d.External,
			Message: fmt.Sprintf("%s: %d external networks are called %s", path, len(found), d.External), Remedy: "give the id of one: " + found[0].ID + " or " + found[1].ID})
	}
}

// network keeps the one that is used, else one that has a floating IP, else the oldest:
// one that came late is not built on.
func (h *Holding) network(d Desired, a *Actual) {
	found := ours(h, a.Networks, Use{For: ForNetwork})
	slices.SortStableFunc(found, func(x, y Network) int {
		return cmp.Or(cmp.Compare(rank(h.inUse(x, a)), rank(h.inUse(y, a))), cmp.Compare(rank(h.served(x, a)), rank(h.served(y, a))))
	})
	namesakes(h, KindNetwork, d.Name, a.Networks, len(found) > 0)
	for i, n := range found {
		switch {
		case i == 0:
			h.Network = &n
		case h.inUse(n, a):
			h.leave(KindNetwork, n.Object, "a second network of this cluster, and in use")
		default:
			h.Spare.Networks = append(h.Spare.Networks, n)
		}
	}
	if h.Network != nil && h.Network.NoPortSecurity {
		h.Conflicts = append(h.Conflicts, conflict(KindNetwork, h.Network.Object, "switch it on (openstack network set --enable-port-security "+h.Network.ID+"), or release and reserve again",
			"%s has no port security, so its ports take neither security groups nor address pairs", named(KindNetwork, h.Network.Object)).wrong())
	}
}

// rank sorts what is used before what is not.
func rank(used bool) int {
	if used {
		return 0
	}
	return 1
}

// served says that a port of the owner's on a network has a floating IP of the owner's.
func (h *Holding) served(n Network, a *Actual) bool {
	return slices.ContainsFunc(a.Floating, func(f FloatingIP) bool {
		_, mine := h.markOf(f.Object)
		return (mine || h.tagged(f)) && slices.ContainsFunc(a.Ports, func(p Port) bool {
			_, ours := h.markOf(p.Object)
			return ours && p.ID == f.PortID && p.NetworkID == n.ID
		})
	})
}

// inUse says that something hangs on a network that is not the owner's, or that a
// port of the owner's there is used.
func (h *Holding) inUse(n Network, a *Actual) bool {
	return slices.ContainsFunc(a.Ports, func(p Port) bool { return p.NetworkID == n.ID && h.engaged(&p, a) })
}

// engaged says that a port on a network of the owner's is somebody else's, or used.
func (h *Holding) engaged(p *Port, a *Actual) bool {
	if _, ok := h.markOf(p.Object); ok {
		return p.used()
	}
	if p.routers() {
		return !slices.ContainsFunc(ours(h, a.Routers, Use{For: ForRouter}), func(r Router) bool { return r.ID == p.DeviceID })
	}
	return !p.servant()
}

// namesakes tells of objects with our name that are not ours: a conflict while we
// have none of our own, which could not be told apart by name.
func namesakes[T holder](h *Holding, kind Kind, name string, list []T, have bool) {
	for _, x := range list {
		o := x.object()
		if _, ok := h.markOf(o); ok || o.Name != name {
			continue
		}
		c := namesake(kind, o, h.Owner)
		if have {
			h.Warnings = append(h.Warnings, c.Message)
		} else {
			h.Conflicts = append(h.Conflicts, c)
		}
	}
}

func (h *Holding) leave(kind Kind, o Object, format string, args ...any) {
	h.Left = append(h.Left, Left{kind, o.Name, o.ID, named(kind, o) + " stays: " + fmt.Sprintf(format, args...)})
}

// subnet keeps the one of the plan's prefix; a network has a prefix once.
func (h *Holding) subnet(d Desired, a *Actual) {
	var other *Subnet
	for _, s := range ours(h, a.Subnets, Use{For: ForSubnet}) {
		switch {
		case slices.ContainsFunc(h.Spare.Networks, func(n Network) bool { return n.ID == s.NetworkID }):
			h.Spare.Subnets = append(h.Spare.Subnets, s)
		case h.Network == nil || s.NetworkID != h.Network.ID:
		case s.CIDR == d.Subnet.CIDR:
			h.Subnet = &s
		default:
			other = &s
		}
	}
	switch {
	case h.Subnet != nil:
		h.checkGateway(d)
	case other != nil:
		h.Conflicts = append(h.Conflicts, conflict(KindSubnet, other.Object, fmt.Sprintf("give %s, or take the machines down, release and reserve again", other.CIDR),
			"network.cidr: it is %s, and the cluster's network has %s: a network's addresses cannot be changed", d.Subnet.CIDR, other.CIDR).at(other.CIDR.String()).wrong())
	case h.Network != nil:
		h.overlapping(d, a)
	}
}

// subnetID is the subnet's, empty while there is none.
func (h *Holding) subnetID() string {
	if h.Subnet == nil {
		return ""
	}
	return h.Subnet.ID
}

// overlapping tells of subnets on the cluster's network that stand in the way.
func (h *Holding) overlapping(d Desired, a *Actual) {
	for _, s := range a.Subnets {
		if _, ok := h.markOf(s.Object); !ok && s.NetworkID == h.Network.ID && s.CIDR.Overlaps(d.Subnet.CIDR) {
			h.Conflicts = append(h.Conflicts, conflict(KindSubnet, s.Object, "delete it, or choose another network.cidr",
				"%s has %s on this cluster's network: %s", named(KindSubnet, s.Object), s.CIDR, whose(s.Object, h.Owner)).at(s.CIDR.String()))
		}
	}
}

func (h *Holding) checkGateway(d Desired) {
	if s := h.Subnet; s != nil && s.Gateway.IsValid() && s.Gateway != d.Subnet.Gateway {
		h.Conflicts = append(h.Conflicts, conflict(KindSubnet, s.Object, fmt.Sprintf("give %s, or take the machines down, release and reserve again", s.Gateway),
			"the plan has gateway %s, and the cluster's network has %s", d.Subnet.Gateway, s.Gateway).at(s.Gateway.String()).wrong())
	}
}
