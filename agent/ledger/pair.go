package ledger

import (
	"context"
	"fmt"
)

// Kind is what a segment's record is kept in.
type Kind string

// The kinds. A segment's claims all stand in one of them.
const (
	// IPSet is a firewall set, one member per address.
	IPSet Kind = "ipset"
	// Pools are nested resource pools, one per address, for tokens that may not
	// write the firewall.
	Pools Kind = "pools"
)

// Shelf is a Book of one kind and what a token may do with it.
type Shelf struct {
	Kind Kind
	Book Book
	// Writable says that the token may write this kind.
	Writable bool
	// Right is what it needs for that, as an operator grants it: `Sys.Modify on /`.
	Right string
}

// RightError says that a segment's claims can only be written with a right that
// the token does not have.
type RightError struct {
	Kind  Kind
	Right string
	// Claims is how many entries the record of that kind has; zero when none of the
	// kinds can be written.
	Claims int
}

// Error implements error.
func (e *RightError) Error() string {
	if e.Claims == 0 {
		return fmt.Sprintf("claims can be written neither as %s nor as %s: the token needs %s", IPSet, Pools, e.Right)
	}
	return fmt.Sprintf("the segment's %d claims are kept as %s: the token needs %s to write there, and nothing may be claimed in another way", e.Claims, e.Kind, e.Right)
}

// Pair is the Book of a segment whose record can be of two kinds. It writes one
// and reads both, so that no address is claimed in one while the segment has
// claims in the other.
type Pair struct {
	Book
	kind   Kind
	other  Book
	yields bool
}

// Choose reads both records and gives the pair that writes the one which has the
// segment's claims, whatever kind that is; on a segment without claims the first
// that the token may write. It fails with a RightError when the token may not
// write that one, and with the Book's error when one cannot be read. When both
// have claims the first is chosen, and no reservation gets through before an
// operator has moved those of the second.
func Choose(ctx context.Context, first, second Shelf) (Pair, error) {
	pages := [2]Page{}
	for i, s := range []Shelf{first, second} {
		page, err := s.Book.Read(ctx)
		if err != nil {
			return Pair{}, fmt.Errorf("reading the claims kept as %s: %w", s.Kind, err)
		}
		pages[i] = page
	}
	claims := [2]int{len(pages[0].Entries), len(pages[1].Entries)}
	switch {
	case claims[0] > 0 && !first.Writable:
		return Pair{}, &RightError{Kind: first.Kind, Right: first.Right, Claims: claims[0]}
	case claims[0] > 0:
		return Pair{Book: first.Book, kind: first.Kind, other: second.Book}, nil
	case claims[1] > 0 && !second.Writable:
		return Pair{}, &RightError{Kind: second.Kind, Right: second.Right, Claims: claims[1]}
	case claims[1] == 0 && first.Writable:
		return Pair{Book: first.Book, kind: first.Kind, other: second.Book}, nil
	case claims[1] == 0 && !second.Writable:
		return Pair{}, &RightError{Kind: first.Kind, Right: first.Right + ", or " + second.Right}
	}
	return Pair{Book: second.Book, kind: second.Kind, other: first.Book, yields: true}, nil
}

// Kind is what the pair writes.
func (p Pair) Kind() Kind { return p.kind }

// Read implements Book: one read of each of the two.
func (p Pair) Read(ctx context.Context) (Page, error) {
	page, err := p.Book.Read(ctx)
	if err != nil {
		return Page{}, err
	}
	other, err := p.other.Read(ctx)
	if err != nil {
		return Page{}, err
	}
	page.Elsewhere, page.Yields = other.Entries, p.yields
	return page, nil
}
