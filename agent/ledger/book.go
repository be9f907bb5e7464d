package ledger

import (
	"context"
	"errors"
	"net/netip"
)

// Entry is one line of a segment's record as it was read.
type Entry struct {
	// Prefix is one address as a /32 when Homeward made the entry; what somebody
	// added by hand can be wider.
	Prefix netip.Prefix
	// Comment is the text as it stands there.
	Comment string
	// Record is what Comment says, and ours to read only when Readable: else the
	// entry belongs to somebody else.
	Record   Record
	Readable bool
}

// Page is the whole record of a segment at one moment.
type Page struct {
	// Exists is false while nobody has claimed anything here; then the rest is empty.
	Exists bool
	// Entries ascending by address, then by prefix length.
	Entries []Entry
	// Version changes with every write to the record; empty where the server has
	// none, and then Change and Remove are not guarded by it.
	Version string
	// Elsewhere are the entries of the segment's record of the other kind, see
	// [Pair]: while there are any, nothing is claimed here. Empty for a single Book.
	Elsewhere []Entry
	// Yields says which of two kinds gives way when both were begun at once.
	Yields bool
}

// Book reads and writes one segment's record on a server. Its methods make one
// request each, may be called from one goroutine at a time, and fail with one of
// the errors below or with the context's.
type Book interface {
	// Read gives the whole record. It may be older than the last write when the
	// server has several nodes.
	Read(ctx context.Context) (Page, error)
	// Create makes the record; ErrTaken when it is there already.
	Create(ctx context.Context) error
	// Add makes the entry of one address: ErrTaken when that address has one,
	// ErrGone when the record itself does not exist.
	Add(ctx context.Context, address netip.Addr, r Record) error
	// Change replaces the text of an entry: ErrStale when version is not the
	// record's any more, ErrGone when the entry or the record does not exist.
	Change(ctx context.Context, address netip.Addr, r Record, version string) error
	// Remove deletes an entry: ErrStale as above. That the entry does not exist
	// is no error.
	Remove(ctx context.Context, address netip.Addr, version string) error
	// Drop deletes the record itself, and only when it has no entry: ErrTaken when
	// it has one. That it does not exist is no error. The server has to decide it
	// in one step, so that it never takes along what somebody adds meanwhile.
	Drop(ctx context.Context) error
}

// What a Book's methods fail with, to be found with errors.Is.
var (
	// ErrTaken: somebody, perhaps we, made it before. Nothing was written.
	ErrTaken = errors.New("already there")
	// ErrStale: the record changed since it was read. Nothing was written.
	ErrStale = errors.New("changed since it was read")
	// ErrGone: what should be changed does not exist. Nothing was written.
	ErrGone = errors.New("does not exist")
	// ErrBusy: the server had no time for it (a lock, a queue). Nothing was
	// written, and trying again later is right.
	ErrBusy = errors.New("busy")
	// ErrRefused: the server will not do it (rights, no quorum, bad request).
	// Nothing was written, and trying again changes nothing.
	ErrRefused = errors.New("refused")
	// ErrUnknown: the server did not say whether it wrote, and it may still write
	// later.
	ErrUnknown = errors.New("outcome unknown")
)
