package ledger

import (
	"cmp"
	"net/netip"
	"slices"
)

// Single says whether the entry is of one address, as all of ours are.
func (e Entry) Single() bool { return e.Prefix.IsSingleIP() }

// OwnedBy says whether o made the entry. An entry of more than one address is
// nobody's of us, whatever its comment says.
func (e Entry) OwnedBy(o Owner) bool {
	return e.Readable && e.Single() && e.Record.Owner == o
}

// passing says that the entry may yet vanish by itself: its owner is in the
// middle of a reservation.
func (e Entry) passing() bool {
	return e.Readable && e.Single() && e.Record.State == Pending
}

// SortEntries puts entries into the order of a Page.
func SortEntries(entries []Entry) {
	slices.SortFunc(entries, compareEntries)
}

func compareEntries(a, b Entry) int {
	return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
}

// Of gives the entry of one address.
func (p Page) Of(address netip.Addr) (Entry, bool) {
	at, ok := slices.BinarySearchFunc(p.Entries, single(address), func(e, want Entry) int { return compareEntries(e, want) })
	if !ok {
		return Entry{}, false
	}
	return p.Entries[at], true
}

// Owned gives the entries of o, ascending.
func (p Page) Owned(o Owner) []Entry {
	var owned []Entry
	for _, e := range p.Entries {
		if e.OwnedBy(o) {
			owned = append(owned, e)
		}
	}
	return owned
}

// Owners gives everybody who has an entry of one address, by cluster and id, each
// once: who a dead cluster was, when only its id is known.
func (p Page) Owners() []Owner {
	var owners []Owner
	for _, e := range p.Entries {
		if e.Readable && e.Single() {
			owners = append(owners, e.Record.Owner)
		}
	}
	slices.SortFunc(owners, func(a, b Owner) int { return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ID, b.ID)) })
	return slices.Compact(owners)
}

// with gives the page with one more entry, and leaves p as it is.
func (p Page) with(address netip.Addr, r Record) Page {
	e := single(address)
	e.Comment, e.Record, e.Readable = r.String(), r, true
	at, _ := slices.BinarySearchFunc(p.Entries, e, compareEntries)
	p.Entries = slices.Insert(slices.Clone(p.Entries), at, e)
	p.Exists = true
	return p
}

func single(address netip.Addr) Entry {
	return Entry{Prefix: netip.PrefixFrom(address, address.BitLen())}
}

// Conflict is an entry of somebody else that covers addresses of a plan.
type Conflict struct {
	Entry Entry `json:"entry"`
	// Addresses are the plan's that it covers, ascending, at least one.
	Addresses []netip.Addr `json:"addresses"`
}

// Conflicts gives every entry of somebody else that covers an address of wants, in
// the page's order. Wants are ascending.
func Conflicts(p Page, wants []Want, o Owner) []Conflict {
	var list []Conflict
	for _, e := range p.Entries {
		if e.OwnedBy(o) {
			continue
		}
		if covered := coveredBy(e.Prefix, wants); len(covered) > 0 {
			list = append(list, Conflict{Entry: e, Addresses: covered})
		}
	}
	return list
}

func coveredBy(p netip.Prefix, wants []Want) []netip.Addr {
	var covered []netip.Addr
	first, _ := find(wants, p.Masked().Addr())
	for _, w := range wants[first:] {
		if !p.Contains(w.Address) {
			break
		}
		covered = append(covered, w.Address)
	}
	return covered
}
