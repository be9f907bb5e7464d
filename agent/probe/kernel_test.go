//go:build linux

package probe

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// wire is a client and a server with a cable between them.
type wire struct {
	client, server *netlab.Host
	clientIP, ip   netip.Addr
	target         string
}

func newWire(t testing.TB) wire {
	t.Helper()
	netlab.Require(t)
	w := wire{client: newHost(t, "client"), server: newHost(t, "server"),
		clientIP: netip.MustParseAddr("192.0.2.1"), ip: netip.MustParseAddr("192.0.2.2"), target: "192.0.2.2:443"}
	must(t, netlab.Connect(w.client, "eth0", w.server, "eth1"))
	must(t, w.client.AddAddress("eth0", netip.PrefixFrom(w.clientIP, 24)))
	must(t, w.server.AddAddress("eth1", netip.PrefixFrom(w.ip, 24)))
	listener, err := w.server.Listen("tcp4", w.target)
	must(t, err)
	go accept(listener)
	t.Cleanup(func() { must(t, listener.Close()) })
	return w
}

// accept takes connections as a server does, and ends them when the client does.
func accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}()
	}
}

func newHost(t testing.TB, name string) *netlab.Host {
	t.Helper()
	h, err := netlab.NewHost(name)
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// known is when a cut was in force: within two times each, since a change of the
// rules takes a while.
type known struct{ shortest, longest time.Duration }

// cutFor cuts the wire for about a time.
func (w wire) cutFor(t testing.TB, d time.Duration) known {
	t.Helper()
	before := time.Now()
	must(t, w.server.Cut(w.ip))
	after := time.Now()
	time.Sleep(time.Until(after.Add(d)))
	mending := time.Now()
	must(t, w.server.Mend())
	return known{shortest: mending.Sub(after), longest: time.Since(before)}
}

func TestCutOnTheWire(t *testing.T) {
	for _, d := range []time.Duration{50 * ms, 300 * ms, time.Second} {
		t.Run(d.String(), func(t *testing.T) {
			w := newWire(t)
			r := start(t, w.client, job{Targets: []string{w.target}, Mode: ModeTCP, Interval: 10 * ms, Timeout: HandshakeLimit})
			time.Sleep(200 * ms)
			k := w.cutFor(t, d)
			o := r.wait(EventOutageEnd).Outage
			// A busy machine sends the SYN a moment after the attempt has begun.
			const moment = 20 * ms
			if o.AtLeast > k.longest+moment || o.AtMost < k.shortest-moment || o.Causes[CauseTimeout] == 0 || len(o.Causes) != 1 {
				t.Errorf("a cut of %v to %v is measured as %+v", k.shortest, k.longest, o)
			}
			if widest := o.AtMost - o.AtLeast; o.Length < k.shortest-widest-moment || o.Length > k.longest+widest+moment {
				t.Errorf("a cut of %v to %v is measured as %v", k.shortest, k.longest, o.Length)
			}
			if got := r.stop().Targets[0]; got.OutageCount != 1 || !got.Up {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWhyThereIsNoAnswer(t *testing.T) {
	w := newWire(t)
	const nobody, closed, far = "192.0.2.3:443", "192.0.2.2:444", "198.51.100.1:443"
	r := start(t, w.client, job{Targets: []string{w.target, nobody, closed, far}, Mode: ModeTCP, Interval: 20 * ms, Timeout: 100 * ms})
	time.Sleep(500 * ms)
	s := r.stop()
	for i, want := range []Cause{"", CauseTimeout, CauseRefused, CauseNoRoute} {
		got := s.Targets[i]
		if got.Failed != got.Causes[want] || want == "" && got.Answered == 0 || want != "" && (got.Failed == 0 || got.Answered != 0) {
			t.Errorf("%s: %d answered, failed by %v, want %q", got.Target, got.Answered, got.Causes, want)
		}
	}
}

func TestNoSocketStaysInTimeWait(t *testing.T) {
	w := newWire(t)
	r := start(t, w.client, job{Targets: []string{w.target}, Mode: ModeTCP, Interval: 5 * ms, Timeout: HandshakeLimit})
	time.Sleep(200 * ms)
	if s := r.stop(); s.Targets[0].Answered < 10 {
		t.Fatalf("only %d answered", s.Targets[0].Answered)
	}
	var text []byte
	must(t, w.client.Do(func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/tcp")
		return err
	}))
	const timeWait = " 06 "
	if n := strings.Count(string(text), timeWait); n != 0 {
		t.Errorf("%d sockets in TIME_WAIT:\n%s", n, text)
	}
}

func TestTakeOverIsSeen(t *testing.T) {
	w := newWire(t)
	r := start(t, w.client, job{Targets: []string{w.target}, Mode: ModeTCP, Interval: 20 * ms, Timeout: HandshakeLimit})
	time.Sleep(400 * ms)
	before := time.Now()
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 0x75}
	must(t, w.server.SetMAC("eth1", mac))
	// Asking for the client's MAC tells the client the new one.
	if c, err := w.server.Dial(t.Context(), "tcp4", "192.0.2.1:9"); err == nil {
		must(t, c.Close())
	}
	change := r.wait(EventMACChange).MACChange
	if change.To != mac.String() || change.From == mac.String() || change.Interface != "eth0" || change.Time.Before(before) || change.NotBefore.After(change.Time) {
		t.Errorf("%+v", change)
	}
	if s := r.stop(); s.Targets[0].Interface != "eth0" || s.Targets[0].MAC != mac.String() || s.Targets[0].MACChangeCount != 1 {
		t.Errorf("%+v", s.Targets[0])
	}
}

func TestStoppedProbeWasAway(t *testing.T) {
	w := newWire(t)
	r := start(t, w.client, job{Targets: []string{w.target}, Mode: ModeTCP, Interval: 20 * ms, Timeout: 200 * ms})
	time.Sleep(300 * ms)
	r.signal(syscall.SIGSTOP)
	time.Sleep(1500 * ms)
	r.signal(syscall.SIGCONT)
	away := r.wait(EventAway).Away
	if away.Length < 1400*ms || away.Slept {
		t.Errorf("%+v", away)
	}
	s := r.stop()
	if s.Targets[0].OutageCount != 0 || s.AwayCount != 1 || s.Missed < 60 {
		t.Errorf("missed %d, away %d, %+v", s.Missed, s.AwayCount, s.Targets[0].Outages)
	}
	if j := s.Judge(time.Second); len(j.Unknown) != 1 || len(j.Broken) != 0 {
		t.Errorf("judged %+v", j)
	}
}

func TestTooFewFilesAreTheProbesOwnFailure(t *testing.T) {
	w := newWire(t)
	const black = "192.0.2.3:443" // hangs, and so holds sockets
	r := start(t, w.client, job{Targets: []string{w.target, black}, Mode: ModeTCP, Interval: 10 * ms, Timeout: HandshakeLimit, Files: 24})
	e := r.wait(EventOwnFailure)
	if !strings.Contains(e.OwnFailure, "too many open files") {
		t.Errorf("%+v", e)
	}
	time.Sleep(300 * ms)
	s := r.stop()
	if got := s.Targets[0]; got.OutageCount != 0 || got.Unknown == 0 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	if j := s.Judge(0); len(j.Unknown) == 0 {
		t.Errorf("judged %+v", j)
	}
}
