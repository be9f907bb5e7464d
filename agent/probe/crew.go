package probe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxIdle is how many goroutines of a crew wait for work. Attempts that hang need
// many more for a while, and these end when they are done.
const maxIdle = 256

// crew is a runner that makes each attempt on a goroutine of its own. Goroutines
// are used again, since growing a new one's stack costs as much as a handshake
// does.
type crew struct {
	try    attempt
	finish finish
	timer  *time.Timer
	work   chan func()
	idle   atomic.Int64
	busy   sync.WaitGroup
}

func newCrew(try attempt, finish finish) *crew {
	return &crew{try: try, finish: finish, timer: time.NewTimer(0), work: make(chan func())}
}

func (c *crew) begin(t *track, f *flight) {
	c.run(func() {
		began := time.Now()
		r := c.try(&t.target)
		c.finish(t, f, began, time.Now(), r)
	})
}

// run starts f and does not wait for it.
func (c *crew) run(f func()) {
	c.busy.Add(1)
	select {
	case c.work <- f:
	default:
		go c.member(f)
	}
}

func (c *crew) member(f func()) {
	for ok := true; ok; {
		f()
		c.busy.Done()
		if c.idle.Add(1) > maxIdle {
			ok = false
		} else {
			f, ok = <-c.work
		}
		c.idle.Add(-1)
	}
}

func (c *crew) pause(ctx context.Context, d time.Duration) {
	c.timer.Reset(d)
	select {
	case <-ctx.Done():
	case <-c.timer.C:
	}
}

// collect has nothing to do: each goroutine brings its own result.
func (c *crew) collect() {}

func (c *crew) drain(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		c.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (c *crew) close() {
	c.timer.Stop()
	close(c.work)
}
