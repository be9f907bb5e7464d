// Package pvefs reads what a Proxmox host knows without asking its API: the guests,
// firewall and SDN of the whole cluster from /etc/pve, and the interfaces of this
// one node from /etc/network. The result is the same inventory.Snapshot as over the
// API, and what no file says is in its Unread: the interfaces of the other nodes,
// addresses that DHCP gave to this one, an IPAM that is kept in another program.
// What guests report of themselves is in no file either.
//
// It only reads, regular files only, none outside the directories it was given,
// and of each no more than a bounded part.
package pvefs
