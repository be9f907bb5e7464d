// Package proxmox speaks with the Proxmox VE API: it reads what claims addresses
// (Read gives an inventory.Snapshot), keeps the record of a segment's reservations
// (IPSetBook, PoolBook and IPAM) and says which rights that takes.
//
// A Client never follows a redirect and never uses a proxy, not even one that
// HTTPS_PROXY names: its requests carry a token, and the host in the plan is the
// only one that may see it. Certificates are verified unless the plan says
// otherwise. Answers are bounded and must be JSON as Proxmox writes it; anything
// else is an error that quotes nothing of it but the server's own message.
//
// Every failed request is an *Error. Where a write may or may not have happened it
// is ledger.ErrUnknown, and it is never taken for done: a request counts as done
// only when the server said 2xx in a whole answer of its own shape.
package proxmox
