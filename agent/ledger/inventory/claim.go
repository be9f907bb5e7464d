package inventory

import "homeward/netplan"

// Kind is what sort of thing claims addresses.
type Kind string

// The kinds of claims.
const (
	GuestConfig   Kind = "guest-config" // a static address in ipconfigN or in a container's netN
	GuestLive     Kind = "guest-live"   // an address that a running guest reports
	GuestFilter   Kind = "guest-filter" // a member of an ipfilter set of a guest
	NodeAddress   Kind = "node"         // an address of a Proxmox host
	DHCPRange     Kind = "dhcp-range"   // what SDN's DHCP hands out
	SDNGateway    Kind = "sdn-gateway"
	SDNIPAM       Kind = "sdn-ipam"
	FirewallSet   Kind = "ipset"
	FirewallAlias Kind = "alias"
	PlanMAC       Kind = "mac" // a guest outside the cluster with one of the plan's MACs
)

// Claim is one address or range that something on the segment uses or was given.
type Claim struct {
	Kind Kind `json:"kind"`
	// Range is what is claimed; the zero Range for a PlanMAC.
	Range netplan.Range `json:"range,omitzero"`
	// Source says where it stands, so that an operator finds it:
	// `VM 113 "db1" on pve2, net1, ipconfig1`. What others named comes fit for a
	// terminal.
	Source string `json:"source"`
	// VMID is the guest's, zero when it is no guest.
	VMID int `json:"vmid,omitempty"`
	// Machine is the plan's machine that the guest is, empty for everybody else.
	Machine string      `json:"machine,omitempty"`
	MAC     netplan.MAC `json:"mac,omitzero"`
	// Pending says that it comes into force at the guest's next start, or when SDN
	// is applied.
	Pending bool `json:"pending,omitempty"`
	// Accept is how an operator names it to say that it may stay (--accept); empty
	// for what is really in use, which may not be accepted.
	Accept string `json:"accept,omitempty"`
	// Remedy says what an operator can do about it.
	Remedy string `json:"remedy,omitempty"`
}
