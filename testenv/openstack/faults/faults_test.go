package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"homeward/testenv/openstack/faults"
)

// upstream is a server that remembers what it did.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	done []string
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.done = append(u.done, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.Header().Set("X-Answer", "yes")
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"self": "http://%s/", "n": %d}`, r.Host, len(u.done))
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) did() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.done, ", ")
}

// newProxy gives a proxy before two servers; the second is the network's.
func newProxy(t *testing.T) (*faults.Proxy, *upstream) {
	t.Helper()
	identity, network := newUpstream(t), newUpstream(t)
	p, err := faults.Start(identity.URL+"/v3", network.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, network
}

// ask makes one request of the network; what came back, or "broken".
func ask(ctx context.Context, t *testing.T, p *faults.Proxy, method, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, p.Network()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if errors.Is(err, context.Canceled) {
		return "gave up"
	}
	if err != nil {
		return "broken"
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Sprintf("%d, broken after %d", response.StatusCode, len(text))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(text))))
}

func TestFaults(t *testing.T) {
	created := func(n int) string { return fmt.Sprintf(`201 {"self": "PROXY/", "n": %d}`, n) }
	tests := map[string]struct {
		match faults.Match
		fault faults.Fault
		want  []string // what three POSTs to /v2.0/ports got
		did   string   // what the server did
	}{
		"none": {
			match: faults.Match{Method: "GET"}, fault: faults.Drop(),
			want: []string{created(1), created(2), created(3)}, did: "a b c",
		},
		"dropped before": {
			match: faults.Match{Method: "POST", From: 2}, fault: faults.Drop(),
			want: []string{created(1), "broken", created(2)}, did: "a c",
		},
		"answer lost": {
			match: faults.Match{Path: "/v2.0/*", From: 2}, fault: faults.Lose(),
			want: []string{created(1), "broken", created(3)}, did: "a b c",
		},
		"always": {
			match: faults.Match{Method: faults.Write, Times: faults.Always}, fault: faults.Balancer(503),
			want: []string{balancer(503), balancer(503), balancer(503)},
		},
		"from the second on, two of them": {
			match: faults.Match{Service: faults.Network, From: 2, Times: 2}, fault: faults.Refuse(409, "OverQuota", "no"),
			want: []string{created(1), refused, refused}, did: "a",
		},
		"of another service": {
			match: faults.Match{Service: faults.Identity}, fault: faults.Drop(),
			want: []string{created(1), created(2), created(3)}, did: "a b c",
		},
		"cut": {
			match: faults.Match{}, fault: faults.Cut(5),
			want: []string{"201, broken after 5", created(2), created(3)}, did: "a b c",
		},
		"cut beyond the end": {
			match: faults.Match{}, fault: faults.Cut(1000),
			want: []string{created(1), created(2), created(3)}, did: "a b c",
		},
		"late and never delivered": {
			match: faults.Match{From: 2}, fault: faults.Late(faults.Balancer(504)),
			want: []string{created(1), balancer(504), created(2)}, did: "a c",
		},
		"unauthorized once": {
			match: faults.Match{}, fault: faults.Unauthorized(),
			want: []string{unauthorized, created(1), created(2)}, did: "b c",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, network := newProxy(t)
			p.Add(test.match, test.fault)
			for i, body := range []string{"a", "b", "c"} {
				want := strings.ReplaceAll(test.want[i], "PROXY", p.Network())
				if got := ask(t.Context(), t, p, "POST", "/v2.0/ports", body); got != want {
					t.Errorf("request %s: %s, want %s", body, got, want)
				}
			}
			if got := strings.ReplaceAll(network.did(), "POST /v2.0/ports ", ""); strings.ReplaceAll(got, ",", "") != test.did {
				t.Errorf("the server did %q, want %q", got, test.did)
			}
		})
	}
}

func balancer(status int) string {
	return fmt.Sprintf("%d <html><body><h1>%d %s</h1>\nThe request was not served.\n</body></html>", status, status, http.StatusText(status))
}

const (
	refused      = `409 {"NeutronError":{"detail":"","message":"no","type":"OverQuota"}}`
	unauthorized = `401 {"error": {"code": 401, "title": "Unauthorized", "message": "The request you have made requires authentication."}}`
)

func TestLateIsDoneWhenDelivered(t *testing.T) {
	p, network := newProxy(t)
	late := p.Add(faults.Match{Method: "POST"}, faults.Late(faults.Gone()))
	p.Add(faults.Match{Method: "POST", From: 2}, faults.Before(late.Deliver))
	if got := ask(t.Context(), t, p, "POST", "/v2.0/networks", "first"); got != "broken" {
		t.Errorf("the late request: %s", got)
	}
	if got := network.did(); got != "" {
		t.Errorf("done before it was delivered: %s", got)
	}
	ask(t.Context(), t, p, "POST", "/v2.0/networks", "second")
	if got, want := network.did(), "POST /v2.0/networks first, POST /v2.0/networks second"; got != want {
		t.Errorf("the server did %q, want %q", got, want)
	}
	late.Deliver()
	if n := strings.Count(network.did(), "first"); n != 1 {
		t.Errorf("delivered %d times", n)
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(seen func()) faults.Fault
		did   string
	}{
		"before": {fault: func(func()) faults.Fault { return faults.Hang() }},
		"done":   {fault: func(func()) faults.Fault { return faults.HangDone() }, did: "POST /x"},
	} {
		t.Run(name, func(t *testing.T) {
			p, network := newProxy(t)
			rule := p.Add(faults.Match{}, test.fault(nil))
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan string)
			go func() { got <- ask(ctx, t, p, "POST", "/x", "") }()
			for rule.Met() == 0 || network.did() != test.did {
				if t.Context().Err() != nil {
					t.FailNow()
				}
			}
			cancel()
			if answer := <-got; answer != "gave up" {
				t.Errorf("a hanging request: %s", answer)
			}
		})
	}
}

func TestClientKilledAtRequest(t *testing.T) {
	for k := 1; k <= 3; k++ {
		for name, fault := range map[string]func(...func()) faults.Fault{"not done": faults.Drop, "done": faults.Lose} {
			t.Run(fmt.Sprintf("%d %s", k, name), func(t *testing.T) {
				p, network := newProxy(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p.Add(faults.Match{From: k}, fault(cancel))
				for i := range 5 {
					ask(ctx, t, p, "PUT", fmt.Sprintf("/%d", i), "")
				}
				want := k - 1
				if name == "done" {
					want = k
				}
				if got := strings.Count(network.did(), "PUT"); got != want {
					t.Errorf("the server did %d requests, want %d", got, want)
				}
				if got := len(p.Requests()); got != k {
					t.Errorf("%d requests on record, want %d: a killed client asks no more", got, k)
				}
			})
		}
	}
}

func TestRecord(t *testing.T) {
	p, _ := newProxy(t)
	p.Add(faults.Match{Method: "DELETE"}, faults.Lose())
	ask(t.Context(), t, p, "GET", "/v2.0/ports?name=a", "")
	ask(t.Context(), t, p, "DELETE", "/v2.0/ports/1", "")
	ask(t.Context(), t, p, "DELETE", "/v2.0/ports/1", "")
	var lines []string
	for _, r := range p.Requests() {
		if r.At.IsZero() {
			t.Errorf("%s %s has no time", r.Method, r.Path)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s?%s %d %s", r.Service, r.Method, r.Path, r.Query, r.Status, r.Fault))
	}
	want := `network GET /v2.0/ports?name=a 201 
network DELETE /v2.0/ports/1? 204 lose
network DELETE /v2.0/ports/1? 204 `
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("record:\n%s\nwant:\n%s", got, want)
	}
	if n := p.Count(faults.Match{Method: faults.Write, Path: "/v2.0/ports/*"}); n != 2 {
		t.Errorf("%d writes to ports, want 2", n)
	}
	p.Forget()
	if n := p.Count(faults.Match{}); n != 0 {
		t.Errorf("%d requests after Forget", n)
	}
}

func TestServerThatIsGone(t *testing.T) {
	p, network := newProxy(t)
	network.Close()
	if got, want := ask(t.Context(), t, p, "GET", "/", ""), "502 the server did not answer"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
