package proxmox

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"homeward/agent/ledger"
)

// IPAMBook is a Book whose addresses are claimed in SDN's IPAM as well: before an
// entry is held, and given back before it goes. It is for one run of one owner, for
// it learns from the first Read what the owner had before.
//
// An entry that was held says so with a word of its own, also when it is pending
// again on its way out: what stands in the IPAM under it is the owner's. What a crash
// left there under an entry that was never held is taken over by the next reserve; a
// release cannot tell it from a stranger's where the server does not list it, and
// leaves it there.
type IPAMBook struct {
	ledger.Book
	ipam *IPAM
	read bool
	// before has the entries that the owner had pending when the run began: an
	// earlier run may have come as far as the IPAM. One that is held without our word
	// never was there. ours are the addresses of which we know that their entry in the IPAM is the owner's.
	before, ours map[netip.Addr]bool
}

// ipamWord is the word in an entry's comment.
const ipamWord = "ipam=pve"

// NewIPAMBook puts the two claims together.
func NewIPAMBook(book ledger.Book, ipam *IPAM) *IPAMBook {
	return &IPAMBook{Book: book, ipam: ipam, before: map[netip.Addr]bool{}, ours: map[netip.Addr]bool{}}
}

// IPAMError says that an address which the ledger has free is somebody else's in
// SDN's IPAM. It is ledger.ErrRefused, for to try again changes nothing.
type IPAMError struct {
	Address netip.Addr
	err     error
}

// Error names the holder.
func (e *IPAMError) Error() string { return e.err.Error() }

// Unwrap gives ledger.ErrRefused.
func (e *IPAMError) Unwrap() error { return ledger.ErrRefused }

// Read implements ledger.Book.
func (b *IPAMBook) Read(ctx context.Context) (ledger.Page, error) {
	page, err := b.Book.Read(ctx)
	if err != nil {
		return page, err
	}
	for _, e := range page.Entries {
		if !e.OwnedBy(b.ipam.owner) {
			continue
		}
		a := e.Prefix.Addr()
		b.before[a] = b.before[a] || !b.read && e.Record.State == ledger.Pending
		b.ours[a] = b.ours[a] || ClaimedInIPAM(e.Record)
	}
	b.read = true
	return page, nil
}

// ClaimedInIPAM says that an entry's owner has its address in SDN's IPAM as well.
func ClaimedInIPAM(r ledger.Record) bool { return slices.Contains(r.Extra, ipamWord) }

// Change implements ledger.Book. It fails with an *IPAMError where the IPAM has the
// address for somebody else.
func (b *IPAMBook) Change(ctx context.Context, address netip.Addr, r ledger.Record, version string) error {
	if r.State == ledger.Held {
		if err := b.claim(ctx, address); err != nil {
			return err
		}
		if !slices.Contains(r.Extra, ipamWord) {
			r.Extra = append(slices.Clone(r.Extra), ipamWord)
		}
	}
	return b.Book.Change(ctx, address, r, version)
}

// claim makes the entry in the IPAM, where it is not known to be there.
func (b *IPAMBook) claim(ctx context.Context, address netip.Addr) error {
	if b.ours[address] {
		return nil
	}
	err := b.ipam.Claim(ctx, address, b.before[address])
	switch {
	case errors.Is(err, ledger.ErrTaken):
		return &IPAMError{Address: address, err: err}
	case errors.Is(err, ledger.ErrUnknown):
		// If it was done, the next try finds an entry that is ours.
		b.before[address] = true
	case err == nil:
		b.ours[address] = true
	}
	return err
}

// Remove implements ledger.Book.
func (b *IPAMBook) Remove(ctx context.Context, address netip.Addr, version string) error {
	if err := b.ipam.Release(ctx, address, b.ours[address]); err != nil {
		return err
	}
	return b.Book.Remove(ctx, address, version)
}
