package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"homeward/agent/ledger"
)

// Unreached is why there was no connection, so that nothing was written.
type Unreached struct {
	// Class is ledger.ErrRefused where to ask again brings the same, else ledger.ErrBusy.
	Class error
	// Cause says what happened, Hint what an operator can do; it may be empty.
	Cause error
	Hint  string
}

// Hints are what an operator can do, in the words of one kind of server.
type Hints struct {
	// Authority is for a certificate that is signed by nobody known, Name for one of
	// another name, TLS for a server that does not speak it, and Refused for a port that
	// nothing listens on.
	Authority, Name, TLS, Refused string
}

// NoConnection says why there was none to a host.
func NoConnection(host string, err error, h Hints) Unreached {
	u := func(class error, hint, format string, args ...any) Unreached {
		return Unreached{Class: class, Hint: hint, Cause: fmt.Errorf(format, args...)}
	}
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return u(ledger.ErrRefused, h.Authority, "the certificate of %s is signed by nobody we know", host)
	case errors.As(err, &name):
		return u(ledger.ErrRefused, h.Name, "the certificate of %s is for another name", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return u(ledger.ErrRefused, "look at its dates, and at this machine's clock", "the certificate of %s is not valid at this time", host)
	case errors.As(err, &invalid):
		return u(ledger.ErrRefused, "", "the certificate of %s does not do: %w", host, invalid)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return u(ledger.ErrRefused, h.TLS, "%s does not speak TLS", host)
	case errors.As(err, &dns):
		return u(ledger.ErrBusy, "", "the name of %s was not found", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return u(ledger.ErrBusy, h.Refused, "nothing listens on %s", host)
	case timedOut(err):
		return u(ledger.ErrBusy, "", "%s does not answer", host)
	}
	return u(ledger.ErrBusy, "", "no connection to %s: %w", host, bare(err))
}

// Broken says how a connection failed after the request may have gone out; timeout is
// how long the answer had.
func Broken(err error, timeout time.Duration) error {
	switch {
	case timedOut(err):
		return fmt.Errorf("no answer within %s", timeout.Round(time.Millisecond))
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("the connection was reset")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was closed before the answer was whole")
	}
	return bare(err)
}

// bare takes off what the HTTP client puts around an error, which repeats the URL.
func bare(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return errors.New(OneLine(err.Error()))
}

func timedOut(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// mostText is the most of foreign text that a message repeats, in bytes.
const mostText = 300

// OneLine makes foreign text fit for a message: one line without control characters.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffd {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > mostText {
		s = strings.ToValidUTF8(s[:mostText], "") + "..."
	}
	return s
}
