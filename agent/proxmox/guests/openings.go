package guests

import (
	"net/netip"
	"strconv"

	"homeward/netplan"
)

// Opening is one thing that may come in.
type Opening struct {
	// For is what it is for, as the rule's comment says it: "talos/office".
	For string
	// Proto is tcp, udp or icmp; empty is everything.
	Proto string
	// Port and FromPort are the destination and source port, zero for any.
	Port, FromPort int
	// Source is who; the zero Prefix is everyone.
	Source netip.Prefix
	// Private limits it to the private NIC.
	Private bool
}

// The ports of a DHCP server and its client.
const (
	portDHCPServer = 67
	portDHCPClient = 68
)

// openings are what may come in at a machine, in a fixed order: what the cluster
// itself needs, then the plan's allowlists. They mean what Talos's own firewall
// makes of the same allowlists.
func openings(p *netplan.Plan, m netplan.Machine) []Opening {
	// On the private NIC alone: a neighbour on the external link could send from
	// the same addresses, and into the pods' overlay too.
	out := []Opening{
		{For: "private", Source: p.Cluster.CIDR, Private: true},
		// Where pods are routed and not tunnelled they come with their own address.
		{For: "pods", Source: p.Kubernetes.PodCIDR, Private: true},
		{For: "icmp", Proto: "icmp"},
	}
	if !m.Address.IsValid() {
		// A relay answers from wherever the server stands.
		out = append(out, Opening{For: "dhcp", Proto: "udp", Port: portDHCPClient, FromPort: portDHCPServer, Private: true})
	}
	out = append(out, allowed(p, netplan.AllowTalos, netplan.PortTalosAPI)...)
	if m.Role == netplan.RoleControlPlane {
		if m.External {
			// Nodes that call the API by an address on the external link go through
			// their gateway, and so come in by the external NIC.
			out = append(out, Opening{For: "kubernetes/nodes", Proto: "tcp", Port: netplan.PortKubernetesAPI, Source: p.Cluster.CIDR})
		}
		out = append(out, allowed(p, netplan.AllowKubernetes, netplan.PortKubernetesAPI)...)
	}
	out = append(out, allowed(p, netplan.AllowHTTP, netplan.PortHTTP)...)
	out = append(out, allowed(p, netplan.AllowHTTPS, netplan.PortHTTPS)...)
	for _, allow := range p.Security {
		switch allow.Name {
		case netplan.AllowTalos, netplan.AllowKubernetes, netplan.AllowHTTP, netplan.AllowHTTPS:
		default:
			out = append(out, listed(allow)...)
		}
	}
	return out
}

// allowed opens one of the four known ports: to everyone, unless an allowlist of
// that name says to whom.
func allowed(p *netplan.Plan, name string, port int) []Opening {
	for _, allow := range p.Security {
		if allow.Name == name {
			return listed(allow)
		}
	}
	return []Opening{{For: name, Proto: "tcp", Port: port}}
}

func listed(allow netplan.Allow) []Opening {
	out := make([]Opening, 0, len(allow.Hosts))
	for _, host := range allow.Hosts {
		o := Opening{For: word(allow.Name) + "/" + word(host.Name), Proto: "tcp", Port: allow.Port}
		if host.Prefix.Bits() > 0 {
			o.Source = host.Prefix
		}
		out = append(out, o)
	}
	return out
}

// rule is the opening as a rule of the guest's firewall. private is the private
// NIC's key, net0.
func (o Opening) rule(m mark, private string) Rule {
	r := Rule{Type: "in", Action: "ACCEPT", Enable: true, Proto: o.Proto, Comment: m.comment(o.For)}
	if o.Port != 0 {
		r.DPort = strconv.Itoa(o.Port)
	}
	if o.FromPort != 0 {
		r.SPort = strconv.Itoa(o.FromPort)
	}
	if o.Source.IsValid() {
		r.Source = canonical(o.Source)
	}
	if o.Private {
		r.Iface = private
	}
	return r
}
