package image

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// errPlain is what a request without TLS gets that nobody allowed.
var errPlain = errors.New("the registry was not found to speak TLS")

// newTransport makes the connections of a push: the proxy of the environment, the
// system's authorities and those of caFile, and bounds on every wait but that for
// the body, which Push's context bounds.
func newTransport(caFile string) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: time.Minute,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       time.Minute,
	}
	if caFile == "" {
		return t, nil
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, marked{fmt.Errorf("--ca-file: %w", err), ErrArgument}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, argument("--ca-file %s: no PEM certificate in it: give the authority's, from -----BEGIN CERTIFICATE-----", caFile)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// guard holds the choice between TLS and none. The library by itself tries both
// for private addresses, and would send a password in the clear.
type guard struct {
	inner http.RoundTripper
	// host is the registry's, and plain says that it is spoken to without TLS.
	host  string
	plain bool
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.URL.Scheme == "http" && !g.plain:
		return nil, errPlain
	case req.URL.Scheme == "https" && g.plain && req.URL.Host == g.host:
		return nil, errors.New("--plain-http was given")
	}
	return g.inner.RoundTrip(req)
}
