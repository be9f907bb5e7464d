package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"homeward/netplan"
)

// Rule is one rule of a security group. Two with equal fields are one to Neutron,
// whatever their descriptions.
type Rule struct {
	// Egress is the other direction.
	Egress bool
	// V6 is the other ethertype.
	V6 bool
	// Protocol is tcp, udp, icmp or another name or number; empty is every one.
	Protocol string
	// From and To are the destination ports; zero for any.
	From, To int
	// Source is where it comes from, or with Egress goes to; the zero Prefix is
	// anywhere.
	Source netip.Prefix
	// Group is the id of the group whose ports it comes from, or Self.
	Group string
	// Other says that the rule has what no rule of ours has, an address group: it
	// equals none of ours.
	Other bool
}

// Self stands for the id of the group that the rule is in, which a desired rule
// cannot know.
const Self = "self"

// DesiredRule is a rule with what it is for, "talos/office".
type DesiredRule struct {
	Rule
	For string
}

// String is a line of a dry run: "tcp 6443 from 198.51.100.0/24 (kubernetes/office)".
func (r DesiredRule) String() string {
	return fmt.Sprintf("%s (%s)", r.Rule, r.For)
}

// String says what the rule lets through.
func (r Rule) String() string {
	text := cmp.Or(r.Protocol, "everything")
	if r.From != 0 || r.To != 0 {
		text += fmt.Sprintf(" %d", r.From)
		if r.To != r.From {
			text += fmt.Sprintf("-%d", r.To)
		}
	}
	way := " from "
	if r.Egress {
		way = " to "
	}
	switch {
	case r.Group != "":
		return text + way + "the group's own ports"
	case r.Source.IsValid():
		return text + way + r.Source.String()
	}
	return text + way + "anywhere"
}

// rulesOf are the rules of a plan's group, in a fixed order and each once:
//
//	everything  out         to anywhere
//	everything  in          from the group itself: nodes and what they announce
//	icmp        in          from anywhere: a path's MTU is found by it
//	tcp 80      in          from anywhere, or where security.http allows
//	tcp 443     in          from anywhere, or where security.https allows
//	tcp 6443    in          where security.kubernetes allows, nowhere without
//	tcp 50000   in          where security.talos allows, nowhere without
//	tcp PORT    in          where the operator's own allowlists allow
func rulesOf(p *netplan.Plan) []DesiredRule {
	list := []DesiredRule{
		{Rule{Egress: true}, "egress"},
		{Rule{Group: Self}, "cluster"},
		{Rule{Protocol: "icmp"}, "icmp"},
	}
	for _, web := range []struct {
		name string
		port int
	}{{netplan.AllowHTTP, netplan.PortHTTP}, {netplan.AllowHTTPS, netplan.PortHTTPS}} {
		if !slices.ContainsFunc(p.Security, func(a netplan.Allow) bool { return a.Name == web.name }) {
			list = append(list, DesiredRule{tcp(web.port, netip.Prefix{}), web.name})
		}
	}
	for _, allow := range p.Security {
		for _, host := range allow.Hosts {
			list = append(list, DesiredRule{tcp(allow.Port, host.Prefix), allow.Name + "/" + host.Name})
		}
	}
	var once []DesiredRule
	for _, r := range list {
		if !slices.ContainsFunc(once, func(o DesiredRule) bool { return o.Rule == r.Rule }) {
			once = append(once, r)
		}
	}
	return once
}

// tcp lets one port in. 0.0.0.0/0 is Neutron's word for no prefix at all.
func tcp(port int, source netip.Prefix) Rule {
	if source.Bits() <= 0 {
		source = netip.Prefix{}
	}
	return Rule{Protocol: "tcp", From: port, To: port, Source: source}
}

// shut are the ports of the plan that nobody outside can reach, with the allowlist
// that would open each.
func shut(p *netplan.Plan) []string {
	var list []string
	for _, known := range []struct {
		name string
		port int
	}{{netplan.AllowKubernetes, netplan.PortKubernetesAPI}, {netplan.AllowTalos, netplan.PortTalosAPI}} {
		if !slices.ContainsFunc(p.Security, func(a netplan.Allow) bool { return a.Name == known.name }) {
			list = append(list, fmt.Sprintf("port %d lets nobody in from outside the cluster: security.%s says who may", known.port, known.name))
		}
	}
	return list
}
