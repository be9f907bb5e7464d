//go:build linux

package netlab

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// LoadConfig is what a load generator does.
type LoadConfig struct {
	// From is the client.
	From     *Host
	Protocol Protocol
	Target   netip.AddrPort
	// Rate is requests per second in all.
	Rate int
	// Connections is how many long-lived connections (UDP: sockets) share the
	// requests; zero makes a new one for each request.
	Connections int
	// ReplySize in bytes; zero is the smallest.
	ReplySize int
	// Late is when a reply counts as late; zero is 150 ms, which is below TCP's
	// shortest retransmission time (200 ms): every packet that TCP had to send
	// twice makes its reply late.
	Late time.Duration
	// Drain is how long Stop waits for replies still under way; zero is 3 s.
	Drain time.Duration
}

// LoadResult is what came of a load. Requests = Replies + Lost.
type LoadResult struct {
	Requests int `json:"requests"`
	Replies  int `json:"replies"`
	// Lost are requests without a reply until the end of the drain.
	Lost int `json:"lost"`
	// Late are replies that came, but late.
	Late int `json:"late"`
	// Broken are long-lived connections that failed.
	Broken int `json:"broken"`
	// LongestGap is the longest time between two replies that follow each other,
	// in nanoseconds; the time from the last reply to the end of sending counts.
	LongestGap time.Duration `json:"longest_gap_ns"`
	// Slowest is the longest time from a request to its reply, in nanoseconds.
	Slowest time.Duration `json:"slowest_ns"`
}

// Load is a load generator at work.
type Load struct {
	config LoadConfig
	cancel context.CancelFunc
	sender sync.WaitGroup
	lines  []*line
	// single counts the goroutines of requests on connections of their own.
	single    sync.WaitGroup
	endSingle context.CancelFunc

	mu      sync.Mutex
	started time.Time
	last    time.Time
	waiting map[uint64]time.Time
	result  LoadResult
	changed chan struct{}
}

// StartLoad starts a load. When it returns, long-lived connections are up and
// each has carried one request and its reply, which are not counted.
func StartLoad(ctx context.Context, config LoadConfig) (*Load, error) {
	if config.Rate <= 0 {
		return nil, fmt.Errorf("starting load: rate %d", config.Rate)
	}
	config.ReplySize = max(config.ReplySize, requestSize)
	if config.Late == 0 {
		config.Late = 150 * time.Millisecond
	}
	if config.Drain == 0 {
		config.Drain = 3 * time.Second
	}
	l := &Load{config: config, waiting: map[uint64]time.Time{}, changed: make(chan struct{})}
	for range config.Connections {
		line, err := l.connect(ctx)
		if err != nil {
			l.hangUp()
			return nil, fmt.Errorf("starting load on %s to %s: %w", config.From.name, config.Target, err)
		}
		l.lines = append(l.lines, line)
	}
	l.started = time.Now()
	l.last = l.started
	// The load outlives the context that limits its start: Stop ends it.
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	single, endSingle := context.WithCancel(context.WithoutCancel(ctx))
	l.endSingle = endSingle
	l.sender.Add(1)
	go l.send(sending, single)
	return l, nil
}

// WaitReplies waits for n more replies, or for the end of ctx.
func (l *Load) WaitReplies(ctx context.Context, n int) error {
	l.mu.Lock()
	goal := l.result.Replies + n
	l.mu.Unlock()
	for {
		l.mu.Lock()
		have, changed := l.result.Replies, l.changed
		l.mu.Unlock()
		if have >= goal {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d more replies, %d missing: %w", n, goal-have, ctx.Err())
		}
	}
}

// Sofar gives the counts of this moment; requests under way are neither replies
// nor lost.
func (l *Load) Sofar() LoadResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result
}

// Stop stops sending, waits for the replies under way, and counts.
func (l *Load) Stop() LoadResult {
	l.cancel()
	l.sender.Wait()
	l.mu.Lock()
	l.result.LongestGap = max(l.result.LongestGap, time.Since(l.last))
	l.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), l.config.Drain)
	defer cancel()
	l.drain(ctx)
	l.endSingle()
	l.hangUp()
	l.single.Wait()

	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Lost = len(l.waiting)
	return l.result
}

// drain waits until nothing is under way any more.
func (l *Load) drain(ctx context.Context) {
	for {
		l.mu.Lock()
		under, changed := len(l.waiting), l.changed
		l.mu.Unlock()
		if under == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// send paces the requests. A pacer that was held up catches up, so that the rate
// holds on a busy machine.
func (l *Load) send(ctx, single context.Context) {
	defer l.sender.Done()
	interval := time.Second / time.Duration(l.config.Rate)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for id := uint64(1); ; id++ {
		timer.Reset(time.Until(l.started.Add(time.Duration(id-1) * interval)))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		l.request(single, id)
	}
}

// request sends one request, on a living line or on a connection of its own.
func (l *Load) request(single context.Context, id uint64) {
	l.mu.Lock()
	l.result.Requests++
	l.waiting[id] = time.Now()
	l.mu.Unlock()
	if l.config.Connections == 0 {
		l.single.Add(1)
		go func() {
			defer l.single.Done()
			ctx, cancel := context.WithTimeout(single, l.config.Drain)
			defer cancel()
			if err := l.config.From.Request(ctx, l.config.Protocol, l.config.Target, l.config.ReplySize); err == nil {
				l.replied(id)
			}
		}()
		return
	}
	for i := range l.lines {
		if l.lines[(int(id)+i)%len(l.lines)].ask(id) {
			return
		}
	}
}

// replied books a reply. One that comes twice, or after the count, is nothing.
func (l *Load) replied(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent, ok := l.waiting[id]
	if !ok {
		return
	}
	delete(l.waiting, id)
	now := time.Now()
	took := now.Sub(sent)
	l.result.Replies++
	l.result.Slowest = max(l.result.Slowest, took)
	l.result.LongestGap = max(l.result.LongestGap, now.Sub(l.last))
	if took > l.config.Late {
		l.result.Late++
	}
	l.last = now
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Load) hangUp() {
	for _, line := range l.lines {
		// What is lost with the connection has been waited for already.
		_ = line.close()
	}
}
