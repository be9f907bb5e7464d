//go:build linux

package probe

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkThousandTargets probes 1,000 targets ten times a second each for ten
// seconds, on this machine's loopback, so that both sides of every handshake are
// paid for here. Every attempt has its time from the start of the run, so what is
// never later than its lag has not drifted; missed ones fell out because they were
// an interval late.
func BenchmarkThousandTargets(b *testing.B) {
	w := newWire(b)
	l, err := w.client.Listen("tcp4", "0.0.0.0:7443")
	must(b, err)
	defer l.Close()
	go acceptCheaply(l)
	j := job{Mode: ModeTCP, Interval: DefaultInterval, Timeout: DefaultTimeout}
	for i := range 1000 {
		j.Targets = append(j.Targets, fmt.Sprintf("127.0.%d.%d:7443", i/250, i%250+1))
	}
	const length = 10 * time.Second
	for b.Loop() {
		r := start(b, w.client, j)
		time.Sleep(length)
		s := r.stop()
		var attempts, answered, unknown int64
		for _, t := range s.Targets {
			attempts, answered, unknown = attempts+t.Attempts, answered+t.Answered, unknown+t.Unknown
		}
		state := r.cmd.ProcessState
		b.ReportMetric(float64((state.UserTime()+state.SystemTime()).Microseconds())/float64(attempts), "cpu-µs/attempt")
		b.ReportMetric(float64(attempts)/s.Length.Seconds(), "attempts/s")
		b.ReportMetric(float64(attempts-answered), "unanswered")
		b.ReportMetric(float64(s.Missed), "missed")
		b.ReportMetric(s.Lag.P50.Seconds()*1000, "lag-p50-ms")
		b.ReportMetric(s.Lag.P99.Seconds()*1000, "lag-p99-ms")
		b.ReportMetric(s.Lag.Max.Seconds()*1000, "lag-max-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// acceptCheaply takes connections and ends them at once, on one thread and past
// Go's poller, so that the server costs little of what the probe is measured with.
func acceptCheaply(l net.Listener) {
	raw, err := l.(*net.TCPListener).File()
	if err != nil {
		return
	}
	defer raw.Close()
	fd := int(raw.Fd())
	for unix.SetNonblock(fd, false) == nil {
		c, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err == nil {
			_ = unix.Close(c)
		} else if !errors.Is(err, unix.ECONNABORTED) && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// BenchmarkOutage cuts a wire for known times and reports by how much of an
// interval the measured outage differs.
func BenchmarkOutage(b *testing.B) {
	for _, d := range []time.Duration{50 * ms, 300 * ms, time.Second, 10 * time.Second} {
		for _, interval := range []time.Duration{10 * ms, DefaultInterval} {
			if d < interval {
				continue
			}
			b.Run(fmt.Sprintf("cut=%v/interval=%v", d, interval), func(b *testing.B) {
				w := newWire(b)
				r := start(b, w.client, job{Targets: []string{w.target}, Mode: ModeTCP, Interval: interval, Timeout: HandshakeLimit})
				time.Sleep(200 * ms)
				worst, runs := 0.0, 0
				for b.Loop() {
					k := w.cutFor(b, d)
					o := r.wait(EventOutageEnd).Outage
					known := (k.shortest + k.longest) / 2
					worst = max(worst, (o.Length-known).Abs().Seconds()/interval.Seconds())
					runs++
					time.Sleep(2 * interval)
				}
				r.stop()
				b.ReportMetric(worst, "worst-error-intervals")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAttempt is what the bookkeeping of one attempt costs, without the
// network.
func BenchmarkAttempt(b *testing.B) {
	s := settings(1, ms, HandshakeLimit, 0)
	s.Targets[0].Address = netip.MustParseAddrPort("192.0.2.1:1")
	s.Timeline = true
	p, err := New(s)
	must(b, err)
	p.runner = newCrew(func(*Target) result { return result{connect: ms} }, p.finish)
	defer p.runner.close()
	b.ReportAllocs()
	for b.Loop() {
		p.launch(p.tracks[0], 0)
		p.runner.drain(b.Context())
	}
}
