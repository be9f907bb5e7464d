package reservation

import (
	"context"
	"errors"
	"slices"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
)

// ReserveOptions say how to reserve.
type ReserveOptions struct {
	DryRun bool
	// Partial reserves although not every source could be read.
	Partial bool
}

// Reserve claims what the plan wants, and gives back what the owner has beyond it.
// The report says how it ended; the error is for what could not even begin.
func (c *Cluster) Reserve(ctx context.Context, l *Look, o ReserveOptions) (*Report, error) {
	r := c.report(l)
	for _, t := range l.Taken(c.Owner) {
		// What is pending may yet vanish: the protocol waits for it.
		if t.State != ledger.Pending {
			r.Conflicts = append(r.Conflicts, t)
		}
	}
	switch {
	case len(r.Conflicts) > 0:
		r.Outcome = InUse
		return r, nil
	case !l.quorate && !o.DryRun:
		r.Outcome, r.Error = Failed, noQuorum
		return r, nil
	case len(r.Unread) > 0 && !o.Partial:
		r.Outcome = Partial
		return r, nil
	}
	pair, err := c.own(ctx, l, o, r)
	if err != nil {
		return nil, err
	}
	r.Kind = pair.Kind()
	m, err := c.reserver(l)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return r, c.rehearse(ctx, l, pair.Kind(), pair, m, r)
	}
	book, err := c.claiming(l, pair, c.Owner)
	if err != nil {
		return nil, err
	}
	res := c.run(ctx, book, m)
	if res.Outcome == ledger.Done && l.second != nil {
		var err error
		if _, err = c.catchUp(ctx, l, book); err != nil {
			res.Outcome, res.Err = ledger.Failed, err
		}
		if errors.Is(err, ledger.ErrUnknown) {
			res.Outcome = ledger.Unknown
		}
	}
	c.take(ctx, res, book, l, r)
	if r.Outcome == "" {
		r.Outcome = Reserved
	}
	return r, nil
}

// own chooses the record, and gives an owner without an id one that is kept, once it is
// known that it may write there.
func (c *Cluster) own(ctx context.Context, l *Look, o ReserveOptions, r *Report) (ledger.Pair, error) {
	pair, err := c.choose(ctx, l)
	var right *ledger.RightError
	if errors.As(err, &right) && o.DryRun {
		// To show the requests takes no right to make them.
		r.Warnings = append(r.Warnings, right.Error())
		pair, err = c.chooseAs(ctx, l, func(s *ledger.Shelf) { s.Writable = s.Kind == right.Kind })
	}
	if err != nil {
		return pair, err
	}
	if c.Owner.ID == "" && !o.DryRun {
		if err := c.MakeOwner(); err != nil {
			return pair, err
		}
		r.Owner = c.Owner
		if pair, err = c.choose(ctx, l); err != nil { // with books of this owner
			return pair, err
		}
	}
	return pair, nil
}

// choose gives the record in which this owner may write.
func (c *Cluster) choose(ctx context.Context, l *Look) (ledger.Pair, error) {
	return c.chooseAs(ctx, l, func(*ledger.Shelf) {})
}

// chooseAs is choose with other rights.
func (c *Cluster) chooseAs(ctx context.Context, l *Look, change func(*ledger.Shelf)) (ledger.Pair, error) {
	shelves := l.shelves
	for i := range shelves {
		var err error
		if shelves[i].Book, err = c.book(l, shelves[i].Kind); err != nil {
			return ledger.Pair{}, err
		}
		change(&shelves[i])
	}
	return ledger.Choose(ctx, shelves[0], shelves[1])
}

// reserver is the machine for the plan: one without anything to reserve gives back
// what the owner has.
func (c *Cluster) reserver(l *Look) (ledger.Machine, error) {
	if len(l.Wants) == 0 {
		return ledger.NewRelease(c.acting(), c.limits())
	}
	return ledger.NewReserve(c.acting(), l.Wants, c.Now(), c.limits())
}

// nobody stands for an owner who has no id yet, where nothing is written.
const nobody = "0000000000000000"

// acting is the owner for what needs one.
func (c *Cluster) acting() ledger.Owner {
	o := c.Owner
	if o.ID == "" {
		o.ID = nobody
	}
	return o
}

// take puts the protocol's result into a report, with what the owner has now.
func (c *Cluster) take(ctx context.Context, res ledger.Result, b ledger.Book, l *Look, r *Report) {
	r.Added, r.Removed, r.Uncertain, r.Left = res.Added, res.Removed, res.Uncertain, res.Left
	var second *proxmox.IPAMError
	switch {
	case res.Outcome == ledger.Unknown:
		r.Outcome = Unknown
	case res.Outcome == ledger.Lost, res.Outcome == ledger.Failed && errors.As(res.Err, &second):
		r.Outcome = InUse
	case res.Outcome == ledger.Failed:
		r.Outcome = Failed
	}
	if res.Outcome == ledger.Lost || second != nil {
		r.Conflicts = takenBy(res, l.Wants, r.Owner)
	}
	if res.Err != nil {
		r.Error = res.Err.Error()
	}
	// A run that was interrupted still says what it left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollback)
	defer cancel()
	page, err := b.Read(ctx)
	if err != nil {
		r.Warnings = append(r.Warnings, "reading the record again: "+err.Error())
		return
	}
	entries := slices.Concat(page.Entries, page.Elsewhere)
	ledger.SortEntries(entries)
	before := r.Addresses
	r.Addresses = reservations(ledger.Page{Entries: entries}, r.Owner, &r.Owner)
	for _, b := range before {
		if !slices.ContainsFunc(r.Addresses, func(a Reservation) bool { return a.Address == b.Address }) {
			r.GivenBack = append(r.GivenBack, b.Address)
		}
	}
}
