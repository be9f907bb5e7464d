package talosgen

import (
	"net/netip"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"

	"homeward/netplan"
)

// Ports that DHCP and MetalLB fix.
const (
	portDHCPClient = 68
	portMemberlist = 7946
)

// firewallPrefix begins the name of each of our NetworkRuleConfigs.
const firewallPrefix = "homeward-"

// everywhere is who may reach a port that no allowlist restricts.
var everywhere = []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}

// firewallSet is what decides which openings a machine has: a DHCP client on the
// private link, and the Kubernetes API.
type firewallSet struct{ dhcp, kubernetes bool }

// firewallRules are the openings in a firewall that blocks by default, in a fixed
// order. Rules match source and port, never an interface.
func firewallRules(p *netplan.Plan, set firewallSet) []*network.RuleConfigV1Alpha1 {
	inside := []netip.Prefix{p.Cluster.CIDR, p.Kubernetes.PodCIDR, p.Kubernetes.ServiceCIDR}
	private := []netip.Prefix{p.Cluster.CIDR}
	rules := []*network.RuleConfigV1Alpha1{
		firewallRule("inside-tcp", nethelpers.ProtocolTCP, network.PortRange{Lo: 1, Hi: 65535}, inside),
		firewallRule("inside-udp", nethelpers.ProtocolUDP, network.PortRange{Lo: 1, Hi: 65535}, inside),
		// Said although inside-* covers it: without it MetalLB's speakers declare
		// each other dead, whatever an operator narrows above.
		firewallRule("memberlist-tcp", nethelpers.ProtocolTCP, onePort(portMemberlist), private),
		firewallRule("memberlist-udp", nethelpers.ProtocolUDP, onePort(portMemberlist), private),
	}
	if set.dhcp {
		// A relay answers from wherever the server stands.
		rules = append(rules, firewallRule("dhcp", nethelpers.ProtocolUDP, onePort(portDHCPClient), everywhere))
	}
	rules = append(rules, firewallRule("talos", nethelpers.ProtocolTCP, onePort(netplan.PortTalosAPI), allowed(p, netplan.AllowTalos)))
	if set.kubernetes {
		rules = append(rules, firewallRule("kubernetes", nethelpers.ProtocolTCP, onePort(netplan.PortKubernetesAPI), allowed(p, netplan.AllowKubernetes)))
	}
	rules = append(rules,
		firewallRule("http", nethelpers.ProtocolTCP, onePort(netplan.PortHTTP), allowed(p, netplan.AllowHTTP)),
		firewallRule("https", nethelpers.ProtocolTCP, onePort(netplan.PortHTTPS), allowed(p, netplan.AllowHTTPS)),
	)
	rules = append(rules, namedPorts(p)...)
	// An allowlist without hosts lets nobody in: no rule says so. One without
	// sources would be asking how Talos reads an empty list.
	return slices.DeleteFunc(rules, func(r *network.RuleConfigV1Alpha1) bool { return len(r.Ingress) == 0 })
}

// namedPorts are the ports that the operator names besides the known four.
func namedPorts(p *netplan.Plan) []*network.RuleConfigV1Alpha1 {
	var rules []*network.RuleConfigV1Alpha1
	for _, allow := range p.Security {
		switch allow.Name {
		case netplan.AllowKubernetes, netplan.AllowTalos, netplan.AllowHTTP, netplan.AllowHTTPS:
			continue
		}
		rules = append(rules, firewallRule("port-"+allow.Name, nethelpers.ProtocolTCP, onePort(uint16(allow.Port)), prefixes(allow)))
	}
	return rules
}

// allowed gives who may reach one of the four known ports: everyone, unless an
// allowlist of that name says who.
func allowed(p *netplan.Plan, name string) []netip.Prefix {
	for _, allow := range p.Security {
		if allow.Name == name {
			return prefixes(allow)
		}
	}
	return everywhere
}

func prefixes(allow netplan.Allow) []netip.Prefix {
	out := []netip.Prefix{}
	for _, host := range allow.Hosts {
		out = append(out, host.Prefix)
	}
	return out
}

func onePort(port uint16) network.PortRange { return network.PortRange{Lo: port, Hi: port} }

func firewallRule(name string, protocol nethelpers.Protocol, ports network.PortRange, from []netip.Prefix) *network.RuleConfigV1Alpha1 {
	doc := network.NewRuleConfigV1Alpha1()
	doc.MetaName = firewallPrefix + name
	doc.PortSelector.Protocol = protocol
	doc.PortSelector.Ports = network.PortRanges{ports}
	doc.Ingress = network.IngressConfig{}
	for _, prefix := range from {
		doc.Ingress = append(doc.Ingress, network.IngressRule{Subnet: prefix})
	}
	return doc
}

// blocking writes a firewall that lets in only what the rules say.
func (s *stream) blocking(rules []*network.RuleConfigV1Alpha1) {
	doc := network.NewDefaultActionConfigV1Alpha1()
	doc.Ingress = nethelpers.DefaultActionBlock
	s.add(doc)
	for _, rule := range rules {
		s.add(rule)
	}
}
