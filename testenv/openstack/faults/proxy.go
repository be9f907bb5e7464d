package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Proxy stands before Keystone and Neutron. All methods may be used concurrently.
type Proxy struct {
	identity, network *front
	rewrite           *strings.Replacer // the servers' addresses to the proxy's
	upstream          *http.Client
	closing           context.Context // ends with the proxy
	close             context.CancelFunc

	mu       sync.Mutex
	rules    []*Rule
	requests []*Request
}

// front is the proxy of one of the servers.
type front struct {
	service Service
	server  *http.Server
	url     string   // of the proxy, without a path
	target  *url.URL // of the server, without a path
}

// Request is one request that a client made.
type Request struct {
	Service Service
	Method  string
	Path    string
	Query   string
	At      time.Time // of its arrival
	// Status is what the server answered; 0 while it has not, and when it has never
	// been asked.
	Status int
	Fault  string // the fault that it met; empty for none
}

// Start starts a proxy before the servers at these addresses, with free ports of the
// loopback interface.
func Start(identity, network string) (*Proxy, error) {
	p := &Proxy{upstream: &http.Client{
		// One connection a request: on one that was used before, a broken
		// connection would make the client do it twice.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	p.closing, p.close = context.WithCancel(context.Background())
	var err error
	if p.identity, err = p.front(Identity, identity); err != nil {
		return nil, err
	}
	if p.network, err = p.front(Network, network); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.rewrite = strings.NewReplacer(p.identity.target.String(), p.identity.url, p.network.target.String(), p.network.url)
	return p, nil
}

// front starts to listen before one of the servers.
func (p *Proxy) front(service Service, target string) (*front, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address of the %s service is no URL: %q", service, target)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{service: service, url: "http://" + listener.Addr().String(), target: &url.URL{Scheme: u.Scheme, Host: u.Host}}
	f.server = &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(f, w, r) })}
	go func() { _ = f.server.Serve(listener) }()
	return f, nil
}

// Identity is the address of Keystone's API through the proxy, as OS_AUTH_URL wants
// it.
func (p *Proxy) Identity() string { return p.identity.url + "/v3" }

// Network is the address of Neutron's API through the proxy.
func (p *Proxy) Network() string { return p.network.url }

// Close breaks all connections, ends what hangs and what is on its way to a server.
func (p *Proxy) Close() error {
	p.close()
	var errs []error
	for _, f := range []*front{p.identity, p.network} {
		if f != nil {
			errs = append(errs, f.server.Close())
		}
	}
	return errors.Join(errs...)
}

// Add lets requests meet a fault. Of several rules that want one request, the one
// that was added first gets it; all of them count it.
func (p *Proxy) Add(m Match, f Fault) *Rule {
	r := &Rule{match: m, fault: f}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return r
}

// Clear removes all rules; what has met one already is not undone.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// Requests gives the requests so far, in the order of their arrival.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]Request, len(p.requests))
	for i, r := range p.requests {
		list[i] = *r
	}
	return list
}

// Count is how many of the requests so far match; From and Times say nothing here.
func (p *Proxy) Count(m Match) int {
	n := 0
	for _, r := range p.Requests() {
		if m.covers(r) {
			n++
		}
	}
	return n
}

// Forget empties the record; the counts of rules stay.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// arrive records a request and gives the rule whose fault it meets, or nil.
func (p *Proxy) arrive(r *Request) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	var first *Rule
	for _, rule := range slices.Clone(p.rules) {
		if !rule.match.covers(*r) {
			continue
		}
		rule.seen++
		if first == nil && rule.match.meets(rule.seen) {
			first = rule
		}
	}
	if first != nil {
		first.meet()
		r.Fault = first.fault.name
	}
	return first
}
