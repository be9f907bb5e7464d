//go:build linux

package netlab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Capture records every frame on some links of a host, both ways.
//
// It never takes its own failure for silence: when it exists it has seen a frame
// of its own on each link, and Stop sees another before it says what there was.
type Capture struct {
	host  *Host
	taps  []*tap
	mu    sync.Mutex
	seen  []Packet
	fresh chan struct{}
}

// tap is the capture's socket on one link.
type tap struct {
	link  string
	index int
	file  *os.File
	// sender is a second socket: the kernel keeps a socket's own frames from it.
	sender *os.File
	// expected is the number of the frame that roundTrip waits for; other
	// captures on the link send theirs.
	expected atomic.Uint64
	arrived  chan struct{}
	ended    chan struct{}
	failure  error
}

// ErrCaptureIncomplete says that frames may be missing from what Stop gives.
var ErrCaptureIncomplete = errors.New("capture is incomplete")

// Capture starts to record on the links, which must be up. When it returns the
// capture runs. Stop it before the host is closed.
func (h *Host) Capture(ctx context.Context, links ...string) (*Capture, error) {
	if len(links) == 0 {
		return nil, fmt.Errorf("capturing on %s: no link named", h.name)
	}
	c := &Capture{host: h, fresh: make(chan struct{})}
	for _, link := range links {
		t, err := h.tap(link)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("capturing on %s %s: %w", h.name, link, err), c.close())
		}
		c.taps = append(c.taps, t)
		go c.read(t)
		if err := t.roundTrip(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("capturing on %s %s: %w", h.name, link, err), c.close())
		}
	}
	return c, nil
}

// Wait gives the first packet, recorded already or yet to come, that match
// accepts. It fails when ctx ends first.
func (c *Capture) Wait(ctx context.Context, match func(Packet) bool) (Packet, error) {
	for next := 0; ; {
		c.mu.Lock()
		seen, fresh := c.seen, c.fresh
		c.mu.Unlock()
		for ; next < len(seen); next++ {
			if match(seen[next]) {
				return seen[next], nil
			}
		}
		select {
		case <-fresh:
		case <-ctx.Done():
			return Packet{}, fmt.Errorf("waiting for a packet on %s, %d others seen: %w", c.host.name, next, ctx.Err())
		}
	}
}

// Stop ends the capture and gives every packet that passed before, in order per
// link. With an error (ErrCaptureIncomplete: a link went away, the socket
// overflowed) the packets are true but not all.
func (c *Capture) Stop(ctx context.Context) ([]Packet, error) {
	var errs []error
	for _, t := range c.taps {
		if err := t.complete(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%w: %s %s: %w", ErrCaptureIncomplete, c.host.name, t.link, err))
		}
	}
	errs = append(errs, c.close())
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen, errors.Join(errs...)
}

// complete proves that the tap has delivered all that passed until now.
func (t *tap) complete(ctx context.Context) error {
	if err := t.roundTrip(ctx); err != nil {
		return err
	}
	stats, err := withFD(t.file, func(fd int) (*unix.TpacketStats, error) {
		return unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	})
	if err != nil {
		return fmt.Errorf("reading statistics: %w", err)
	}
	if stats.Drops > 0 {
		return fmt.Errorf("%d packets lost by the socket", stats.Drops)
	}
	return nil
}

func (c *Capture) close() error {
	var errs []error
	for _, t := range c.taps {
		errs = append(errs, t.file.Close(), t.sender.Close())
		<-t.ended
	}
	c.taps = nil
	return errors.Join(errs...)
}

// tapEtherType is IEEE's "local experimental": no protocol listens to it. The
// frames go to a group address that bridges do not pass on.
const tapEtherType = 0x88b5

var tapGroup = net.HardwareAddr{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

// roundTrip sends a frame of our own with a number in it and waits until the tap
// has read it back, and with it everything before it.
func (t *tap) roundTrip(ctx context.Context) error {
	number := rand.Uint64()
	t.expected.Store(number)
	frame := append(append([]byte{}, tapGroup...), make([]byte, 6)...)
	frame = binary.BigEndian.AppendUint16(frame, tapEtherType)
	frame = binary.BigEndian.AppendUint64(frame, number)
	frame = append(frame, make([]byte, 60-len(frame))...)
	to := &unix.SockaddrLinklayer{Protocol: htons(tapEtherType), Ifindex: t.index, Halen: 6}
	if _, err := withFD(t.sender, func(fd int) (struct{}, error) {
		return struct{}{}, unix.Sendto(fd, frame, 0, to)
	}); err != nil {
		return fmt.Errorf("sending a frame: %w", err)
	}
	select {
	case <-t.arrived:
		return nil
	case <-t.ended:
		return fmt.Errorf("reading: %w", t.failure)
	case <-ctx.Done():
		return fmt.Errorf("waiting for the capture's own frame: %w", ctx.Err())
	}
}

// tap opens a packet socket on one link.
func (h *Host) tap(link string) (*tap, error) {
	attrs, err := h.Link(link)
	if err != nil {
		return nil, err
	}
	t := &tap{link: link, index: attrs.Index, arrived: make(chan struct{}, 1), ended: make(chan struct{})}
	if t.file, err = h.packetSocket(attrs.Index, unix.ETH_P_ALL); err != nil {
		return nil, err
	}
	if t.sender, err = h.packetSocket(attrs.Index, sendOnly); err != nil {
		return nil, errors.Join(err, t.file.Close())
	}
	return t, nil
}

// read collects until the socket is closed or its link is gone.
func (c *Capture) read(t *tap) {
	defer close(t.ended)
	buffer := make([]byte, 65536)
	for {
		n, from, err := receive(t.file, buffer)
		if err != nil {
			t.failure = err
			return
		}
		frame := buffer[:n]
		if n >= 22 && binary.BigEndian.Uint16(frame[12:]) == tapEtherType && bytes.Equal(frame[:6], tapGroup) {
			// Numbers are random, so a frame is awaited once at most.
			if t.expected.CompareAndSwap(binary.BigEndian.Uint64(frame[14:]), 0) {
				t.arrived <- struct{}{}
			}
			continue
		}
		p := decode(frame)
		p.Link = t.link
		p.Leaving = from.Pkttype == unix.PACKET_OUTGOING
		c.mu.Lock()
		c.seen = append(c.seen, p)
		close(c.fresh)
		c.fresh = make(chan struct{})
		c.mu.Unlock()
	}
}

// withFD runs f on a file's descriptor without making it blocking.
func withFD[T any](file *os.File, f func(fd int) (T, error)) (result T, err error) {
	var raw syscall.RawConn
	if raw, err = file.SyscallConn(); err != nil {
		return result, err
	}
	controlErr := raw.Control(func(fd uintptr) { result, err = f(int(fd)) })
	return result, errors.Join(controlErr, err)
}
