package proxmox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	pve "github.com/luthermonson/go-proxmox"

	"homeward/agent/ledger"
	"homeward/agent/ledger/exchange"
)

// explain turns what the library failed with into an Error. Sent says that there
// was a connection: without one nothing can have been written.
func (c *Client) explain(ctx context.Context, r Request, err error, sent bool) error {
	e := &Error{Method: r.Method, Path: r.Path, class: ledger.ErrUnknown}
	defer c.redact(e)
	var api *pve.APIError
	var answer *exchange.Fault
	switch {
	case errors.As(err, &api):
		e.Status, e.Message = api.StatusCode, c.message(api)
		for name, text := range api.Errors {
			if e.Parameters == nil {
				e.Parameters = map[string]string{}
			}
			e.Parameters[exchange.OneLine(name)] = exchange.OneLine(text)
		}
		e.judge()
	case errors.As(err, &answer):
		e.Status, e.cause = answer.Status, errors.New(answer.Text)
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
		e.cause = exchange.Broken(err, c.timeout)
	}
	e.forgive()
	return e
}

// message is the server's text, the parameters' in it where it only says that
// verification failed.
func (c *Client) message(api *pve.APIError) string {
	text := exchange.OneLine(api.Message)
	if strings.HasPrefix(text, "<") {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(api.Errors)) {
		text += " (" + exchange.OneLine(name) + ": " + exchange.OneLine(api.Errors[name]) + ")"
	}
	return exchange.OneLine(text)
}

// unreached says why there was no connection.
func (c *Client) unreached(e *Error, err error) {
	var pin *pinFault
	if errors.As(err, &pin) {
		e.class, e.cause = ledger.ErrRefused, pin
		e.hint = "if the certificate was renewed, compare on the host (openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem) and change the plan"
		return
	}
	u := exchange.NoConnection(c.base.Host, err, exchange.Hints{
		Authority: "give the cluster's CA (proxmox.tls_verify: the path of a copy of /etc/pve/pve-root-ca.pem), or pin the certificate with proxmox.fingerprint; HOMEWARD_PROXMOX_CA_FILE overrides both",
		Name:      "use a name that is in the certificate, or pin it with proxmox.fingerprint",
		TLS:       "is the port right? pveproxy listens on 8006",
		Refused:   "is the port right, and does pveproxy run?",
	})
	e.class, e.hint, e.cause = u.Class, u.Hint, u.Cause
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
