package netplan

import (
	"fmt"
	"net/netip"
)

// What stands in a node's kernel, as values that agent/returnpath desires and
// agent/kernel lists. Only IPv4.

// Link is one network link of a node.
type Link struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	// Alias is IFLA_IFALIAS, empty when none is set.
	Alias string `json:"alias,omitempty"`
	// MAC is the current address, zero where the link has none of six bytes.
	MAC MAC `json:"mac"`
	// PermanentMAC is IFLA_PERM_ADDRESS; zero on veth, macvlan, tap and bridge.
	PermanentMAC MAC `json:"permanent_mac,omitzero"`
	// Stacked says that it has a master or a lower link.
	Stacked bool `json:"stacked,omitempty"`
	// Up is the administrative state.
	Up bool `json:"up"`
}

// RuleAction is what a routing rule does with a packet that it matches.
type RuleAction string

// The actions that we use. A listed rule may have another one, by its number.
const (
	ActionLookup      RuleAction = "lookup"
	ActionUnreachable RuleAction = "unreachable"
)

// RouteProtocol says who owns a route or a rule (rtm_protocol, FRA_PROTOCOL).
type RouteProtocol uint8

// Rule is one IPv4 routing rule.
type Rule struct {
	Priority Priority `json:"priority"`
	// Source is 0.0.0.0/0 for "from all".
	Source netip.Prefix `json:"source"`
	// Mark and Mask are zero when the rule does not look at marks.
	Mark   Mark       `json:"mark"`
	Mask   Mask       `json:"mask"`
	Action RuleAction `json:"action"`
	// Table is zero unless Action is lookup.
	Table TableID `json:"table,omitempty"`
	// SuppressDefault says that the lookup passes over default routes
	// (suppress_prefixlength 0), so that the next rule is asked.
	SuppressDefault bool `json:"suppress_default,omitempty"`

	Protocol RouteProtocol `json:"protocol"`
	// Others names every further selector or attribute, for listed rules only;
	// such a rule is never ours.
	Others string `json:"others,omitempty"`
}

// SameEffect says that both do the same with the same packets at the same
// place, whoever owns them.
func (r Rule) SameEffect(o Rule) bool {
	r.Protocol, o.Protocol = 0, 0
	return r == o
}

// String gives the rule as `ip rule add` takes it.
func (r Rule) String() string {
	s := fmt.Sprintf("priority %d", r.Priority)
	if r.Source.IsValid() && r.Source.Bits() > 0 {
		s += " from " + r.Source.String()
	}
	if r.Mask != 0 || r.Mark != 0 {
		s += fmt.Sprintf(" fwmark %s/%s", r.Mark, r.Mask)
	}
	if r.Others != "" {
		s += " " + r.Others
	}
	if r.Action == ActionLookup {
		s = fmt.Sprintf("%s lookup %d", s, r.Table)
		if r.SuppressDefault {
			s += " suppress_prefixlength 0"
		}
		return s
	}
	return s + " " + string(r.Action)
}

// RouteScope is how far a route's destination is away.
type RouteScope string

// The scopes that we use. A listed route may have another one, by its number.
const (
	ScopeGlobal RouteScope = "global"
	ScopeLink   RouteScope = "link"
)

// Route is one IPv4 route.
type Route struct {
	Table TableID `json:"table"`
	// Destination is 0.0.0.0/0 for the default route.
	Destination netip.Prefix `json:"destination"`
	// Gateway is the zero Addr for a route that has none.
	Gateway netip.Addr `json:"gateway,omitzero"`
	// Link is the index of the link that it leaves by, zero when it leaves by none.
	Link     int           `json:"link"`
	Scope    RouteScope    `json:"scope"`
	Metric   uint32        `json:"metric"`
	Protocol RouteProtocol `json:"protocol"`
	// Others names what else the route has (type, several next hops, a preferred
	// source, a dead next hop), for listed routes only; it is never ours.
	Others string `json:"others,omitempty"`
}

// SameEffect says that both lead to the same place, whoever owns them and
// however they are preferred.
func (r Route) SameEffect(o Route) bool {
	r.Protocol, o.Protocol = 0, 0
	r.Metric, o.Metric = 0, 0
	return r == o
}

// String gives the route much as `ip route` prints it, the link by its index.
func (r Route) String() string {
	s := r.Destination.String()
	if r.Destination.Bits() == 0 {
		s = "default"
	}
	if r.Gateway.IsValid() {
		s += " via " + r.Gateway.String()
	}
	s += fmt.Sprintf(" dev #%d table %d", r.Link, r.Table)
	if r.Scope != ScopeGlobal {
		s += " scope " + string(r.Scope)
	}
	if r.Metric != 0 {
		s += fmt.Sprintf(" metric %d", r.Metric)
	}
	if r.Others != "" {
		s += " " + r.Others
	}
	return s
}

// Neighbour is what the kernel knows of an IPv4 neighbour.
type Neighbour struct {
	Link    int        `json:"link"`
	Address netip.Addr `json:"address"`
	// MAC is zero while the neighbour is not resolved.
	MAC MAC `json:"mac,omitzero"`
	// Valid says that the kernel would send to MAC now (NUD_VALID).
	Valid bool `json:"valid"`
	// Permanent says that someone pinned it by hand.
	Permanent bool `json:"permanent,omitempty"`
}

// ReversePath is how a link checks the way back of what it receives: the
// effective values, the higher of "all" and the link's own.
type ReversePath struct {
	// RPFilter is 0 off, 1 strict, 2 loose.
	RPFilter int `json:"rp_filter"`
	// SrcValidMark is 1 when the check uses the packet's mark.
	SrcValidMark int `json:"src_valid_mark"`
}
