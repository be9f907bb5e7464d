package ledger

import (
	"context"
	"log/slog"
	"time"
)

// Driver runs machines against a Book.
type Driver struct {
	Book Book
	// Sleep waits, or returns the context's error when that ends first.
	Sleep func(context.Context, time.Duration) error
	// Grace is how long a run that was cancelled may take to roll back.
	Grace time.Duration
	// Report is told of progress after each request; may be nil.
	Report func(Progress)
	// Log gets one line per write at level debug; may be nil.
	Log *slog.Logger
}

// Run makes the requests of m until it is done. When the context ends, a
// reservation is rolled back within the time of grace.
func (d Driver) Run(ctx context.Context, m Machine) Result {
	var made tally
	d.drive(ctx, &m, &made)
	if m.Next().Op != OpDone {
		m.Abort(context.Cause(ctx))
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Grace)
		defer cancel()
		d.drive(grace, &m, &made)
		m.Abort(context.Cause(ctx))
	}
	result := m.Result()
	result.Added, result.Removed = made.added, made.removed
	return result
}

// tally counts the writes that the server has confirmed.
type tally struct{ added, removed int }

func (t *tally) count(req Request) {
	switch req.Op {
	case OpAdd:
		t.added++
	case OpRemove:
		t.removed++
	}
}

// drive makes the requests of m until it is done or the context ends. A request
// that the end cut off is still the machine's next.
func (d Driver) drive(ctx context.Context, m *Machine, made *tally) {
	for req := m.Next(); req.Op != OpDone; req = m.Next() {
		reply := d.do(ctx, req)
		if ctx.Err() != nil && reply.Err != nil {
			return
		}
		if d.Log != nil && req.Writes() {
			d.Log.Debug("record", "request", req.String(), "error", reply.Err)
		}
		if reply.Err == nil {
			made.count(req)
		}
		m.Take(reply)
		if p, ok := m.Progress(); ok && d.Report != nil {
			d.Report(p)
		}
	}
}

// do makes one request, or waits.
func (d Driver) do(ctx context.Context, req Request) Reply {
	if req.Op == OpWait {
		return Reply{Err: d.Sleep(ctx, req.Wait)}
	}
	return req.Do(ctx, d.Book)
}

// Sleep is the wait for a Driver by the machine's clock.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
