//go:build linux

package netlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// line is one long-lived connection of a load.
type line struct {
	load   *Load
	conn   net.Conn
	broken atomic.Bool
	closed atomic.Bool
	ended  chan struct{}
	ready  chan struct{}
}

// firstID is the id of a line's first request, which only proves that it works.
const firstID = 0

// askAgain is how long the first reply may take before the request is repeated.
const askAgain = 500 * time.Millisecond

// connect opens a line and waits for its first reply.
func (l *Load) connect(ctx context.Context) (*line, error) {
	conn, err := l.config.From.Dial(ctx, string(l.config.Protocol)+"4", l.config.Target.String())
	if err != nil {
		return nil, err
	}
	ln := &line{load: l, conn: conn, ended: make(chan struct{}), ready: make(chan struct{})}
	go ln.read()
	if !ln.ask(firstID) {
		return nil, fmt.Errorf("sending first request: %w", ln.close())
	}
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for {
		select {
		case <-ln.ready:
			return ln, nil
		case <-again.C:
			// A busy kernel may drop a datagram, and nobody else would send it again.
			if l.config.Protocol == UDP {
				ln.ask(firstID)
			}
		case <-ln.ended:
			return nil, fmt.Errorf("waiting for first reply: connection ended: %w", ln.close())
		case <-ctx.Done():
			_ = ln.close()
			return nil, fmt.Errorf("waiting for first reply: %w", ctx.Err())
		}
	}
}

// ask sends a request; false says that the line is broken.
func (ln *line) ask(id uint64) bool {
	if ln.broken.Load() {
		return false
	}
	// A full send buffer means that nothing has come through for long.
	if err := ln.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		ln.fail()
		return false
	}
	_, err := ln.conn.Write(encodeRequest(id, ln.load.config.ReplySize))
	if err != nil && ln.load.config.Protocol == UDP {
		// An ICMP error for an earlier datagram; this one was not sent, and counts
		// as lost.
		return true
	}
	if err != nil {
		ln.fail()
		return false
	}
	return true
}

// read books replies until the line ends.
func (ln *line) read() {
	defer close(ln.ended)
	reply := make([]byte, ln.load.config.ReplySize)
	first := true
	for {
		if _, err := io.ReadFull(ln.conn, reply); err != nil {
			if ln.load.config.Protocol == UDP && !ln.closed.Load() {
				continue
			}
			ln.fail()
			return
		}
		id := binary.BigEndian.Uint64(reply)
		if id == firstID && first {
			first = false
			close(ln.ready)
			continue
		}
		ln.load.replied(id)
	}
}

// fail counts a line as broken once, unless we closed it ourselves.
func (ln *line) fail() {
	if ln.closed.Load() || ln.broken.Swap(true) {
		return
	}
	ln.load.mu.Lock()
	ln.load.result.Broken++
	ln.load.mu.Unlock()
}

func (ln *line) close() error {
	ln.closed.Store(true)
	if tcp, ok := ln.conn.(*net.TCPConn); ok {
		// A reset leaves no packets that a later test could see.
		_ = tcp.SetLinger(0)
	}
	err := ln.conn.Close()
	<-ln.ended
	return err
}
