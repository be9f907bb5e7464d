package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"homeward/agent/ledger"
)

// explain turns what the library failed with into an Error. Sent says that there was a
// connection: without one nothing can have been written.
func (c *Client) explain(ctx context.Context, r Request, err error, sent bool) error {
	e := &Error{Method: r.Method, Path: r.path(), class: ledger.ErrUnknown}
	defer c.redact(e)
	var code gophercloud.ErrUnexpectedResponseCode
	var again *gophercloud.ErrUnableToReauthenticate
	var answer *answerFault
	switch {
	case errors.As(err, &again):
		// The request itself was turned away, so that its outcome is known.
		return c.explain(ctx, Request{Method: http.MethodGet, Path: tokenPath}, again.ErrReauth, true)
	case errors.As(err, &code):
		e.Status = code.Actual
		e.Type, e.Message = said(code.Body)
		e.retryAfter = retryAfter(code.ResponseHeader.Get("Retry-After"), time.Now())
		e.judge()
	case errors.As(err, &answer):
		e.Status, e.cause, e.settled = answer.status, errors.New(answer.text), true
		if e.Status >= 300 {
			e.judge()
		}
	case ctx.Err() != nil:
		e.cause = context.Cause(ctx)
		if !sent {
			return fmt.Errorf("%s %s was not sent: %w", r.Method, r.path(), e.cause)
		}
	case !sent:
		c.unreached(e, err)
	default:
		e.cause = c.broken(err)
	}
	e.forgive()
	return e
}

// said reads what Neutron or Keystone says of an error; both empty for anything else,
// of which nothing is repeated.
func said(body []byte) (typ, message string) {
	var answer struct {
		NeutronError json.RawMessage
		Error        struct{ Message string } `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	var neutron struct{ Type, Message string }
	if json.Unmarshal(answer.NeutronError, &neutron) == nil {
		return oneLine(neutron.Type), oneLine(neutron.Message)
	}
	var text string
	if json.Unmarshal(answer.NeutronError, &text) == nil {
		return "", oneLine(text)
	}
	return "", oneLine(answer.Error.Message)
}

// retryAfter reads a Retry-After, seconds or a date (RFC 9110); zero for anything else.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(time.Hour/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// unreached says why there was no connection.
func (c *Client) unreached(e *Error, err error) {
	set := func(class error, hint, format string, args ...any) {
		e.class, e.hint, e.cause = class, hint, fmt.Errorf(format, args...)
	}
	host := "the cloud"
	var outer *url.Error
	if errors.As(err, &outer) {
		if u, perr := url.Parse(outer.URL); perr == nil && u.Host != "" {
			host = u.Host
		}
	}
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &unknown):
		set(ledger.ErrRefused, "give the CA's file as OS_CACERT, or as cacert in clouds.yaml", "the certificate of %s is signed by nobody we know", host)
	case errors.As(err, &name):
		set(ledger.ErrRefused, "use a name that is in the certificate", "the certificate of %s is for another name", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		set(ledger.ErrRefused, "look at its dates, and at this machine's clock", "the certificate of %s is not valid at this time", host)
	case errors.As(err, &invalid):
		set(ledger.ErrRefused, "", "the certificate of %s does not do: %w", host, invalid)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		set(ledger.ErrRefused, "is the port right, and is it https?", "%s does not speak TLS", host)
	case errors.As(err, &dns):
		set(ledger.ErrBusy, "", "the name of %s was not found", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		set(ledger.ErrBusy, "is the port right?", "nothing listens on %s", host)
	case errors.Is(err, context.DeadlineExceeded), timedOut(err):
		set(ledger.ErrBusy, "", "%s does not answer", host)
	default:
		set(ledger.ErrBusy, "", "no connection to %s: %w", host, bare(err))
	}
}

// broken says how a connection failed after the request may have gone out.
func (c *Client) broken(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded), timedOut(err):
		return fmt.Errorf("no answer within %s", c.timeout)
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
		return errors.New(oneLine(outer.Err.Error()))
	}
	return errors.New(oneLine(err.Error()))
}

func timedOut(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// strange is an answer that came whole and says nothing we understand. A request that
// reads just failed; one that writes may have done so.
func strange(r Request, format string, args ...any) error {
	e := &Error{Method: r.Method, Path: r.path(), class: ledger.ErrUnknown, cause: fmt.Errorf(format, args...)}
	e.forgive()
	return e
}

// redact takes secrets from an error: a server that is not what it seems may give back
// what it was sent.
func (c *Client) redact(e *Error) {
	secrets := c.secrets
	if c.provider != nil {
		secrets = append(secrets[:len(secrets):len(secrets)], c.provider.Token())
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		e.Type = strings.ReplaceAll(e.Type, secret, "[secret]")
		e.Message = strings.ReplaceAll(e.Message, secret, "[secret]")
		if e.cause != nil && strings.Contains(e.cause.Error(), secret) {
			e.cause = errors.New(strings.ReplaceAll(e.cause.Error(), secret, "[secret]"))
		}
	}
}

// oneLine makes foreign text fit for a message.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffd {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
