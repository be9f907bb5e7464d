//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"homeward/testenv/netlab"
)

// repairs measures the time from a foreign flush to the whole table.
func (b *bench) repairs(ctx context.Context, ours, theirs int) error {
	for _, m := range []struct {
		contender contender
		n         int
	}{{b.ours(), ours}, {shell(), theirs}} {
		times, err := flushed(ctx, m.contender, m.n)
		if err != nil {
			return err
		}
		if len(times) == 0 {
			fmt.Printf("repair after a foreign flush, %s: not measured, %s\n", m.contender.Name, m.contender.missing())
			continue
		}
		slices.Sort(times)
		fmt.Printf("repair after a foreign flush, %s: p50 %v, p99 %v, most %v (%d flushes)\n",
			m.contender.Name, round(quantile(times, 50)), round(quantile(times, 99)), round(times[len(times)-1]), len(times))
	}
	return nil
}

// flushed gives the times of n repairs, none when the contender cannot run. A
// program that ends by the flush is started again at once, which is kinder than a
// kubelet.
func flushed(ctx context.Context, c contender, n int) (times []time.Duration, err error) {
	if c.missing() != "" || n == 0 {
		return nil, nil
	}
	s, err := newStage(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, s.Close()) }()
	ended, stop := s.keepStarted(ctx)
	defer func() { stop(); <-ended }()
	for range n {
		if err := s.standing(ctx); err != nil {
			return nil, err
		}
		if err := pause(ctx, 20*time.Millisecond+rand.N(c.period+1)); err != nil {
			return nil, err
		}
		if err := s.node().FlushRuleset(); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := s.standing(ctx); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// keepStarted starts the program again whenever it ends, until stop is called.
func (s *stage) keepStarted(ctx context.Context) (ended <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			line := s.contender.Command(s.node())
			process := s.node().Command(ctx, line[0], line[1:]...)
			process.Stdout, process.Stderr = s.log, s.log
			_ = process.Run() // that it ended is all that counts
		}
	}()
	return done, cancel
}

// quantile gives the p-th percentile of sorted times, by nearest rank.
func quantile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1]
}

func round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

// restarts measures what 50 restarts cost under load.
func (b *bench) restarts(ctx context.Context, n int) error {
	for _, c := range []contender{b.ours(), shell()} {
		if why := c.missing(); why != "" {
			fmt.Printf("restarts under load, %s: not measured, %s\n", c.Name, why)
			continue
		}
		result, err := restarted(ctx, c, n)
		if err != nil {
			return err
		}
		fmt.Printf("%d restarts under load, %s: %d of %d replies lost\n", n, c.Name, result.Lost, result.Requests)
	}
	return nil
}

// restarted ends the program n times, by SIGTERM and SIGKILL in turn, and starts
// it again at once, with UDP requests under way.
func restarted(ctx context.Context, c contender, n int) (result netlab.LoadResult, err error) {
	s, err := newStage(c)
	if err != nil {
		return result, err
	}
	defer func() { err = join(err, s.Close()) }()
	if err := s.start(ctx); err != nil {
		return result, err
	}
	if err := s.standing(ctx); err != nil {
		return result, err
	}
	load, err := netlab.StartLoad(ctx, netlab.LoadConfig{
		From: s.Behind, Protocol: netlab.UDP, Target: s.podHere(), Rate: 1000, Connections: 4, Drain: time.Second,
	})
	if err != nil {
		return result, err
	}
	defer func() { result = load.Stop() }()
	for i := range n {
		s.end([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[i%2])
		if err := s.start(ctx); err != nil {
			return result, err
		}
		if err := s.standing(ctx); err != nil {
			return result, err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return result, err
		}
	}
	return result, nil
}
