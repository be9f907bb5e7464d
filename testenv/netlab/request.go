//go:build linux

package netlab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// Request makes one request from a host, on a connection of its own, and waits
// for the whole reply of replySize bytes (at least 12) until ctx ends. A TCP
// connection ends with a reset, so that no late packet disturbs a later test.
func (h *Host) Request(ctx context.Context, p Protocol, target netip.AddrPort, replySize int) error {
	network := string(p) + "4"
	c, err := h.Dial(ctx, network, target.String())
	if err != nil {
		return fmt.Errorf("requesting: %w", err)
	}
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok {
		if err := tcp.SetLinger(0); err != nil {
			return err
		}
	}
	// A deadline of ctx comes through here too.
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request := encodeRequest(1, replySize)
	if _, err := c.Write(request); err != nil {
		return fmt.Errorf("sending request: %w", err)
	}
	reply := make([]byte, replySize)
	if _, err := io.ReadFull(c, reply); err != nil {
		return fmt.Errorf("reading reply: %w", err)
	}
	if !bytes.Equal(reply[:requestSize], request) {
		return fmt.Errorf("reply to another request: % x", reply[:requestSize])
	}
	return nil
}
