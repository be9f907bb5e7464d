package probe

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// result is what one attempt gave.
type result struct {
	verdict verdict
	cause   Cause
	// own is the reason when the verdict is unknown.
	own string
	// connect is the time of the TCP handshake, and answer the time from the
	// start to the end of TLS's handshake, HTTP's first byte, or the echo. Zero
	// is none.
	connect, answer time.Duration
	// status is HTTP's; zero is none.
	status int
	// limit is how long the attempt had, from its start, for what it failed at.
	limit time.Duration
}

// attempt makes one attempt at a target.
type attempt func(t *Target) result

// dialer makes attempts as the settings say. The settings are not changed.
func dialer(s *Settings) attempt {
	d := &net.Dialer{KeepAlive: -1}
	switch s.Mode {
	case ModeUDP:
		return func(t *Target) result { return echo(d, s, t) }
	default:
		return func(t *Target) result { return overTCP(d, s, t) }
	}
}

func overTCP(d *net.Dialer, s *Settings, t *Target) result {
	began := time.Now()
	r := result{limit: min(s.Timeout, HandshakeLimit)}
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(r.limit))
	defer cancel()
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, t.Address)
	r.connect = time.Since(began)
	if err != nil {
		return r.failure(err)
	}
	defer conn.Close()
	// Closing sends a reset: see the package's comment. Where the system cannot,
	// it leaves a TIME_WAIT, which spoils nothing measured.
	_ = conn.SetLinger(0)
	if s.Mode == ModeTCP {
		return r
	}
	r.limit = s.Timeout
	if err := conn.SetDeadline(began.Add(r.limit)); err != nil {
		return r.failure(err)
	}
	var stream net.Conn = conn
	if s.Mode == ModeTLS || s.Mode == ModeHTTPS {
		secured := tls.Client(conn, tlsConfig(s, t))
		if err := secured.Handshake(); err != nil {
			return r.tlsFailure(err)
		}
		stream = secured
	}
	if s.Mode == ModeHTTP || s.Mode == ModeHTTPS {
		r = get(stream, s, t, began, r)
	} else {
		r.answer = time.Since(began)
	}
	return r
}

// failure judges an error; times of what did not happen are not kept.
func (r result) failure(err error) result {
	r.connect, r.answer = 0, 0
	if r.verdict, r.cause = classify(err); r.verdict == unknown {
		r.own = own(err)
	}
	return r
}

// tlsFailure is failure after a TCP handshake: what is no fault of the network
// is the other side's TLS.
func (r result) tlsFailure(err error) result {
	if r = r.failure(err); r.verdict == unknown {
		r.verdict, r.cause, r.own = failed, CauseTLS, ""
	}
	return r
}

func tlsConfig(s *Settings, t *Target) *tls.Config {
	// Reachability is measured, nothing secret is sent, and ingress controllers
	// show a default certificate to those who ask by address.
	c := &tls.Config{InsecureSkipVerify: true, ServerName: s.ServerName}
	if c.ServerName == "" {
		if _, err := netip.ParseAddr(t.Host); err != nil {
			c.ServerName = t.Host
		}
	}
	return c
}

// get asks by GET and reads the reply's head; redirects are not followed.
func get(stream net.Conn, s *Settings, t *Target, began time.Time, r result) result {
	location, err := url.ParseRequestURI(s.Path)
	if err != nil {
		return r.failure(err)
	}
	request := &http.Request{
		Method: http.MethodGet, URL: location, Host: s.ServerName, Close: true,
		Header: http.Header{"User-Agent": {"homeward-probe"}},
	}
	if request.Host == "" {
		request.Host = t.Host
		if a, err := netip.ParseAddr(t.Host); err == nil && a.Is6() {
			request.Host = "[" + a.WithZone("").String() + "]"
		}
	}
	if err := request.Write(stream); err != nil {
		return r.failure(err)
	}
	const maxHead = 64 << 10
	limited := &io.LimitedReader{R: stream, N: maxHead}
	reader := bufio.NewReader(limited)
	if _, err := reader.Peek(1); err != nil {
		return r.failure(err)
	}
	r.answer = time.Since(began)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		if r = r.failure(err); r.verdict == unknown || limited.N <= 0 {
			r.verdict, r.cause, r.own = failed, CauseReply, ""
		}
		return r
	}
	response.Body.Close()
	if r.status = response.StatusCode; r.status >= http.StatusInternalServerError {
		r.verdict, r.cause = failed, CauseStatus
	}
	return r
}

// echo sends one datagram and waits for the same.
func echo(d *net.Dialer, s *Settings, t *Target) result {
	began := time.Now()
	r := result{limit: s.Timeout}
	conn, err := d.DialUDP(context.Background(), "udp", netip.AddrPort{}, t.Address)
	if err != nil {
		return r.failure(err)
	}
	defer conn.Close()
	sent := make([]byte, 16)
	// It never fails: see crypto/rand.
	_, _ = rand.Read(sent)
	if err := errors.Join(conn.SetDeadline(began.Add(s.Timeout)), write(conn, sent)); err != nil {
		return r.failure(err)
	}
	got := make([]byte, len(sent)+1)
	n, err := conn.Read(got)
	if err != nil {
		return r.failure(err)
	}
	if r.answer = time.Since(began); !bytes.Equal(got[:n], sent) {
		r.verdict, r.cause = failed, CauseReply
	}
	return r
}

func write(conn net.Conn, datagram []byte) error {
	if _, err := conn.Write(datagram); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}
