//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"homeward/agent/kernel"
	"homeward/agent/segment"
)

const (
	// reopenAfter is how long no witness may answer before the segment is opened
	// anew: somebody may have reloaded the network under us.
	reopenAfter = 30 * time.Second
	// retry is the first wait after the wire failed, retryMost the longest.
	retry     = time.Second
	retryMost = 8 * time.Second
)

// watcher is `host` at work for long.
type watcher struct {
	*host
	watch *segment.Watch
	print *eventPrinter
	// heard says that the segment has been open once, listening that it is now.
	heard     bool
	listening atomic.Bool
	began     time.Time
}

// watchSegment listens until the context ends. The segment must be there at the
// start; later its interface may go and come back.
func (h *host) watchSegment(ctx context.Context) int {
	keepMemorySmall()
	now := time.Now()
	w := &watcher{
		host: h, watch: segment.NewWatch(h.watched.config(h.options.every), now), began: now,
		print: &eventPrinter{out: h.out, format: h.options.output},
	}
	serveMux(ctx, h.options.listen, h.log, func(bool) http.Handler { return w.mux() })
	h.log.Info("watching the segment", "version", agentVersion(), "addresses", len(h.watched.targets), "machines", len(h.watched.ours))
	for wait := retry; ; wait = min(2*wait, retryMost) {
		opened := time.Now()
		err := h.kernel.OnWire(ctx, h.watched.leg, func(wire *kernel.Wire) error { return w.listen(ctx, wire) })
		switch {
		case ctx.Err() != nil && err == nil:
			h.log.Info("ending")
			return exitDone
		case ctx.Err() != nil || !w.heard:
			h.cannot("watching the segment", err)
			return exitFailed
		}
		if time.Since(opened) > reopenAfter {
			wait = retry
		}
		h.log.Warn("listening; opening the segment again", "error", err, "in", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// errUnproven ends a wire on which no witness answers.
var errUnproven = fmt.Errorf("no known address has answered for %s", reopenAfter)

// listen runs the watch on one wire, until that fails, the context ends, or the
// path has been unproven for too long.
func (w *watcher) listen(parent context.Context, wire *kernel.Wire) error {
	w.watch.Attach(wire.MAC(), wire.Local())
	w.heard = true
	w.listening.Store(true)
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	attended := make(chan struct{})
	go func() {
		defer close(attended)
		w.attend(ctx, stop)
	}()
	err := segment.Listen(ctx, wire, w.watch, func(e segment.Event) {
		if err := w.print.event(e); err != nil {
			stop(err)
		}
	})
	stop(nil)
	<-attended
	w.listening.Store(false)
	if parent.Err() != nil {
		return err
	}
	for _, e := range w.watch.Detach(time.Now()) {
		err = errors.Join(err, w.print.event(e))
	}
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// attend prints the first state when there is one, and ends a wire that is deaf.
func (w *watcher) attend(ctx context.Context, stop context.CancelCauseFunc) {
	const look = 500 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	for proven := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if now.Sub(w.began) > w.watch.FirstRound() {
			if err := w.print.first(w.watch.Rows(now)); err != nil {
				stop(err)
			}
		}
		// While there is more ARP than can be judged, opening anew would change nothing.
		if s := w.watch.Stats(now); s.Proven || s.Overloaded {
			proven = now
		}
		if now.Sub(proven) > reopenAfter {
			stop(errUnproven)
		}
	}
}
