package probe

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

// grip makes single handshakes and gives their results.
type grip struct {
	*handshakes
	got chan result
}

func newGrip(t *testing.T, limit time.Duration) grip {
	t.Helper()
	s := Settings{Mode: ModeTCP, Timeout: limit}
	g := grip{got: make(chan result, 1)}
	take := func(_ *track, _ *flight, _, _ time.Time, r result) { g.got <- r }
	h, ok := newRunner(&s, take).(*handshakes)
	if !ok {
		t.Fatal("no epoll here")
	}
	g.handshakes = h
	return g
}

// start begins a handshake.
func (g grip) start(target string) {
	g.begin(&track{target: Target{Name: target, Address: netip.MustParseAddrPort(target)}}, &flight{})
}

// end waits for its end.
func (g grip) end(t *testing.T) result {
	t.Helper()
	g.drain(t.Context())
	return <-g.got
}

func TestHandshakes(t *testing.T) {
	w := newWire(t)
	const hole = "203.0.113.1:443"
	must(t, w.client.Do(func() error {
		nl := w.client.Netlink()
		_, far, _ := net.ParseCIDR("203.0.113.0/24")
		return nl.RouteAdd(&netlink.Route{Dst: far, Type: unix.RTN_PROHIBIT})
	}))
	six, err := w.client.Listen("tcp6", "[::1]:443")
	must(t, err)
	defer six.Close()
	go accept(six)
	for _, c := range []struct {
		name, target string
		cause        Cause
		own          string
	}{
		{"answered", w.target, "", ""},
		{"nobody on the segment", "192.0.2.3:443", CauseTimeout, ""},
		{"nobody listens", "192.0.2.2:444", CauseRefused, ""},
		{"no route", "198.51.100.1:443", CauseNoRoute, ""},
		{"a route that forbids", hole, "", "not permitted on this machine"},
		{"IPv6 answered", "[::1]:443", "", ""},
		{"IPv6 refused", "[::1]:444", CauseRefused, ""},
		{"IPv6 without a route", "[2001:db8::1]:443", CauseNoRoute, ""},
		{"a zone that is no interface", "[fe80::1%eth9]:443", "", "invalid argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, w.client.Do(func() error {
				g := newGrip(t, 300*ms)
				defer g.close()
				g.start(c.target)
				r := g.end(t)
				if r.cause != c.cause || (r.verdict == failed) != (c.cause != "") || (r.verdict == unknown) != (c.own != "") || !strings.Contains(r.own, c.own) {
					t.Errorf("%+v", r)
				}
				if (r.connect > 0) != (r.verdict == answered) || r.limit != 300*ms {
					t.Errorf("connected after %v of %v: %+v", r.connect, r.limit, r)
				}
				s := Settings{Mode: ModeTCP, Timeout: 300 * ms}
				if as := overTCP(&net.Dialer{}, &s, &Target{Address: netip.MustParseAddrPort(c.target)}); as.verdict != r.verdict || as.cause != r.cause {
					t.Errorf("net.Dialer gives %+v, and this %+v", as, r)
				}
				return nil
			}))
		})
	}
}

// A target in a zone is left to goroutines, and so needs a process in the network.
func TestLinkLocalTarget(t *testing.T) {
	w := newWire(t)
	for _, side := range []struct {
		host          *netlab.Host
		link, address string
	}{{w.client, "eth0", "fe80::1/64"}, {w.server, "eth1", "fe80::2/64"}} {
		// To be used at once, without asking for a second whether another has it.
		must(t, side.host.SetSysctl("net/ipv6/conf/"+side.link+"/accept_dad", "0"))
		must(t, side.host.AddAddress(side.link, netip.MustParsePrefix(side.address)))
	}
	six, err := w.server.Listen("tcp6", "[::]:444")
	must(t, err)
	defer six.Close()
	go accept(six)
	r := start(t, w.client, job{Targets: []string{"[fe80::2%eth0]:444", w.target}, Mode: ModeTCP, Interval: 20 * ms, Timeout: HandshakeLimit})
	time.Sleep(200 * ms)
	for _, target := range r.stop().Targets {
		if target.Answered == 0 || target.Answered != target.Attempts {
			t.Errorf("%s: %d of %d answered, %v", target.Target, target.Answered, target.Attempts, target.Causes)
		}
	}
}

// What the server does with a connection before this process looks.
func TestHandshakeThatIsSeenLate(t *testing.T) {
	for name, c := range map[string]struct {
		linger int
		want   Cause
	}{
		"ended by the server": {-1, ""},
		"reset by the server": {0, CauseReset},
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			address := serve(t, func(conn net.Conn) {
				_ = conn.(*net.TCPConn).SetLinger(c.linger)
				_ = conn.Close()
				close(done)
			})
			g := newGrip(t, HandshakeLimit)
			defer g.close()
			g.start(address)
			<-done
			if r := g.end(t); r.cause != c.want || (r.verdict == answered) != (c.want == "") {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("answered in time", func(t *testing.T) {
		w := newWire(t)
		must(t, w.client.Do(func() error {
			g := newGrip(t, 100*ms)
			defer g.close()
			g.start(w.target)
			time.Sleep(150 * ms)
			if r := g.end(t); r.verdict != answered {
				t.Errorf("%+v", r)
			}
			return nil
		}))
	})
	t.Run("answered when the kernel asked again", func(t *testing.T) {
		w := newWire(t)
		must(t, w.server.Cut(w.ip))
		must(t, w.client.Do(func() error {
			g := newGrip(t, HandshakeLimit)
			defer g.close()
			g.start(w.target)
			must(t, w.server.Mend())
			// The SYN is repeated after a second.
			must(t, waitFor(t.Context(), g.epoll))
			if r := g.end(t); r.cause != CauseTimeout {
				t.Errorf("%+v", r)
			}
			return nil
		}))
	})
}

// waitFor waits until a descriptor is readable.
func waitFor(ctx context.Context, fd int) error {
	for ctx.Err() == nil {
		const tick = 100
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, tick); n > 0 {
			return nil
		} else if err != nil && err != unix.EINTR {
			return err
		}
	}
	return ctx.Err()
}

func TestPortsOfClients(t *testing.T) {
	w := newWire(t)
	const only = "40000"
	must(t, w.client.SetSysctl("net/ipv4/ip_local_port_range", only+" "+only))
	must(t, w.client.Do(func() error {
		g := newGrip(t, HandshakeLimit)
		defer g.close()
		g.start("192.0.2.1:" + only)
		if r := g.end(t); r.cause != CauseRefused {
			t.Errorf("a socket that was connected with itself: %+v", r)
		}
		held, err := net.Dial("tcp4", w.target)
		must(t, err)
		defer held.Close()
		g.start(w.target)
		if r := g.end(t); r.verdict != unknown || !strings.Contains(r.own, "no free local port") {
			t.Errorf("without a free port: %+v", r)
		}
		return nil
	}))
}

func TestPauseEnds(t *testing.T) {
	g := newGrip(t, HandshakeLimit)
	defer g.close()
	ctx, cancel := context.WithCancel(t.Context())
	pause := func(ctx context.Context) {
		ended := make(chan struct{})
		go func() {
			g.pause(ctx, time.Hour)
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("it goes on")
		}
	}
	time.AfterFunc(50*ms, cancel)
	pause(ctx)
	g.collect()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(g.epoll), Events: unix.POLLIN}}, 0); n != 0 || err != nil {
		t.Errorf("the next pause would end at once: %d, %v", n, err)
	}
	g.start(serve(t, func(c net.Conn) { _ = c.Close() }))
	pause(t.Context())
	if r := g.end(t); r.verdict != answered {
		t.Errorf("%+v", r)
	}
	if len(g.open) != 0 || len(g.queue) != 0 {
		t.Errorf("%d open, %d remembered after all", len(g.open), len(g.queue))
	}
}
