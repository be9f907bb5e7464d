package proxmox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"homeward/agent/ledger"
)

// explain turns what the library failed with into an Error. Sent says that there
// was a connection: without one nothing can have been written.
func (c *Client) explain(ctx context.Context, r Request, err error, sent bool) error {
	e := &Error{Method: r.Method, Path: r.Path, class: ledger.ErrUnknown}
	defer c.redact(e)
	var api *pve.APIError
	var answer *answerFault
	switch {
	case errors.As(err, &api):
		e.Status, e.Message = api.StatusCode, c.message(api)
		for name, text := range api.Errors {
			if e.Parameters == nil {
				e.Parameters = map[string]string{}
			}
			e.Parameters[oneLine(name)] = oneLine(text)
		}
		e.judge()
	case errors.As(err, &answer):
		e.Status, e.cause = answer.status, errors.New(answer.text)
		if e.Status >= 300 {
			e.judge()
		}
	case ctx.Err() != nil:
		e.cause = context.Cause(ctx)
		if !sent {
			return fmt.Errorf("%s %s was not sent: %w", r.Method, r.Path, e.cause)
		}
	case !sent:
		c.unreached(e, err)
	default:
		e.cause = c.broken(err)
	}
	e.forgive()
	return e
}

// message is the server's text, the parameters' in it where it only says that
// verification failed.
func (c *Client) message(api *pve.APIError) string {
	text := oneLine(api.Message)
	if strings.HasPrefix(text, "<") {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(api.Errors)) {
		text += " (" + oneLine(name) + ": " + oneLine(api.Errors[name]) + ")"
	}
	return oneLine(text)
}

// unreached says why there was no connection.
func (c *Client) unreached(e *Error, err error) {
	set := func(class error, hint, format string, args ...any) {
		e.class, e.hint, e.cause = class, hint, fmt.Errorf(format, args...)
	}
	host := c.base.Host
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var pin *pinFault
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &pin):
		set(ledger.ErrRefused, "if the certificate was renewed, compare on the host (openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem) and change the plan", "%w", pin)
	case errors.As(err, &unknown):
		set(ledger.ErrRefused, "give the cluster's CA (proxmox.tls_verify: the path of a copy of /etc/pve/pve-root-ca.pem), or pin the certificate with proxmox.fingerprint; HOMEWARD_PROXMOX_CA_FILE overrides both",
			"the certificate of %s is signed by nobody we know", host)
	case errors.As(err, &name):
		set(ledger.ErrRefused, "use a name that is in the certificate, or pin it with proxmox.fingerprint", "the certificate of %s is for another name", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		set(ledger.ErrRefused, "look at its dates, and at this machine's clock", "the certificate of %s is not valid at this time", host)
	case errors.As(err, &invalid):
		set(ledger.ErrRefused, "", "the certificate of %s does not do: %w", host, invalid)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		set(ledger.ErrRefused, "is the port right? pveproxy listens on 8006", "%s does not speak TLS", host)
	case errors.As(err, &dns):
		set(ledger.ErrBusy, "", "the name of %s was not found", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		set(ledger.ErrBusy, "is the port right, and does pveproxy run?", "nothing listens on %s", host)
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
		return fmt.Errorf("no answer within %s", c.timeout.Round(time.Millisecond))
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

// strange is an answer that came whole and says nothing we understand. A request
// that reads just failed; one that writes may have done so.
func strange(r Request, cause error) error {
	e := &Error{Method: r.Method, Path: r.Path, Status: http.StatusOK, class: ledger.ErrUnknown, cause: cause}
	e.forgive()
	return e
}

// redact takes the secret from an error: a server that is not what it seems may
// give back what it was sent.
func (c *Client) redact(e *Error) {
	hide := func(s string) string { return strings.ReplaceAll(s, c.secret.Reveal(), "[secret]") }
	e.Message = hide(e.Message)
	for name, text := range e.Parameters {
		delete(e.Parameters, name)
		e.Parameters[hide(name)] = hide(text)
	}
	if e.cause != nil {
		if text := e.cause.Error(); strings.Contains(text, c.secret.Reveal()) {
			e.cause = errors.New(hide(text))
		}
	}
}
