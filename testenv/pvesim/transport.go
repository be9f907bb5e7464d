package pvesim

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"syscall"
)

// Transport gives an http.RoundTripper that reaches a node's endpoint without a
// socket; host and scheme of a URL do not matter. A fault that ends the connection
// is an error that wraps syscall.ECONNRESET. When a request's context ends the
// client hears of it at once, while the server goes on, as a real one would.
func (s *Sim) Transport(node string) http.RoundTripper { return &transport{sim: s, node: node} }

type transport struct {
	sim  *Sim
	node string
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := &inbound{method: r.Method, authorization: r.Header.Get("Authorization"), contentType: r.Header.Get("Content-Type"), url: r.URL}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		in.body, in.chunked = body, r.ContentLength < 0 && len(body) > 0
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Context().Done() == nil || !t.sim.waits() {
		return t.response(r, t.sim.exchange(t.node, in))
	}
	answer := make(chan *outbound, 1)
	go func() { answer <- t.sim.exchange(t.node, in) }()
	select {
	case out := <-answer:
		return t.response(r, out)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// waits says whether a request can take time here.
func (s *Sim) waits() bool { return s.options.Hook != nil || s.options.Times != Times{} }

func (t *transport) response(r *http.Request, out *outbound) (*http.Response, error) {
	if out.drop {
		return nil, fmt.Errorf("reading the answer: %w", syscall.ECONNRESET)
	}
	var body io.Reader = bytes.NewReader(out.body)
	if out.truncate {
		body = io.MultiReader(bytes.NewReader(out.body[:len(out.body)/2]), brokenOff{})
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.status, out.reason), StatusCode: out.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.header, Body: io.NopCloser(body), ContentLength: int64(len(out.body)), Request: r,
	}, nil
}

// brokenOff is the rest of an answer that does not come.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
