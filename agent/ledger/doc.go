// Package ledger is what a reservation is: who owns an address of a segment, how
// that is written down, and the protocol by which reservers that race for the
// same addresses agree. It is pure: what reads and writes the record is a Book.
//
// A segment has one record. It has at most one entry per address, and making an
// entry is test-and-set: of many who add the same address at once exactly one
// succeeds. Everything here rests on that alone.
package ledger
