package openstack

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of an answer. A list of 10,000 ports has some 12 MiB.
const (
	maxAnswer  = 64 << 20
	maxRefusal = 64 << 10
)

// whole is a transport that gives only answers which came whole and within a time, and
// are OpenStack's: the library above it follows redirects, waits for ever, and takes an
// answer without what was asked for as one that has nothing of it.
type whole struct {
	next    http.RoundTripper
	timeout time.Duration
}

// answerFault is an answer that is not OpenStack's.
type answerFault struct {
	status int
	text   string
}

func (f *answerFault) Error() string { return f.text }

// RoundTrip implements http.RoundTripper.
func (w *whole) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), w.timeout)
	defer cancel()
	res, err := w.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	good := res.StatusCode >= 200 && res.StatusCode <= 299
	limit := int64(maxRefusal)
	if good {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case res.StatusCode > 300 && res.StatusCode <= 399:
		return nil, &answerFault{res.StatusCode, "the server sends us elsewhere" + elsewhere(res) + ", and the token must not follow: is openstack.url the address of the API itself?"}
	case err != nil && good:
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	case good:
		if text := foreign(res.Header.Get("Content-Type"), body); text != "" {
			return nil, &answerFault{res.StatusCode, text}
		}
	default:
		body = body[:min(len(body), maxRefusal)]
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// foreign says what is wrong with a 2xx answer, "" for nothing. It repeats nothing of
// it.
func foreign(contentType string, body []byte) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(body) > maxAnswer:
		return fmt.Sprintf("the answer is over %d MiB", maxAnswer>>20)
	case len(body) == 0, kind == "application/json":
		return ""
	case strings.Contains(kind, "html"):
		return "the answer is a web page, not JSON: is openstack.url the address of the API itself?"
	}
	return "the answer is no JSON: is openstack.url the address of the API itself?"
}

// elsewhere names the host of a redirect.
func elsewhere(res *http.Response) string {
	u, err := url.Parse(res.Header.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " (" + oneLine(u.Host) + ")"
}

// transport takes a proxy from the environment, as every OpenStack client does.
func transport(config *tls.Config, inFlight int) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSClientConfig:        config,
		MaxIdleConnsPerHost:    inFlight,
		IdleConnTimeout:        idle,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// noRedirect ends what the transport let pass: a list of versions.
func noRedirect(*http.Request, []*http.Request) error {
	return errors.New("the server sends us elsewhere")
}
