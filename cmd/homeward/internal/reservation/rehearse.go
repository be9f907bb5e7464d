package reservation

import (
	"context"
	"maps"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
)

// rehearse runs a machine on a copy of the record and puts the requests that it
// would make into the report. Nothing that writes is sent.
func (c *Cluster) rehearse(ctx context.Context, l *Look, kind ledger.Kind, b ledger.Book, m ledger.Machine, r *Report) error {
	page, err := b.Read(ctx)
	if err != nil {
		return err
	}
	copied := ledger.NewRehearsal(page)
	quick := *c
	quick.Sleep = func(context.Context, time.Duration) error { return nil }
	quick.Log = nil
	res := quick.run(ctx, copied, m)
	r.Outcome, r.Added, r.Removed = Rehearsed, res.Added, res.Removed
	if res.Outcome == ledger.Lost {
		r.Outcome, r.Conflicts = InUse, takenBy(res, l.Wants, c.Owner)
		return nil
	}
	var spoken []string
	quick.API = proxmox.DryRun{API: c.API, Show: func(req proxmox.Request) {
		req.Params = maps.Clone(req.Params)
		req.Params.Del("digest") // of the record as it will be by then
		spoken = append(spoken, req.String())
	}}
	book, err := quick.sameBook(l, kind)
	if err != nil {
		return err
	}
	for _, req := range copied.Requests {
		spoken = nil
		// What the server would say is known: this is only to hear the request.
		_ = req.Do(ctx, book)
		r.Requests = append(r.Requests, spoken...)
		if len(spoken) == 0 {
			r.Requests = append(r.Requests, "# "+req.String())
		}
	}
	return ctx.Err()
}

// sameBook is the book of a kind on this cluster's API, with the second claim.
func (c *Cluster) sameBook(l *Look, kind ledger.Kind) (ledger.Book, error) {
	book, err := c.book(l, kind)
	if err != nil {
		return nil, err
	}
	return c.claiming(l, book, c.acting())
}
