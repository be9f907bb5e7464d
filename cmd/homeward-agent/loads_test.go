//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"homeward/testenv/netlab"
	"homeward/testenv/vm/guest"
)

// loads are requests of a client behind the router to every kind of backend, over
// long-lived and over fresh connections.
type loads struct {
	b   *bench
	all map[string]*netlab.Load
	// results are there once the loads are stopped.
	results map[string]netlab.LoadResult
}

// loadRate is a load's requests per second. An emulated processor can do only so much
// beside what is tested.
func loadRate() int {
	if guest.Inside() {
		return 2
	}
	return 20
}

// lossless makes loads wait for replies as long as for anything: where none may be
// lost, one that is late on a busy machine is not lost.
func (b *bench) lossless() { b.drain = patience }

func (b *bench) startLoads() *loads {
	b.t.Helper()
	l := &loads{b: b, all: map[string]*netlab.Load{}, results: map[string]netlab.LoadResult{}}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i, s := range b.MatrixServices(b.node)[:4] {
		for _, protocol := range []netlab.Protocol{netlab.TCP, netlab.UDP} {
			for _, connections := range []int{0, 2} {
				load, err := netlab.StartLoad(ctx, netlab.LoadConfig{
					From: b.Behind, Protocol: protocol, Rate: loadRate(), Connections: connections, Drain: b.drain,
					Target: netip.AddrPortFrom(s.Address, s.Port),
				})
				b.do(err)
				l.all[fmt.Sprintf("service %d, %s, %d connections", i, protocol, connections)] = load
			}
		}
	}
	for _, load := range l.all {
		b.do(load.WaitReplies(ctx, 1))
	}
	return l
}

// stop gives what came of it, in all.
func (l *loads) stop() (sum netlab.LoadResult) {
	l.b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var mu sync.Mutex
	var stopping sync.WaitGroup
	for name, load := range l.all {
		stopping.Go(func() {
			// What happened a moment ago must show in some reply; the count tells when
			// none comes any more.
			_ = load.WaitReplies(ctx, 3)
			r := load.Stop()
			mu.Lock()
			defer mu.Unlock()
			l.results[name] = r
			if r.Replies == 0 {
				l.b.t.Errorf("%s: no reply at all", name)
			}
			sum.Requests += r.Requests
			sum.Replies += r.Replies
			sum.Lost += r.Lost
			sum.Broken += r.Broken
			sum.LongestGap = max(sum.LongestGap, r.LongestGap)
		})
	}
	stopping.Wait()
	l.b.t.Logf("%d requests, %d lost, %d connections broken, longest gap %s", sum.Requests, sum.Lost, sum.Broken, sum.LongestGap)
	return sum
}

// none holds that nothing was lost.
func (l *loads) none() {
	l.b.t.Helper()
	if r := l.stop(); r.Lost > 0 || r.Broken > 0 {
		l.b.t.Errorf("lost %d of %d replies, broke %d connections", r.Lost, r.Requests, r.Broken)
	}
}

// lostInOneGap holds that each load lost no more than fits into its longest time
// without a reply: what is lost at any other time is not the one fault's.
func (l *loads) lostInOneGap() {
	l.b.t.Helper()
	// A pacer that was held up sends what it owes at once.
	const owed = 10
	for name, r := range l.results {
		if most := int(r.LongestGap.Seconds()*float64(loadRate())) + owed; r.Lost > most {
			l.b.t.Errorf("%s: lost %d of %d replies, at most %d in the longest gap of %s", name, r.Lost, r.Requests, most, r.LongestGap)
		}
	}
}
