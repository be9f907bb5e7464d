package guests

import (
	"net/netip"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// nicModel is the model of every NIC: the one that takes an MTU, and whose
// permanent address the agent finds.
const nicModel = "virtio"

// The NICs' indexes where no NIC has the plan's MAC.
const (
	privateIndex  = 0
	externalIndex = 1
)

// Desired is what one machine's guest should have.
type Desired struct {
	// Owner marks what is ours: two clusters of one name have different owners.
	Owner   ledger.Owner
	Machine netplan.Machine
	Private Card
	// External has no MAC for a machine without that NIC.
	External Card
	// Members are what the external NIC may send from, ascending; empty without
	// that NIC.
	Members []Member
	// PrivateMembers are what the private NIC must be able to send from, as far as
	// the plan knows it; a filter there is not ours to change.
	PrivateMembers []Member
	// Openings are what may come in; nil where the plan restricts nothing, and
	// then neither rules nor the guest's firewall are ours to change.
	Openings []Opening
}

// Card is one NIC.
type Card struct {
	MAC netplan.MAC
	// Bridge is a bridge's or a VNet's name: Proxmox takes both there.
	Bridge string
	Tag    netplan.VLAN
	// MTU in bytes.
	MTU int
	// Index is the N of netN where no NIC has the MAC.
	Index int
}

// Member is one member of an ipfilter set and what it is for.
type Member struct {
	Prefix netip.Prefix
	For    string
}

// What members are for, as their comments say it.
const (
	forPool    = "ingress"
	forVIP     = "kubeapi"
	forAnchor  = "anchor"
	forAddress = "address"
	forFilter  = "ipfilter"
)

// For gives what the guest of one of the plan's machines should have.
func For(p *netplan.Plan, m netplan.Machine, owner ledger.Owner) Desired {
	d := Desired{Owner: owner, Machine: m, Private: card(m.MACs.Cluster, p.Cluster.Segment, p.Cluster.MTU, privateIndex)}
	if m.External && p.External != nil {
		d.External = card(m.MACs.External, p.External.Segment, p.External.MTU, externalIndex)
		d.Members = members(p, m)
	}
	if m.Address.IsValid() {
		d.PrivateMembers = append(d.PrivateMembers, Member{single(m.Address), forAddress})
	}
	if p.KubeAPI.Link == netplan.LinkCluster && m.Role == netplan.RoleControlPlane {
		d.PrivateMembers = append(d.PrivateMembers, Member{single(p.KubeAPI.VIP), forVIP})
	}
	if len(p.Security) > 0 {
		d.Openings = openings(p, m)
	}
	return d
}

// Governs says that the guest's firewall is ours to switch on: the plan restricts
// who may come in.
func (d Desired) Governs() bool { return d.Openings != nil }

func (d Desired) hasExternal() bool { return !d.External.MAC.IsZero() }

func card(mac netplan.MAC, on netplan.Segment, mtu, index int) Card {
	if mtu == 0 {
		mtu = netplan.DefaultMTU
	}
	return Card{MAC: mac, Bridge: on.Name(), Tag: on.VLAN, MTU: mtu, Index: index}
}
