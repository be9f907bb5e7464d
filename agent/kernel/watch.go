//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	// watchBuffer is a subscription's receive buffer in bytes: large enough for a
	// kube-proxy that loads thousands of rules at once.
	watchBuffer = 1 << 20
	// rejoin is the wait before a subscription that failed is made again; while
	// that fails too (no rights) it doubles up to rejoinMost.
	rejoin     = time.Second
	rejoinMost = time.Minute
)

// subscription is one socket of events, and which of its messages count. what
// gives the kind of thing that changed, "" for a message that does not count.
type subscription struct {
	family int
	groups []uint32
	what   func(netlink.Message) string
}

// subscriptions are what Watch listens to. A route that goes with its link raises
// no event of its own, and neither do routes that go with a link's last address.
func subscriptions() []subscription {
	return []subscription{
		{unix.NETLINK_NETFILTER, []uint32{unix.NFNLGRP_NFTABLES}, nftChange},
		{unix.NETLINK_ROUTE, []uint32{
			unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV4_RULE,
			unix.RTNLGRP_IPV6_ROUTE,
		}, routingChange},
	}
}

// Watch sends what kind of thing changed ("table", "link", "address", "route",
// "rule"), until the context ends. One word that waits stands for all: nothing
// piles up while the reader is busy. A socket that overflows or breaks counts as
// a change ("missed"), and is opened again.
//
// It listens on sockets of its own and not by the library's monitor: that decodes
// every rule of every table on the node.
func (k *Kernel) Watch(ctx context.Context) <-chan string {
	out := make(chan string, 1)
	send := func(what string) {
		select {
		case out <- what:
		default:
		}
	}
	var listening sync.WaitGroup
	for _, s := range subscriptions() {
		// The first subscription stands before Watch returns, so that what happens
		// after it is not missed.
		conn, err := s.join()
		listening.Go(func() { k.follow(ctx, s, conn, err, send) })
	}
	return out
}

// join opens the socket and subscribes.
func (s subscription) join() (*netlink.Conn, error) {
	conn, err := netlink.Dial(s.family, nil)
	if err != nil {
		return nil, fmt.Errorf("opening netlink family %d: %w", s.family, err)
	}
	for _, g := range s.groups {
		if err := conn.JoinGroup(g); err != nil {
			return nil, errors.Join(fmt.Errorf("subscribing to netlink group %d of family %d: %w", g, s.family, err), conn.Close())
		}
	}
	if err := conn.SetReadBuffer(watchBuffer); err != nil {
		return nil, errors.Join(fmt.Errorf("setting a netlink receive buffer: %w", err), conn.Close())
	}
	return conn, nil
}

// follow reads a subscription until the context ends, and makes it again when it
// breaks.
func (k *Kernel) follow(ctx context.Context, s subscription, conn *netlink.Conn, err error, send func(string)) {
	wait := rejoin
	for ctx.Err() == nil {
		if err == nil {
			wait = rejoin
			err = s.read(ctx, conn, send)
		}
		if ctx.Err() != nil {
			return
		}
		k.log.Warn("watching the kernel", "error", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, rejoinMost)
		conn, err = s.join()
		send("missed")
	}
}

// read sends changes until the socket fails or the context ends, and closes it.
func (s subscription) read(ctx context.Context, conn *netlink.Conn, send func(string)) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		messages, err := conn.Receive()
		switch {
		case errors.Is(err, unix.ENOBUFS):
			send("missed")
			continue
		case err != nil:
			return errors.Join(err, conn.Close())
		}
		for _, m := range messages {
			if what := s.what(m); what != "" {
				send(what)
			}
		}
	}
}
