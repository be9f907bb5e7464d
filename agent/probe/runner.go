package probe

import (
	"context"
	"time"
)

// runner makes attempts, each without waiting for those before it. All but what
// it does by itself is called by one goroutine.
type runner interface {
	// begin starts an attempt whose result goes to the prober's finish, at once,
	// in collect, or from a goroutine of its own.
	begin(t *track, f *flight)
	// pause lets a time pass, or less: until ctx ends or there is something to
	// collect.
	pause(ctx context.Context, d time.Duration)
	// collect takes the results there are, and does not wait.
	collect()
	// drain waits until no attempt is under way or ctx ends.
	drain(ctx context.Context)
	// close ends it, with the attempts that are under way or when these are done.
	close()
}

// finish takes the result of an attempt.
type finish func(t *track, f *flight, began, ended time.Time, r result)
