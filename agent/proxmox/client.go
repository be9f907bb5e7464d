package proxmox

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Bounds of a client that its options leave open.
const (
	// DefaultInFlight is how many requests a client has under way at most.
	DefaultInFlight = 16
	// DefaultTimeout of one request: pveproxy gives up on a hung node after 30 s, a
	// write waits 10 s for the lock and may then take 60.
	DefaultTimeout = 75 * time.Second
	// idle is how long an unused connection is kept: pveproxy closes one after 5 s,
	// and a write sent just then has no known outcome.
	idle = 3 * time.Second
)

// Options say how the API is reached. Access is needed, the rest has defaults.
type Options struct {
	Access netplan.ProxmoxAccess
	// InFlight and Timeout (of one request) when not zero.
	InFlight int
	Timeout  time.Duration
	// UserAgent is what the server's log names, "homeward" when empty.
	UserAgent string
	// Observe is called with each request just before it is sent, from several
	// goroutines at once.
	Observe func(Request)
	// Log takes warnings: one at each start when certificates are not verified.
	Log *slog.Logger
}

// Client is an API over the network. It is safe for use by several goroutines.
type Client struct {
	pve     *pve.Client
	secret  netplan.Secret
	timeout time.Duration
	slots   chan struct{}
	observe func(Request)
	base    *url.URL
}

// New makes a client and sends nothing.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.Access.URL)
	if err != nil {
		return nil, err
	}
	if o.Access.TokenID == "" || o.Access.TokenSecret.Empty() {
		return nil, errors.New("no token for the Proxmox API: give its id and secret in secrets.yaml or the environment")
	}
	config, err := trust(o.Access, base.Host, o.Log)
	if err != nil {
		return nil, err
	}
	n := cmp.Or(o.InFlight, DefaultInFlight)
	c := &Client{
		secret:  o.Access.TokenSecret,
		timeout: cmp.Or(o.Timeout, DefaultTimeout),
		slots:   make(chan struct{}, n),
		observe: o.Observe,
		base:    base,
	}
	c.pve = pve.NewClient(base.String(),
		pve.WithHTTPClient(&http.Client{Transport: whole(transport(config, n))}),
		pve.WithAPIToken(o.Access.TokenID, o.Access.TokenSecret.Reveal()),
		pve.WithUserAgent(cmp.Or(o.UserAgent, "homeward")),
		pve.WithLogger(silent{}),
	)
	return c, nil
}

// transport has no proxy: see the package's doc.
func transport(config *tls.Config, n int) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSClientConfig:        config,
		MaxIdleConnsPerHost:    n,
		MaxConnsPerHost:        n,
		IdleConnTimeout:        idle,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// baseURL checks the address and gives it with /api2/json.
func baseURL(text string) (*url.URL, error) {
	const like = "give it like https://pve.example.edu:8006"
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("no address of the Proxmox API: give proxmox.url, or HOMEWARD_PROXMOX_URL")
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("proxmox.url is not a URL: %s", like)
	case u.User != nil:
		return nil, fmt.Errorf("proxmox.url carries credentials: keep them in secrets.yaml or the environment, and %s", like)
	case u.Scheme != "https":
		return nil, fmt.Errorf("proxmox.url is not https, and the token would be readable on the way: %s", like)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("proxmox.url has a query or fragment: %s", like)
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api2/json")
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + "/api2/json"}, nil
}

// Get reads.
func (c *Client) Get(ctx context.Context, path string, params url.Values, out any) error {
	return c.do(ctx, Request{http.MethodGet, path, params}, out)
}

// Post makes something.
func (c *Client) Post(ctx context.Context, path string, params url.Values, out any) error {
	return c.do(ctx, Request{http.MethodPost, path, params}, out)
}

// Put changes something.
func (c *Client) Put(ctx context.Context, path string, params url.Values, out any) error {
	return c.do(ctx, Request{http.MethodPut, path, params}, out)
}

// Delete deletes something; params go into the query.
func (c *Client) Delete(ctx context.Context, path string, params url.Values, out any) error {
	return c.do(ctx, Request{http.MethodDelete, path, params}, out)
}

// do sends one request and reads the whole answer.
func (c *Client) do(ctx context.Context, r Request, out any) error {
	if err := check(r); err != nil {
		return &Error{Method: r.Method, Path: r.Path, class: ledger.ErrRefused, cause: err}
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return fmt.Errorf("%s %s was not sent: %w", r.Method, r.Path, context.Cause(ctx))
	}
	if c.observe != nil {
		c.observe(r)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var sent atomic.Bool
	limited = httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	var data json.RawMessage
	if err := c.send(limited, r, &data); err != nil {
		return c.explain(ctx, r, err, sent.Load())
	}
	return decode(r, data, out)
}

// send leaves it to the library to build the request.
func (c *Client) send(ctx context.Context, r Request, data *json.RawMessage) error {
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		path := r.Path
		if len(r.Params) > 0 {
			// Perl reads + as a space in some places and not in others.
			path += "?" + strings.ReplaceAll(r.Params.Encode(), "+", "%20")
		}
		return c.pve.Req(ctx, r.Method, path, nil, data)
	}
	body := make(map[string]string, len(r.Params))
	for name := range r.Params {
		body[name] = r.Params.Get(name)
	}
	if r.Method == http.MethodPost {
		return c.pve.Post(ctx, r.Path, body, data)
	}
	return c.pve.Put(ctx, r.Path, body, data)
}

// nothing is the out of a write that the server answers with null: any other data
// is not an answer to it.
type nothing struct{}

// decode gives out what the server sent. The request is done by then, so that a
// write whose answer has another type is of unknown outcome.
func decode(r Request, data json.RawMessage, out any) error {
	if out == nil {
		return nil
	}
	if raw, ok := out.(*json.RawMessage); ok {
		if *raw = data; len(data) == 0 {
			*raw = json.RawMessage("null")
		}
		return nil
	}
	empty := len(data) == 0 || string(data) == "null"
	if _, ok := out.(*nothing); ok && empty {
		return nil
	} else if ok {
		return strange(r, errors.New("the answer holds data where there is none to have"))
	}
	if empty {
		return strange(r, ErrNoData)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return strange(r, fmt.Errorf("the answer has another type than expected: %w", err))
	}
	return nil
}
