package ledger

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
)

// Rehearsal is a Book that changes nothing: it begins with a page that was read
// from another, does to it what that other would do, and keeps the requests. Not
// for use by several goroutines.
type Rehearsal struct {
	page Page
	// guarded says that the book it stands for has versions.
	guarded bool
	writes  int
	// Requests are the writes in order, those that failed too.
	Requests []Request
}

// NewRehearsal begins with page.
func NewRehearsal(page Page) *Rehearsal {
	page.Entries = slices.Clone(page.Entries)
	SortEntries(page.Entries)
	r := &Rehearsal{page: page, guarded: page.Version != "" || len(page.Entries) == 0}
	return r
}

// Read implements Book.
func (r *Rehearsal) Read(context.Context) (Page, error) {
	page := r.page
	page.Entries = slices.Clone(page.Entries)
	page.Version = r.version()
	return page, nil
}

// Create implements Book.
func (r *Rehearsal) Create(context.Context) error {
	r.note(Request{Op: OpCreate})
	if r.page.Exists {
		return ErrTaken
	}
	r.page.Exists = true
	r.writes++
	return nil
}

// Add implements Book.
func (r *Rehearsal) Add(_ context.Context, address netip.Addr, record Record) error {
	r.note(Request{Op: OpAdd, Address: address, Record: record})
	if !r.page.Exists {
		return ErrGone
	}
	if _, ok := r.page.Of(address); ok {
		return ErrTaken
	}
	r.page = r.page.with(address, record)
	r.writes++
	return nil
}

// Change implements Book.
func (r *Rehearsal) Change(_ context.Context, address netip.Addr, record Record, version string) error {
	r.note(Request{Op: OpChange, Address: address, Record: record, Version: version})
	if version != r.version() {
		return ErrStale
	}
	if !r.cut(address) {
		return ErrGone
	}
	r.page = r.page.with(address, record)
	return nil
}

// Remove implements Book.
func (r *Rehearsal) Remove(_ context.Context, address netip.Addr, version string) error {
	r.note(Request{Op: OpRemove, Address: address, Version: version})
	if version != r.version() {
		return ErrStale
	}
	r.cut(address)
	return nil
}

// Drop implements Book.
func (r *Rehearsal) Drop(context.Context) error {
	r.note(Request{Op: OpDrop})
	if len(r.page.Entries) > 0 {
		return ErrTaken
	}
	r.page.Exists = false
	r.writes++
	return nil
}

func (r *Rehearsal) note(req Request) { r.Requests = append(r.Requests, req) }

// version counts the writes; the record as it was read has zero.
func (r *Rehearsal) version() string {
	if !r.guarded {
		return ""
	}
	return strconv.Itoa(r.writes)
}

// cut takes the entry of an address out.
func (r *Rehearsal) cut(address netip.Addr) bool {
	e, ok := r.page.Of(address)
	if ok {
		r.page.Entries = slices.DeleteFunc(r.page.Entries, func(o Entry) bool { return o.Prefix == e.Prefix })
		r.writes++
	}
	return ok
}
