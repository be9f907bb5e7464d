package provision

import (
	"fmt"
	"strings"

	"homeward/netplan"
)

// nicModel is the model of every NIC: the one that takes an MTU, and whose
// permanent address the agent finds.
const nicModel = "virtio"

// nic is one network device of a machine.
type nic struct {
	Model string `json:"model"`
	MAC   string `json:"mac"`
	// Bridge is a bridge or a VNet: Proxmox takes both there.
	Bridge string `json:"bridge"`
	// VLAN is nil when untagged, MTU when 1500, so that both can be handed on as
	// they are.
	VLAN     *netplan.VLAN `json:"vlan"`
	MTU      *int          `json:"mtu"`
	Firewall bool          `json:"firewall"`
}

// nics gives a machine's NICs in their order, one or two.
func nics(p *netplan.Plan, m netplan.Machine) []nic {
	out := []nic{newNIC(m.MACs.Cluster, p.Cluster.Segment, p.Cluster.MTU)}
	if m.External && p.External != nil {
		out = append(out, newNIC(m.MACs.External, p.External.Segment, p.External.MTU))
	}
	return out
}

// newNIC has the firewall on: without it no rule of Proxmox counts for the NIC.
func newNIC(mac netplan.MAC, on netplan.Segment, mtu int) nic {
	n := nic{Model: nicModel, MAC: mac.String(), Bridge: on.Bridge, Firewall: true}
	if on.VNet != "" {
		n.Bridge = on.VNet
	}
	if on.VLAN != 0 {
		n.VLAN = &on.VLAN
	}
	if mtu != 0 && mtu != netplan.DefaultMTU {
		n.MTU = &mtu
	}
	return n
}

// option is the value of Proxmox's netN, with the keys in the order in which
// Proxmox writes them back.
func (n nic) option() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%s,bridge=%s", n.Model, n.MAC, n.Bridge)
	if n.Firewall {
		b.WriteString(",firewall=1")
	}
	if n.MTU != nil {
		fmt.Fprintf(&b, ",mtu=%d", *n.MTU)
	}
	if n.VLAN != nil {
		fmt.Fprintf(&b, ",tag=%d", *n.VLAN)
	}
	return b.String()
}
