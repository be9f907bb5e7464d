package probe

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// try makes one attempt.
func try(t *testing.T, s Settings, address, host string) result {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	must(t, err)
	s.Interval, s.Timeout = DefaultInterval, 5*time.Second
	s.Targets = []Target{{Name: address, Host: host, Address: at}}
	must(t, s.Check())
	return dialer(&s)(&s.Targets[0])
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site answers by path.
func site(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/gone":
		w.WriteHeader(http.StatusNotFound)
	case "/broken":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "/moved":
		http.Redirect(w, r, "/broken", http.StatusFound)
	default:
		w.Header().Set("X-Name", r.Host)
		if r.Host != "www.example.edu" {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	}
}

func TestHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(site))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(site))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for _, c := range []struct {
		name, path, host string
		status           int
		cause            Cause
	}{
		{"found", "/", "www.example.edu", 200, ""},
		{"by its address", "/", "127.0.0.1", 421, ""},
		{"not found is an answer", "/gone", "www.example.edu", 404, ""},
		{"a redirect is not followed", "/moved", "www.example.edu", 302, ""},
		{"nobody behind the proxy", "/broken", "www.example.edu", 503, CauseStatus},
	} {
		t.Run(c.name, func(t *testing.T) {
			for mode, server := range map[Mode]*httptest.Server{ModeHTTP: plain, ModeHTTPS: secure} {
				r := try(t, Settings{Mode: mode, Path: c.path}, server.Listener.Addr().String(), c.host)
				if r.status != c.status || r.cause != c.cause || (r.verdict == failed) != (c.cause != "") {
					t.Errorf("%s: %+v", mode, r)
				}
				if r.connect <= 0 || r.answer <= r.connect {
					t.Errorf("%s: connected after %v, first byte after %v", mode, r.connect, r.answer)
				}
			}
		})
	}
	t.Run("TLS alone", func(t *testing.T) {
		if r := try(t, Settings{Mode: ModeTLS}, secure.Listener.Addr().String(), "127.0.0.1"); r.verdict != answered || r.answer <= r.connect {
			t.Errorf("%+v", r)
		}
		if r := try(t, Settings{Mode: ModeTLS}, plain.Listener.Addr().String(), "127.0.0.1"); r.verdict != failed || r.cause != CauseTLS {
			t.Errorf("against plain HTTP: %+v", r)
		}
	})
	t.Run("the name that is given", func(t *testing.T) {
		if r := try(t, Settings{Mode: ModeHTTPS, Path: "/", ServerName: "www.example.edu"}, secure.Listener.Addr().String(), "127.0.0.1"); r.status != 200 {
			t.Errorf("%+v", r)
		}
	})
}

// serve gives every connection to a server of one's own.
func serve(t *testing.T, with func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			with(c)
		}
	}()
	return l.Addr().String()
}

func TestServersThatMisbehave(t *testing.T) {
	read := func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }
	for _, c := range []struct {
		name string
		with func(net.Conn)
		want Cause
	}{
		{"closes", func(c net.Conn) { read(c); _ = c.Close() }, CauseClosed},
		{"resets", func(c net.Conn) { read(c); _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() }, CauseReset},
		{"speaks something else", func(c net.Conn) { read(c); _, _ = io.WriteString(c, "SSH-2.0-x\r\n\r\n"); _ = c.Close() }, CauseReply},
		{"never ends its head", func(c net.Conn) {
			go func() {
				_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for err == nil {
					_, err = io.WriteString(c, "X: "+strings.Repeat("x", 1000)+"\r\n")
				}
			}()
		}, CauseReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := try(t, Settings{Mode: ModeHTTP, Path: "/"}, serve(t, c.with), "127.0.0.1"); r.verdict != failed || r.cause != c.want {
				t.Errorf("%+v, want %s", r, c.want)
			}
		})
	}
}

func TestUDPEcho(t *testing.T) {
	for name, c := range map[string]struct {
		reply func([]byte) []byte
		want  Cause
	}{
		"the same bytes":  {func(b []byte) []byte { return b }, ""},
		"other bytes":     {func(b []byte) []byte { return make([]byte, len(b)) }, CauseReply},
		"more than bytes": {func(b []byte) []byte { return append(b, 0) }, CauseReply},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.ListenPacket("udp4", "127.0.0.1:0")
			must(t, err)
			defer l.Close()
			go func() {
				b := make([]byte, 100)
				if n, from, err := l.ReadFrom(b); err == nil {
					_, _ = l.WriteTo(c.reply(b[:n]), from)
				}
			}()
			r := try(t, Settings{Mode: ModeUDP}, l.LocalAddr().String(), "127.0.0.1")
			if r.cause != c.want || (r.verdict == answered) != (c.want == "") || r.answer <= 0 {
				t.Errorf("%+v, want %q", r, c.want)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		l, err := net.ListenPacket("udp4", "127.0.0.1:0")
		must(t, err)
		must(t, l.Close())
		if r := try(t, Settings{Mode: ModeUDP}, l.LocalAddr().String(), "127.0.0.1"); r.cause != CauseRefused {
			t.Errorf("%+v", r)
		}
	})
}

func TestWhatAnErrorProves(t *testing.T) {
	for _, c := range []struct {
		err     error
		verdict verdict
		cause   Cause
	}{
		{nil, answered, ""},
		{syscall.ECONNREFUSED, failed, CauseRefused},
		{syscall.ECONNRESET, failed, CauseReset},
		{syscall.EHOSTUNREACH, failed, CauseUnreachable},
		{syscall.ENETUNREACH, failed, CauseNoRoute},
		{syscall.ETIMEDOUT, failed, CauseTimeout},
		{os.ErrDeadlineExceeded, failed, CauseTimeout},
		{io.EOF, failed, CauseClosed},
		// This machine's own.
		{syscall.EMFILE, unknown, ""},
		{syscall.ENFILE, unknown, ""},
		{syscall.ENOBUFS, unknown, ""},
		{syscall.EADDRNOTAVAIL, unknown, ""},
		{syscall.EPERM, unknown, ""},
		{syscall.ENETDOWN, unknown, ""},
		{syscall.EAFNOSUPPORT, unknown, ""},
		{errors.New("something new"), unknown, ""},
	} {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) {
			err := c.err
			if err != nil {
				err = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", c.err)}
			}
			if verdict, cause := classify(err); verdict != c.verdict || cause != c.cause {
				t.Errorf("verdict %v, cause %q", verdict, cause)
			}
			if c.verdict == unknown && own(err) == "" {
				t.Error("no reason")
			}
		})
	}
}
