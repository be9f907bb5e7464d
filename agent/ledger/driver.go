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
	// Report is told of progress, also when nothing has changed; may be nil.
	Report func(Progress)
	// Log gets one line per write at level debug; may be nil.
	Log *slog.Logger
}

// Run makes the requests of m until it is done. When the context ends, a
// reservation is rolled back within the time of grace.
func (d Driver) Run(ctx context.Context, m Machine) Result {
	d.drive(ctx, &m)
	if m.Next().Op != OpDone {
		m.Abort(context.Cause(ctx))
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Grace)
		defer cancel()
		d.drive(grace, &m)
		m.Abort(context.Cause(ctx))
	}
	return m.Result()
}

// drive makes the requests of m until it is done or the context ends. A request
// that the end cut off is still the machine's next.
func (d Driver) drive(ctx context.Context, m *Machine) {
	for req := m.Next(); req.Op != OpDone; req = m.Next() {
		reply := d.do(ctx, req)
		if ctx.Err() != nil && reply.Err != nil {
			return
		}
		if d.Log != nil && req.Writes() {
			d.Log.Debug("record", "request", req.String(), "error", reply.Err)
		}
		m.Take(reply)
		if d.Report != nil {
			d.Report(m.Progress())
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
