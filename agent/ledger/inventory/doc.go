// Package inventory says who claims an address of one segment, from what a
// Proxmox cluster says about itself: guests, nodes, SDN and firewall. It is pure:
// a Snapshot is what was read, by the API (agent/proxmox) or from /etc/pve
// (agent/pvefs), as close to the source as possible; which bridge and tag are
// which segment and who uses which address follows from it here.
package inventory
