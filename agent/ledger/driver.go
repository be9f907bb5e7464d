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
	// Finish is how long a write that is under way when the context ends may still
	// take, so that what became of it is known. Then it is cut off.
	Finish time.Duration
	// Report is told of progress after each request; may be nil.
	Report func(Progress)
	// Log gets one line per write at level debug; may be nil.
	Log *slog.Logger
}

// Run makes the requests of m until it is done. When the context ends, a
// reservation is rolled back within the time of grace.
func (d Driver) Run(ctx context.Context, m Machine) Result {
	var made tally
	begun := d.drive(ctx, &m, &made)
	if m.Next().Op != OpDone {
		m.Abort(context.Cause(ctx), begun)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Grace)
		defer cancel()
		begun = d.drive(grace, &m, &made)
		m.Abort(context.Cause(ctx), begun)
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

// drive makes the requests of m until it is done or the context ends. begun says that
// the end cut off a request, which is still the machine's next.
func (d Driver) drive(ctx context.Context, m *Machine, made *tally) (begun bool) {
	for req := m.Next(); req.Op != OpDone; req = m.Next() {
		if ctx.Err() != nil {
			return false
		}
		reply, cut := d.do(ctx, req)
		if cut {
			return true
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
	return false
}

// do makes one request, or waits; cut says that the end of the context broke it off.
func (d Driver) do(ctx context.Context, req Request) (reply Reply, cut bool) {
	if req.Writes() {
		var cancel context.CancelFunc
		ctx, cancel = outlasting(ctx, d.Finish)
		defer cancel()
	}
	if req.Op == OpWait {
		reply = Reply{Err: d.Sleep(ctx, req.Wait)}
	} else {
		reply = req.Do(ctx, d.Book)
	}
	return reply, reply.Err != nil && ctx.Err() != nil
}

// outlasting gives a context that ends a time after ctx does.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	if by <= 0 {
		return ctx, func() {}
	}
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-longer.Done():
		case <-time.After(by):
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
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
