package report

import (
	"fmt"
	"strings"

	"homeward/netplan"
)

// externalVIP says that the API's VIP is on the external link.
func (m *model) externalVIP() bool { return m.Plan.KubeAPI.Link == netplan.LinkExternal }

// outside are the effects of losing the external network.
func (m *model) outside() Effects {
	e := Effects{Ingress: Absent, API: Stays, Config: Absent}
	if m.hasPool() {
		e.Ingress, e.Config = Lost, Stays
	}
	if m.externalVIP() {
		e.API, e.Config = Lost, m.poolOr(Lost)
	}
	return e
}

func (m *model) failGateways() []Failure {
	var list []Failure
	if e := m.Plan.External; e != nil {
		f := Failure{Kind: FailGateway, Subject: "the external gateway " + e.Gateway.String(), Effects: m.outside()}
		f.Expected = fmt.Sprintf("Clients behind it no longer reach %s. No machine of the cluster can take its place: all replies leave by this one address. Clients in %s itself are still answered.",
			m.promised(), e.CIDR)
		f.Remains = "Whether two routers share the address (VRRP or the like) is not in the plan. " + m.anchors()
		list = append(list, f)
	}
	f := Failure{Kind: FailPrivateGateway, Effects: Effects{Ingress: m.poolOr(Stays), API: Stays, Config: m.poolOr(Stays)}}
	dynamic := m.named(func(x netplan.Machine) bool { return !x.Address.IsValid() })
	f.Subject = "the private gateway"
	if m.Plan.Cluster.Gateway.IsValid() {
		f.Subject += " " + m.Plan.Cluster.Gateway.String()
	}
	f.Expected = "What the machines fetch from outside (images, updates, names) is away."
	if m.Plan.External != nil {
		f.Expected += " Replies to external clients do not use it."
	} else {
		f.Expected += " Clients that reach the API through it are cut off."
		f.API = Lost
	}
	f.Remains = "Every machine has a static private address."
	if len(dynamic) > 0 {
		f.Subject += ", or the DHCP server of " + m.Plan.Cluster.CIDR.String()
		f.Remains = fmt.Sprintf("%s of %d have their private address by DHCP: when a lease ends unrenewed, or a machine starts, etcd and the kubelet there lose their address.", counted(len(dynamic), "machine"), len(m.Plan.Machines))
	}
	return append(list, f)
}

func (m *model) poolOr(e Effect) Effect {
	if m.hasPool() {
		return e
	}
	return Absent
}

// promised names what clients use on the external link.
func (m *model) promised() string {
	text := ""
	if m.hasPool() {
		text = fmt.Sprintf("the pool (%s)", counted(m.Plan.External.IngressPool.Count(), "address"))
	}
	if m.externalVIP() {
		if text != "" {
			text += " and "
		}
		text += "the API's VIP " + m.Plan.KubeAPI.VIP.String()
	}
	if text == "" {
		text = "the machines' external addresses"
	}
	return text
}

// anchors says how many machines a gateway has to answer though their only address
// on the link is an anchor.
func (m *model) anchors() string {
	bare := m.named(func(x netplan.Machine) bool { return m.Plan.RepliesExternally(x) && !x.ExternalAddress.IsValid() })
	if len(bare) == 0 {
		return "Every machine that replies there has a real external address, so any gateway answers it."
	}
	text := fmt.Sprintf("%d machines that reply there have only an anchor of %s: some gateways ignore an ARP request from such a sender. ", len(bare), m.Plan.External.AnchorCIDR)
	if len(bare) == 1 {
		text = fmt.Sprintf("%s replies there with only its anchor %s: some gateways ignore an ARP request from such a sender. ", bare[0], m.anchorOf(bare[0]))
	}
	if m.Plan.ReturnPath != nil && m.Plan.ReturnPath.Pod == netplan.PodAgent {
		return text + "The agent finds such a gateway all the same, but replies then stop when it is away for more than about 20 s."
	}
	return text + "The nft pod cannot help with such a gateway: not one reply would leave."
}

func (m *model) anchorOf(name string) string {
	for _, x := range m.Plan.Machines {
		if x.Name == name {
			return x.Anchor.String()
		}
	}
	return ""
}

func (m *model) failSegments() []Failure {
	var list []Failure
	private := Failure{Kind: FailPrivateSegment, Subject: "the private network: " + m.Plan.Cluster.Segment.String()}
	private.Effects = Effects{Ingress: m.poolOr(Lost), API: Lost, Config: m.poolOr(Lost)}
	private.Expected = fmt.Sprintf("All %d machines lose each other: etcd has no quorum anywhere, and the speakers cannot see who else is there, so that several may announce one address.", len(m.Plan.Machines))
	private.Remains = "The bridge on each host, the switches between them, and their configuration of that VLAN."
	if len(m.Plan.Machines) == 1 {
		private.Effects = Effects{Ingress: m.poolOr(Stays), API: Stays, Config: m.poolOr(Stays)}
		private.Expected = "One machine has nobody to lose, but its default route."
	}
	e := m.Plan.External
	if e == nil {
		return append(list, private)
	}
	f := Failure{Kind: FailSegment, Subject: "the external network: " + e.Segment.String(), Effects: m.outside()}
	f.Expected = fmt.Sprintf("All %s lose it together, and nobody reaches %s. The rules of the return path make such replies unreachable, so none leaves by the private NIC.", counted(len(m.named(func(x netplan.Machine) bool { return x.External })), "external NIC"), m.promised())
	f.Remains = m.uplinkText()
	list = append(list, f, private)
	return append(list, m.failSwitch())
}

// uplinkText says by what the hosts reach the external segment.
func (m *model) uplinkText() string {
	var single []string
	known := 0
	for _, h := range m.hosts {
		ports := m.uplinks(h)
		if len(ports) > 0 {
			known++
		}
		if len(ports) == 1 && !m.bonded(h, ports[0]) {
			single = append(single, h+" by "+ports[0])
		}
	}
	if known == 0 {
		return "The VLAN on every switch between the hosts and the gateway. By which ports the hosts reach it is not known."
	}
	text := fmt.Sprintf("The VLAN on every switch between the hosts and the gateway. Of %s with the bridge read, %d have it on one port that is no bond", counted(known, "host"), len(single))
	if len(single) > 0 {
		text += " (" + some(single) + "): its cable or switch port cuts the host's announcers off, and their speakers do not notice, for they see each other on the private network"
	}
	return text + "."
}

// bonded says that a port of a host is a bond of several.
func (m *model) bonded(host, port string) bool {
	for _, n := range m.Snapshot.Nodes {
		for _, i := range n.Interfaces {
			if n.Name == host && i.Name == port && (i.Type == "bond" || i.Type == "OVSBond") {
				return true
			}
		}
	}
	return strings.HasPrefix(port, "bond")
}

func (m *model) failSwitch() Failure {
	e := m.Plan.External
	f := Failure{Kind: FailSwitch, Subject: "a switch that all hosts share", Effects: m.outside()}
	f.Effects = Effects{Ingress: m.poolOr(Lost), API: Lost, Config: m.poolOr(Lost)}
	if e.Name() == m.Plan.Cluster.Name() {
		f.Expected = fmt.Sprintf("Both NICs of every machine are on %s, so its switch carries the external and the private network: all is away at once.", e.Name())
		f.Remains = "A second path to that bridge on every host (a bond over two switches)."
		return f
	}
	f.Expected = fmt.Sprintf("If one switch carries both %s and %s, all is away at once; if each has its own, only what is said for that network.", e.Name(), m.Plan.Cluster.Name())
	f.Remains = "Which switches carry the two bridges is not in the plan, nor in Proxmox."
	return f
}
