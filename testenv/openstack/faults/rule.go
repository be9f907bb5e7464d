package faults

import "sync"

// Rule is a fault at work.
type Rule struct {
	match Match
	fault Fault
	seen  int // matching requests; the proxy's lock is over it

	mu   sync.Mutex
	met  int
	kept []*exchange
}

// Met is how many requests have met the fault.
func (r *Rule) Met() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.met
}

// Deliver gives the server what [Late] has kept and waits until all of it is done.
// What the server says to it is in [Request.Status] of the late request.
func (r *Rule) Deliver() {
	r.mu.Lock()
	kept := r.kept
	r.kept = nil
	r.mu.Unlock()
	for _, x := range kept {
		x.forward()
	}
}

func (r *Rule) keep(x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, x)
}

func (r *Rule) meet() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.met++
}
