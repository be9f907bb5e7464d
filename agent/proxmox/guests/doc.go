// Package guests brings the virtual machines of the cluster to what the plan
// needs of Proxmox: both NICs on their segments, an ipfilter set through which the
// announcements pass, and the plan's allowlists as rules of the guest's firewall.
//
// Desired is what should be, Actual what Read found, Diff the requests between
// them and Apply makes them, one at a time, reading again after each. What only an
// operator may change (bridges, the firewalls of the datacenter and the nodes, a
// NIC that would be re-plugged) is an Item with the command to run.
//
// What is foreign stays: rules and set members that do not carry our comment, and
// options of a NIC that the plan does not name.
//
// # The order of requests
//
// A running cluster must never be cut off, whichever request is the last that was
// made:
//
//  1. the ipfilter set: a set that does not exist is built under another name and
//     renamed when it is whole. Proxmox's older firewall filters ARP as soon as a
//     set of that name has a member, so that building it in place would drop the
//     announcements of every address that is not in it yet. A set that exists gets
//     its missing members one by one: each lets more through, never less.
//  2. the rules that let in what the plan lets in; until the next step they can
//     only let in more.
//  3. the guest's firewall: on, and default deny.
//  4. the NICs, the switch for the firewall among them: only now does a rule count
//     that did not count before.
//  5. what is stale: rules, set members and half-built sets of ours.
//
// Steps 3 and 4 are left to the operator where they would put something in force
// that is not ours and would cut the cluster off: a DROP before our rules, outgoing
// traffic that is denied, a filter without the private address.
//
// A step that fails ends the run there; running again goes on from what is found.
package guests
