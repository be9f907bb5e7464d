// Package pvefs reads what a Proxmox host knows without asking its API: the guests,
// firewall and SDN of the whole cluster from /etc/pve, and the interfaces of this
// one node from /etc/network. The result is the same inventory.Snapshot as over the
// API, and what no file says is in its Unread.
//
// It only reads, regular files only, none outside the directories it was given,
// and of each no more than a bounded part.
package pvefs
