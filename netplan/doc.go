// Package netplan is the address plan of one cluster as values: what the
// operator asked for (Spec), whether it can work (Check) and what follows from
// it (Resolve, Plan). It also holds the numbers that other rooms share: marks,
// masks, routing tables, rule priorities and names.
//
// It reads no file, no clock, no network and no kernel. Everything in it is a
// pure function of its arguments; a Plan is never changed after Resolve and is
// safe for use by several goroutines.
//
// Only IPv4 is planned. Sets of addresses are exact ranges, never a covering
// network.
package netplan
