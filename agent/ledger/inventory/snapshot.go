package inventory

import (
	"net/netip"

	"homeward/netplan"
)

// Snapshot is what a Proxmox cluster said. Slices may be in any order and empty;
// what could not be read is in Unread, never silently absent.
type Snapshot struct {
	Guests  []Guest
	Nodes   []Node
	Zones   []Zone
	VNets   []VNet
	Subnets []Subnet
	IPAM    []IPAMEntry
	Sets    []IPSet
	Aliases []Alias
	Unread  []Unread
}

// Unread is a source that could not be read, so that nothing is known of it.
type Unread struct {
	// Source as an operator knows it: `VM 113 on pve2`, `SDN IPAM`.
	Source string `json:"source"`
	// Reason says why, and what right would help where that is it.
	Reason string `json:"reason"`
}

// GuestKind is how a guest runs.
type GuestKind string

// The kinds of guests, as they stand in API paths.
const (
	QEMU GuestKind = "qemu"
	LXC  GuestKind = "lxc"
)

// Guest is a virtual machine or container.
type Guest struct {
	Kind     GuestKind
	VMID     int
	Name     string
	Node     string
	Running  bool
	Template bool
	// Config has the configuration as the server gives it, key to property string
	// ("net1": "virtio=BC:24:...,bridge=vmbr0,tag=1691"), as it is in force now.
	// Only net*, ipconfig*, name and hostname, ostype, agent and tags are read.
	Config map[string]string
	// Pending are keys whose value changes at the next start; a deleted key has
	// the empty string.
	Pending map[string]string
	// Digest is the configuration's, for guarded writes.
	Digest string
	// Live are the addresses that the guest itself reports, where they were asked.
	Live []LiveAddress
}

// LiveAddress is an address on an interface inside a guest.
type LiveAddress struct {
	Interface string
	MAC       netplan.MAC
	Address   netip.Addr
}

// Node is one Proxmox host.
type Node struct {
	Name       string
	Online     bool
	Interfaces []Interface
}

// Interface is a network interface of a node as /nodes/N/network gives it.
type Interface struct {
	Name string
	// Type is bridge, bond, eth, vlan, OVSBridge, vnet and so on.
	Type string
	// Ports are a bridge's; VLANRaw is the device under a VLAN interface, VLAN its
	// tag (also when both follow from a name like eno1.1691).
	Ports   []string
	VLANRaw string
	VLAN    netplan.VLAN
	// Addresses with their prefix lengths, IPv4 only.
	Addresses []netip.Prefix
	VLANAware bool
	// VIDs are the tags a VLAN-aware bridge lets through, "2-4094" by default.
	VIDs string
	// MTU in bytes, zero when not given.
	MTU    int
	Active bool
}

// Zone is an SDN zone. Type is vlan, simple, vxlan, qinq, evpn or localnetwork.
type Zone struct {
	Name, Type, Bridge string
	// DHCP and IPAM are the zone's plugins, empty when none.
	DHCP, IPAM string
}

// VNet is an SDN network.
type VNet struct {
	Name, Zone string
	Tag        int
	Alias      string
	// Pending says that this is not applied yet.
	Pending bool
}

// Subnet is a network of a VNet.
type Subnet struct {
	// ID is the server's name for it: zone-10.0.0.0-24.
	ID, VNet, Zone string
	CIDR           netip.Prefix
	Gateway        netip.Addr
	// DHCP are the ranges that SDN's DHCP hands out.
	DHCP netplan.AddressSet
	// Pending says that this is not applied yet.
	Pending bool
}

// IPAMEntry is one address in an SDN IPAM.
type IPAMEntry struct {
	Address      netip.Addr
	MAC          netplan.MAC
	VMID         int
	Hostname     string
	Zone, Subnet string
	VNet         string
	Gateway      bool
}

// IPSet is a named set of addresses of the firewall.
type IPSet struct {
	// Scope is "cluster", or a guest's source name for a set of its own.
	Scope string
	// VMID is the guest's of a guest's set, zero for the cluster's.
	VMID          int
	Name, Comment string
	Members       []Member
}

// Member is one line of a set.
type Member struct {
	// CIDR as the server gives it: an address, a prefix, or an alias's name.
	CIDR    string
	Comment string
	NoMatch bool
}

// Alias is a named address of the firewall.
type Alias struct {
	// Scope and VMID as of an IPSet.
	Scope         string
	VMID          int
	Name, Comment string
	// CIDR may be IPv6, which claims nothing here, but which a set may name.
	CIDR netip.Prefix
}
