// Package pvesim is a simulator of the Proxmox VE 9.2 API: enough of it to reserve
// addresses, take inventories and change guests, with the errors, races and faults
// of the real one. It is meant for tests (without sockets, by Sim.Transport, or on
// sockets with TLS, by Site.Listen) and for script authors, by `homeward lab
// proxmox`.
//
// # State
//
// A State is a whole cluster as a value: cheap to copy, to compare and to hash,
// and saved as JSON. Firewall files are kept as the text that the server would
// write, and every write renders and reads that text back, so that what a newline
// in a comment or two names that differ in case do here is what they do there.
//
// # The schema
//
// Every request is checked against schema.json: names, types, bounds, patterns and
// formats of parameters, and the permission a method needs. The table was made
// from the JSON that Proxmox VE's own API viewer loads (pve-docs' apidoc.js, or
// `pvesh` on a node), and holds of each method that is served: verb, path, the
// parameter that names the node that answers, the permission rule, and the
// parameters' definitions without any text for people. Equal definitions stand
// once; where two methods have one name with different definitions the second is
// NAME#2. Removing, starting and stopping a guest have no parameters that only
// migrations use. Perl's (?^: in patterns became (?:. Of the property strings only netN's
// and the agent's have their keys, because the others' values do not matter here.
// A later version of Proxmox VE is taken over by making the table anew.
//
// What is not in the table is refused with status 501 and counted in Sim.Unknown.
//
// # Limits
//
//   - One kind of authentication: API tokens, which have the rights of their grants.
//     There are no users, groups, tickets or realms; Permissions.Modify on a path
//     lets nobody change grants.
//   - Guests are made, started, stopped and deleted at once. They are not moved,
//     cloned, restored or shut down, their disks are text, and what a real task would
//     say failed is refused before there is one. A container that was started over
//     the API has the addresses of its configuration; what is inside a VM only a
//     State says. A running VM always lets a NIC go that is taken from it, and IPAM
//     keeps the addresses of guests that are gone.
//   - Nothing filters: firewall rules, sets and options are kept and checked, not
//     applied. Of rules the parts are checked that need each other, and that what
//     they refer to exists; names of services, macros and ICMP types are not.
//   - Storage, backup, HA, Ceph, users, certificates and node administration are not
//     there, nor are changes to a node's interfaces. Numbers such as memory and
//     uptime are made up.
//   - SDN: zones, VNets, subnets and the built-in IPAM. Controllers, DNS, fabrics,
//     other IPAMs and the SDN lock are not; the dry run is not. Applying takes no
//     time, and a node whose reload failed is one that the State says so of.
//   - Tasks have ended, well, as soon as their name is known.
//   - A line in a set's section that is neither address nor name is passed over; the
//     real server makes of it whatever its last regular expression left behind.
//   - The numbers of digests are not those of a real server, though they cover what
//     those cover: the list for sets, aliases and rules, the object for options, the
//     file for guests and SDN.
package pvesim
