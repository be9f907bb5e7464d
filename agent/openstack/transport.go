package openstack

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"homeward/agent/ledger/exchange"
)

// maxAnswer is the most of an answer. A list of 10,000 ports has some 12 MiB.
const maxAnswer = 64 << 20

// whole gives only answers which came whole and within a time, and are OpenStack's.
func whole(next http.RoundTripper, timeout time.Duration) *exchange.Whole {
	const field = "openstack.url"
	return &exchange.Whole{
		Next: next, Timeout: timeout, Limit: maxAnswer, Field: field, Choices: true,
		Foreign: func(contentType string, body []byte) string {
			if len(body) == 0 {
				return ""
			}
			return exchange.NotJSON(contentType, field)
		},
	}
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
