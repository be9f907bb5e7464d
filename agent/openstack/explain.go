package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"homeward/agent/ledger"
	"homeward/agent/ledger/exchange"
)

// explain turns what the library failed with into an Error. Sent says that there was a
// connection: without one nothing can have been written.
func (c *Client) explain(ctx context.Context, r Request, err error, sent bool) error {
	e := &Error{Method: r.Method, Path: r.path(), class: ledger.ErrUnknown}
	defer c.redact(e)
	var code gophercloud.ErrUnexpectedResponseCode
	var again *gophercloud.ErrUnableToReauthenticate
	var answer *exchange.Fault
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
		e.Status, e.cause, e.settled = answer.Status, errors.New(answer.Text), true
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
		e.cause = exchange.Broken(err, c.timeout)
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
		return exchange.OneLine(neutron.Type), exchange.OneLine(neutron.Message)
	}
	var text string
	if json.Unmarshal(answer.NeutronError, &text) == nil {
		return "", exchange.OneLine(text)
	}
	return "", exchange.OneLine(answer.Error.Message)
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
	host := "the cloud"
	var outer *url.Error
	if errors.As(err, &outer) {
		if u, perr := url.Parse(outer.URL); perr == nil && u.Host != "" {
			host = u.Host
		}
	}
	u := exchange.NoConnection(host, err, exchange.Hints{
		Authority: "give the CA's file as OS_CACERT, or as cacert in clouds.yaml",
		Name:      "use a name that is in the certificate",
		TLS:       "is the port right, and is it https?",
		Refused:   "is the port right?",
	})
	e.class, e.hint, e.cause = u.Class, u.Hint, u.Cause
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
