package probe

import (
	"sync"
	"sync/atomic"
)

// maxIdle is how many goroutines of a crew wait for work. Attempts that hang need
// many more for a while, and these end when they are done.
const maxIdle = 256

// crew runs functions, each at once and on a goroutine of its own. Goroutines are
// used again, since growing a new one's stack costs as much as a handshake does.
type crew struct {
	work chan func()
	idle atomic.Int64
	busy sync.WaitGroup
}

func newCrew() *crew { return &crew{work: make(chan func())} }

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

// wait waits until nothing runs. run may not be called meanwhile.
func (c *crew) wait() { c.busy.Wait() }

// dismiss ends the goroutines that wait for work, and the others when they are
// done. run may not be called afterwards.
func (c *crew) dismiss() { close(c.work) }
