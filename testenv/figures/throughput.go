//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"homeward/testenv/netlab"
)

const (
	// rounds of A, B, A; each of the three takes slice.
	rounds = 10
	slice  = 500 * time.Millisecond
	// sourceRule is asked before ours, so that replies come home without marks
	// too: what is measured is the marking, not the way.
	sourceRule = 900
)

// throughput compares a connection through the node with and without our table,
// interleaved. The spread between the two A's is what chance alone makes.
func (b *bench) throughput(ctx context.Context) (err error) {
	s, err := newStage(b.ours())
	if err != nil {
		return err
	}
	defer func() { err = join(err, s.Close()) }()
	pod := netip.PrefixFrom(s.node().PodAddress, 32)
	if err := s.node().AddRule(netlab.Rule{Priority: sourceRule, Source: pod, Table: 251}); err != nil {
		return err
	}
	for _, kind := range []struct {
		name      string
		protocol  netlab.Protocol
		replySize int
		window    int
	}{
		{"bytes (TCP, 16 KiB replies)", netlab.TCP, 16 << 10, 8},
		{"packets (UDP, smallest replies)", netlab.UDP, netlab.SmallestReply, 32},
	} {
		measure := func() (float64, error) {
			t, err := s.Behind.Throughput(ctx, kind.protocol, s.podHere(), kind.replySize, kind.window, slice)
			perSecond, _ := t.PerSecond()
			return perSecond, err
		}
		var with, spread []float64
		for range rounds {
			before, after, marked, err := s.interleaved(ctx, measure)
			if err != nil {
				return err
			}
			with = append(with, 2*marked/(before+after))
			spread = append(spread, after/before)
		}
		fmt.Printf("%s: with our table %s of without; without against itself %s (%d rounds)\n",
			kind.name, span(with), span(spread), rounds)
	}
	return nil
}

// interleaved measures without, with and without our table.
func (s *stage) interleaved(ctx context.Context, measure func() (float64, error)) (before, after, marked float64, err error) {
	if err := s.node().FlushRuleset(); err != nil {
		return 0, 0, 0, err
	}
	before, err = measure()
	if err != nil {
		return 0, 0, 0, err
	}
	if err := s.start(ctx); err != nil {
		return 0, 0, 0, err
	}
	if err := s.standing(ctx); err != nil {
		return 0, 0, 0, err
	}
	marked, err = measure()
	s.end(15)
	if err != nil {
		return 0, 0, 0, err
	}
	if err := s.node().FlushRuleset(); err != nil {
		return 0, 0, 0, err
	}
	after, err = measure()
	return before, after, marked, err
}

func join(err, other error) error { return errors.Join(err, other) }
