package probe

import (
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// newRunner makes TCP handshakes past Go's poller, and whatever needs more than
// that as net.Dialer does.
func newRunner(s *Settings, finish finish) runner {
	others := newCrew(dialer(s), finish)
	if s.Mode != ModeTCP {
		return others
	}
	h, err := newHandshakes(min(s.Timeout, HandshakeLimit), others, finish)
	if err != nil {
		return others // dearer, and the same
	}
	return h
}

// handshakes is a runner of bare TCP handshakes: non-blocking sockets and an
// epoll of its own, with which the goroutine that begins attempts also collects
// their results while it waits for the next. A goroutine, a deadline's timer and
// Go's poller for each attempt would cost as much as the handshake itself.
type handshakes struct {
	limit  time.Duration
	others *crew
	finish finish
	own    portRange
	epoll  int
	// wake is an eventfd that ends a pause when the context ends of which heard is
	// the channel; -1 when it is closed.
	wake   int
	waking sync.Mutex
	heard  <-chan struct{}
	unhear func() bool
	// open is by descriptor, and queue in the order in which they began and so
	// will be too late; what is closed stays in it until then, or till it is first.
	open   map[int]*handshake
	queue  []*handshake
	events []unix.EpollEvent
}

// handshake is one under way; its descriptor is -1 when it is closed.
type handshake struct {
	track  *track
	flight *flight
	fd     int
	began  time.Time
}

// eventsAtOnce is how many ends of handshakes are taken at once.
const eventsAtOnce = 256

func newHandshakes(limit time.Duration, others *crew, finish finish) (*handshakes, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wake)})
	}
	h := &handshakes{
		limit: limit, others: others, finish: finish, own: clientPorts(), epoll: epoll, wake: wake,
		unhear: func() bool { return true }, open: map[int]*handshake{}, events: make([]unix.EpollEvent, eventsAtOnce),
	}
	if err != nil {
		h.closeOwn()
		return nil, os.NewSyscallError("eventfd", err)
	}
	return h, nil
}

func (h *handshakes) begin(t *track, f *flight) {
	if t.target.Address.Addr().Zone() != "" {
		h.others.begin(t, f) // the net package knows the interfaces' names
		return
	}
	a := &handshake{track: t, flight: f, began: time.Now()}
	err := h.connect(a)
	if err == nil {
		h.open[a.fd] = a
		h.queue = append(h.queue, a)
		return
	}
	h.end(a, time.Now(), result{limit: h.limit}.failure(err))
}

// connect sends the SYN and has epoll listen for what comes of it.
func (h *handshakes) connect(a *handshake) (err error) {
	family, address := socketAddress(a.track.target.Address)
	a.fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	// Closing sends a reset: see the package's comment.
	if err := unix.SetsockoptLinger(a.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	switch err := unix.Connect(a.fd, address); err {
	case nil, unix.EINPROGRESS, unix.EINTR: // the end of all of them is told by epoll
	default:
		return os.NewSyscallError("connect", err)
	}
	// Only now: a socket that has not begun to connect counts as hung up.
	event := unix.EpollEvent{Events: unix.EPOLLOUT, Fd: int32(a.fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(h.epoll, unix.EPOLL_CTL_ADD, a.fd, &event))
}

func socketAddress(to netip.AddrPort) (family int, address unix.Sockaddr) {
	if to.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}

func (h *handshakes) pause(ctx context.Context, d time.Duration) {
	if h.hear(ctx); ctx.Err() != nil {
		return
	}
	if len(h.queue) > 0 {
		d = min(d, time.Until(h.queue[0].began.Add(h.limit)))
	}
	// ppoll takes nanoseconds, where epoll_wait takes milliseconds. Whatever ends
	// it, the caller looks at the clock.
	timeout := unix.NsecToTimespec(max(0, d.Nanoseconds()))
	_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(h.epoll), Events: unix.POLLIN}}, &timeout, nil)
}

// hear has the end of a context wake the pauses.
func (h *handshakes) hear(ctx context.Context) {
	if h.heard == ctx.Done() {
		return
	}
	h.unhear()
	h.heard = ctx.Done()
	h.unhear = context.AfterFunc(ctx, func() {
		h.waking.Lock()
		defer h.waking.Unlock()
		// What cannot be written is readable already, or closed.
		_, _ = unix.Write(h.wake, binary.NativeEndian.AppendUint64(nil, 1))
	})
}

func (h *handshakes) collect() {
	// Before what is asked then: who has not answered by now is too late at this
	// time, however long this process is kept from running after it.
	asked := time.Now()
	n, err := unix.EpollWait(h.epoll, h.events, 0)
	ended := time.Now()
	for _, e := range h.events[:max(0, n)] {
		if a := h.open[int(e.Fd)]; a != nil {
			h.end(a, ended, h.judge(a, e.Events, ended))
		} else {
			_, _ = unix.Read(h.wake, make([]byte, 8))
		}
	}
	if err != nil || n == len(h.events) {
		return // there may be more that have answered
	}
	for ; len(h.queue) > 0; h.queue = h.queue[1:] {
		a := h.queue[0]
		if a.fd < 0 {
			continue
		}
		if asked.Sub(a.began) < h.limit {
			return
		}
		h.end(a, ended, result{limit: h.limit}.failure(os.ErrDeadlineExceeded))
	}
}

// judge says what has come of a handshake.
func (h *handshakes) judge(a *handshake, events uint32, ended time.Time) result {
	r := result{limit: h.limit, connect: ended.Sub(a.began)}
	switch {
	case events&(unix.EPOLLERR|unix.EPOLLHUP) != 0:
		return r.failure(socketError(a.fd))
	case r.connect > h.limit && repeated(a.fd):
		// This process was kept from running, and the answer may be to the SYN that
		// was repeated meanwhile.
		return r.failure(os.ErrDeadlineExceeded)
	case h.own.has(a.track.target.Address.Port()) && metItself(a.fd, a.track.target.Address):
		return r.failure(unix.ECONNREFUSED)
	}
	return r
}

// end closes a handshake and gives its result.
func (h *handshakes) end(a *handshake, ended time.Time, r result) {
	if a.fd >= 0 {
		delete(h.open, a.fd)
		_ = unix.Close(a.fd) // epoll forgets it
		a.fd = -1
	}
	h.finish(a.track, a.flight, a.began, ended, r)
}

func (h *handshakes) drain(ctx context.Context) {
	for h.collect(); len(h.open) > 0 && ctx.Err() == nil; h.collect() {
		h.pause(ctx, h.limit)
	}
	h.others.drain(ctx)
}

func (h *handshakes) close() {
	for fd := range h.open {
		_ = unix.Close(fd)
	}
	h.unhear()
	h.closeOwn()
	h.others.close()
}

// closeOwn closes what no handshake owns.
func (h *handshakes) closeOwn() {
	h.waking.Lock()
	defer h.waking.Unlock()
	for _, fd := range []int{h.epoll, h.wake} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	h.epoll, h.wake = -1, -1
}
