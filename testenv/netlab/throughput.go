//go:build linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// Throughput is what one connection carried.
type Throughput struct {
	// Replies that came, and their bytes without headers.
	Replies, Bytes int64
	// Elapsed is the time measured, in nanoseconds.
	Elapsed time.Duration
}

// PerSecond gives replies and bytes per second.
func (t Throughput) PerSecond() (replies, bytes float64) {
	s := t.Elapsed.Seconds()
	return float64(t.Replies) / s, float64(t.Bytes) / s
}

// Throughput asks over one connection as fast as replies come, for a time, with
// window requests under way at once: big replies over TCP measure bytes, small
// ones over UDP packets. Lost datagrams are asked for again after 50 ms without
// any reply.
func (h *Host) Throughput(ctx context.Context, p Protocol, target netip.AddrPort, replySize, window int, d time.Duration) (Throughput, error) {
	c, err := h.Dial(ctx, string(p)+"4", target.String())
	if err != nil {
		return Throughput{}, fmt.Errorf("measuring throughput: %w", err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	t, err := pump(c, p == UDP, max(replySize, requestSize), window, d)
	if err != nil {
		return t, fmt.Errorf("measuring throughput: %w", errors.Join(ctx.Err(), err))
	}
	return t, nil
}

// pump keeps window requests under way.
func pump(c net.Conn, lossy bool, replySize, window int, d time.Duration) (t Throughput, err error) {
	const silence = 50 * time.Millisecond
	request := encodeRequest(1, replySize)
	reply := make([]byte, replySize)
	started := time.Now()
	defer func() { t.Elapsed = time.Since(started) }()
	for missing := window; time.Since(started) < d; {
		for ; missing > 0; missing-- {
			if _, err := c.Write(request); err != nil {
				return t, err
			}
		}
		deadline := started.Add(d + time.Second)
		if lossy {
			deadline = time.Now().Add(silence)
		}
		if err := c.SetReadDeadline(deadline); err != nil {
			return t, err
		}
		n, err := io.ReadFull(c, reply)
		switch {
		case err == nil:
			t.Replies++
			t.Bytes += int64(n)
			missing = 1
		case lossy && errors.Is(err, os.ErrDeadlineExceeded):
			missing = window
		default:
			return t, err
		}
	}
	return t, nil
}
