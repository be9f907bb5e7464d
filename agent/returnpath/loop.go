package returnpath

import (
	"context"
	"sync"
	"time"
)

const (
	// settle is the least time between two passes that events ask for, so that a
	// burst of changes costs one pass and not a hundred.
	settle = 5 * time.Millisecond
	// retryFirst and retryMost bound the wait after a pass that did not reach the
	// state; it doubles in between.
	retryFirst = 100 * time.Millisecond
	retryMost  = 10 * time.Second
)

// Run keeps the return path until the context ends. It removes nothing then,
// and no error of the kernel ends it.
func (a *Agent) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { a.watchGateway(ctx) })

	events := a.cfg.Kernel.Watch(ctx)
	retry := retryFirst
	for ctx.Err() == nil {
		status := a.Pass(ctx)
		wait := a.cfg.Resync
		if a.mustRetry(status) {
			wait = min(wait, retry)
			retry = min(2*retry, retryMost)
		} else {
			retry = retryFirst
		}
		if !a.wait(ctx, events, wait) {
			return
		}
	}
}

// mustRetry says that the next pass should not wait for an event.
func (a *Agent) mustRetry(s Status) bool {
	if a.superseded != nil {
		return true
	}
	for _, p := range s.Problems {
		if p.Kind == ProblemNotConverged || p.Kind == ProblemNotListed {
			return true
		}
	}
	return false
}

// wait returns true when it is time for a pass: something changed, or the time
// is up; false when the context ended.
func (a *Agent) wait(ctx context.Context, events <-chan string, most time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-a.cfg.Clock.After(settle):
	}
	select {
	case <-ctx.Done():
		return false
	case what := <-events:
		a.cfg.Log.Debug("something changed", "what", what)
	case <-a.cfg.Clock.After(most):
	}
	return true
}
