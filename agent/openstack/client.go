package openstack

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Bounds of a client that its options leave open.
const (
	// DefaultInFlight is how many requests a client has under way at most.
	DefaultInFlight = 8
	// DefaultTimeout of one request: one that makes several ports may take a minute on
	// a busy server.
	DefaultTimeout = 2 * time.Minute
	// idle is how long an unused connection is kept: less than the servers and the
	// balancers before them do, for a write sent as one closes has no known outcome.
	idle = 4 * time.Second
)

// ClientOptions say how the cloud is reached. Access is needed, the rest has defaults.
type ClientOptions struct {
	Access netplan.OpenStackAccess
	// InFlight and Timeout (of one request) when not zero.
	InFlight int
	Timeout  time.Duration
	// UserAgent is what the server's log names, "homeward" when empty.
	UserAgent string
	// Observe is called with each request just before it is sent, repeats included,
	// from several goroutines at once.
	Observe func(Request)
	Log     *slog.Logger
	// Sleep waits before a repeat, and ends early with the context's error.
	Sleep func(context.Context, time.Duration) error
}

// Client is a cloud over the network. It logs in with its first request and again when
// its token is refused, once for each request.
type Client struct {
	login    login
	secrets  []string
	timeout  time.Duration
	slots    chan struct{}
	observe  func(Request)
	sleep    func(context.Context, time.Duration) error
	log      *slog.Logger
	provider *gophercloud.ProviderClient
	network  *gophercloud.ServiceClient
	project  string
}

// Request is one request as a log names it: no body, no token.
type Request struct {
	Method, Path string
	Query        url.Values
}

// String gives method, path and query.
func (r Request) String() string {
	if len(r.Query) == 0 {
		return r.Method + " " + r.path()
	}
	return r.Method + " " + r.path() + "?" + r.Query.Encode()
}

func (r Request) path() string { return "/" + strings.TrimPrefix(r.Path, "/") }

const tokenPath = "auth/tokens"

// Connect logs in.
func Connect(ctx context.Context, o ClientOptions) (*Client, error) {
	l, err := loginOf(o.Access)
	if err != nil {
		return nil, &AccessError{err}
	}
	if l.tls == nil {
		l.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	n := cmp.Or(o.InFlight, DefaultInFlight)
	c := &Client{
		login: l, secrets: l.secrets(), timeout: cmp.Or(o.Timeout, DefaultTimeout), slots: make(chan struct{}, n),
		observe: o.Observe, sleep: o.Sleep, log: o.Log,
	}
	if l.tls.InsecureSkipVerify && c.log != nil {
		c.log.Warn("clouds.yaml has verify: false: the credential goes to whoever answers at " + l.auth.IdentityEndpoint)
	}
	c.provider, err = openstack.NewClient(l.auth.IdentityEndpoint)
	if err != nil {
		return nil, &AccessError{err}
	}
	c.provider.HTTPClient = http.Client{Transport: whole(transport(l.tls, n), c.timeout), CheckRedirect: noRedirect}
	c.provider.UserAgent.Prepend(cmp.Or(o.UserAgent, "homeward"))
	if err := c.authenticate(ctx); err != nil {
		return nil, fmt.Errorf("logging in to OpenStack: %w", err)
	}
	return c, nil
}

// AccessError is what is wrong with how the cloud is to be reached.
type AccessError struct{ err error }

// Error implements error.
func (e *AccessError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *AccessError) Unwrap() error { return e.err }

// authenticate gets a token and finds the network's API in the catalog that comes with
// it.
func (c *Client) authenticate(ctx context.Context) error {
	r := Request{Method: http.MethodPost, Path: tokenPath}
	if err := c.repeated(ctx, true, func() error {
		return c.once(ctx, r, func(ctx context.Context) error { return openstack.Authenticate(ctx, c.provider, c.login.auth) })
	}); err != nil {
		return err
	}
	result, ok := c.provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return errors.New("the token is none of Keystone's version 3")
	}
	project, err := result.ExtractProject()
	if err != nil || project == nil || project.ID == "" {
		return &AccessError{errors.New("the credential is for no project: name one (OS_PROJECT_ID, project_id in clouds.yaml), or take an application credential")}
	}
	c.project = project.ID
	at := c.login.endpoint
	at.Availability = cmp.Or(at.Availability, gophercloud.AvailabilityPublic)
	at.Type = "network"
	at.ApplyDefaults("network")
	address, err := c.provider.EndpointLocator(at)
	if err != nil {
		return &AccessError{fmt.Errorf("the catalog has no %s endpoint of a network service in %s: correct openstack.region or OS_REGION_NAME", at.Availability, cmp.Or("region "+at.Region, "any region"))}
	}
	base := strings.TrimRight(address, "/")
	if !strings.HasSuffix(base, "/v2.0") {
		base += "/v2.0"
	}
	c.network = &gophercloud.ServiceClient{ProviderClient: c.provider, Endpoint: address, ResourceBase: base + "/", Type: "network"}
	return nil
}

// do sends one request to the network's API and reads the whole answer into out, which
// may be nil. An idempotent one is repeated while the server is not well.
func (c *Client) do(ctx context.Context, r Request, o call) error {
	return c.repeated(ctx, o.idempotent, func() error {
		return c.once(ctx, r, func(ctx context.Context) error {
			address := c.network.ServiceURL(r.Path)
			if len(r.Query) > 0 {
				address += "?" + r.Query.Encode()
			}
			opts := &gophercloud.RequestOpts{JSONBody: o.body, JSONResponse: o.out, OkCodes: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}}
			if o.revision > 0 {
				opts.MoreHeaders = map[string]string{"If-Match": fmt.Sprintf("revision_number=%d", o.revision)}
			}
			_, err := c.network.Request(ctx, r.Method, address, opts)
			return err
		})
	})
}

// call is what a request carries.
type call struct {
	body, out any
	// revision, when not zero, is that of the object that is changed.
	revision   int
	idempotent bool
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, r Request, send func(context.Context) error) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return fmt.Errorf("%s was not sent: %w", r, context.Cause(ctx))
	}
	if c.observe != nil {
		c.observe(r)
	}
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	if err := send(traced); err != nil {
		return c.explain(ctx, r, err, sent.Load())
	}
	return nil
}

// Bounds of the repeats of one request.
const (
	mostAttempts = 4
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// repeated tries again what did not get through: what was not done for sure, and with
// idempotent also what may have been done. It waits as long as the server asks for.
func (c *Client) repeated(ctx context.Context, idempotent bool, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		var e *Error
		if err == nil || attempt == mostAttempts || ctx.Err() != nil || !errors.As(err, &e) || e.settled {
			return err
		}
		busy := errors.Is(err, ledger.ErrBusy)
		unsettled := e.class == nil || errors.Is(err, ledger.ErrUnknown)
		if !busy && !(idempotent && unsettled) {
			return err
		}
		pause := max(min(e.retryAfter, longestPause), firstPause<<(attempt-1))
		if err := c.sleep(ctx, pause); err != nil {
			return err
		}
	}
}
