// Package inventory says who claims an address of one segment, from what a
// Proxmox cluster says about itself: guests, nodes, SDN and firewall. It is pure:
// a Snapshot is what was read, by the API (agent/proxmox) or from /etc/pve
// (agent/pvefs), as close to the source as possible; which bridge and tag are
// which segment and who uses which address follows from it here.
//
//	survey, err := inventory.Take(plan, snapshot)       // who claims what on the plan's segment
//	verdict := inventory.Judge(plan, survey, ipamMAC)   // what of it stands in the plan's way
//
// One segment has many spellings: vmbr0 with tag 30, a node's vmbr0.30, a VNet of a
// vlan zone on vmbr0 with tag 30, any bridge above VLAN 30 of vmbr0's port. What
// they have in common is where their frames come out on a node, so that is what is
// compared, node by node, and never the VLAN id alone.
//
// Nothing is silently absent: what could not be read or understood is in the
// survey's Unread, and with any of it the claims may not be all there are.
package inventory
