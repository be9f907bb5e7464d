package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// exchange is one request on its way.
type exchange struct {
	proxy   *Proxy
	front   *front
	rule    *Rule
	record  *Request
	request *http.Request
	body    []byte
}

// serve passes a request on, or lets it meet its fault.
func (p *Proxy) serve(f *front, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone away
	}
	x := &exchange{proxy: p, front: f, request: r, body: body, record: &Request{
		Service: f.service, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, At: time.Now()}}
	x.rule = p.arrive(x.record)
	got := outcome{cut: -1}
	if x.rule == nil {
		got.answer = x.forward()
	} else {
		got = x.rule.fault.meet(x)
	}
	if got.answer == nil {
		panic(http.ErrAbortHandler) // how net/http is told to break the connection
	}
	got.write(w)
}

// write gives the client its answer, or the beginning of it.
func (o outcome) write(w http.ResponseWriter) {
	for name, values := range o.answer.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(o.answer.body)))
	if o.answer.status == http.StatusNoContent {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(o.answer.status)
	body := o.answer.body
	if o.cut >= 0 && o.cut < len(body) {
		_, _ = w.Write(body[:o.cut])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// awaitGone waits until the client has given up or the proxy is closed.
func (x *exchange) awaitGone() {
	select {
	case <-x.request.Context().Done():
	case <-x.proxy.closing.Done():
	}
}

// forward lets the server do the request, also when the client has gone meanwhile,
// and gives its answer with the proxy's addresses in it. A server that does not
// answer is 502.
func (x *exchange) forward() *answer {
	a, err := x.send(x.proxy.closing)
	if err != nil {
		return &answer{status: http.StatusBadGateway, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte("the server did not answer\n")}
	}
	x.proxy.mu.Lock()
	x.record.Status = a.status
	x.proxy.mu.Unlock()
	return a
}

// hopByHop are headers of one connection (RFC 9110, 7.6.1), and the length, which
// changes with the addresses.
var hopByHop = []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Accept-Encoding"}

func (x *exchange) send(ctx context.Context) (*answer, error) {
	target := x.front.target.ResolveReference(&url.URL{Path: x.request.URL.Path, RawPath: x.request.URL.RawPath, RawQuery: x.request.URL.RawQuery})
	request, err := http.NewRequestWithContext(ctx, x.request.Method, target.String(), bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	request.Header = x.request.Header.Clone()
	request.Host = x.request.Host // links of a list lead back here
	response, err := x.proxy.upstream.Do(withoutHopByHop(request))
	if err != nil {
		return nil, fmt.Errorf("asking the %s service: %w", x.front.service, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the %s service: %w", x.front.service, err)
	}
	for _, name := range hopByHop {
		response.Header.Del(name)
	}
	return &answer{status: response.StatusCode, header: response.Header, body: []byte(x.proxy.rewrite.Replace(string(body)))}, nil
}

func withoutHopByHop(r *http.Request) *http.Request {
	for _, name := range hopByHop {
		r.Header.Del(name)
	}
	return r
}
