package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"homeward/agent/ledger"
)

func TestEachErrorByItsType(t *testing.T) {
	for _, c := range []struct {
		status  int
		kind    string
		message string
		class   error
		outcome Outcome
		says    string
	}{
		{409, "OverQuota", "Quota exceeded for resources: ['port'].", ledger.ErrRefused, Failed, "OverQuota"},
		{409, "IpAddressGenerationFailure", "No more IP addresses available on network n.", ledger.ErrRefused, Failed, "network.cidr has no address left"},
		{409, "IpAddressAlreadyAllocated", "IP address 10.0.0.5 already allocated in subnet s", ledger.ErrTaken, Unknown, "10.0.0.5"},
		{409, "MacAddressInUse", "in use", ledger.ErrTaken, Unknown, "MacAddressInUse"},
		{409, "SomethingNew", "what is this", ledger.ErrStale, Failed, "SomethingNew (what is this)"},
		{412, "RevisionNumberConstraintFailed", "Constrained to 5", ledger.ErrStale, Failed, "Constrained"},
		{404, "NetworkNotFound", "Network n could not be found.", ledger.ErrGone, Failed, "could not be found"},
		{400, "AllowedAddressPairExhausted", "exceeds the maximum 10", ledger.ErrRefused, Failed, "max_allowed_address_pair"},
		{400, "InvalidInput", "Requested subnet with cidr: x overlaps with another subnet.", ledger.ErrTaken, Unknown, ""},
		{400, "InvalidInput", "Invalid input for operation: bad.", ledger.ErrRefused, Failed, "bad"},
		{403, "PolicyNotAuthorized", "disallowed by policy", ledger.ErrRefused, Failed, "role member"},
		{403, "PolicyNotAuthorized", "(rule:create_port and (rule:create_port:mac_address)) is disallowed by policy", ledger.ErrRefused, Failed, "administrator for create_port:mac_address"},
		{400, "BadRequest", "Bad router request: Cidr 203.0.113.0/24 of subnet a overlaps with cidr 203.0.113.0/24 of subnet b.", ledger.ErrTaken, Unknown, "network.cidr overlaps a network"},
		{401, "", "", ledger.ErrRefused, Failed, "credential"},
		{429, "", "", ledger.ErrBusy, Unknown, "try again later"},
		{500, "HTTPInternalServerError", "Request Failed: internal server error", ledger.ErrUnknown, Unknown, "whether it was done is unknown"},
		{503, "", "", ledger.ErrUnknown, Unknown, "503"},
		{504, "", "", ledger.ErrUnknown, Unknown, "504"},
		{405, "", "", ledger.ErrRefused, Failed, "405"},
	} {
		t.Run(fmt.Sprint(c.status, c.kind), func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if c.kind == "" {
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(c.status)
					fmt.Fprint(w, "<html><h1>Service Unavailable</h1></html>")
					return true
				}
				refusal(w, c.status, c.kind, c.message)
				return true
			})
			api, _ := s.client(t)
			_, err := api.CreatePort(t.Context(), Port{NetworkID: "n"})
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, c.class) || e.Status != c.status || e.Type != c.kind {
				t.Fatalf("got %v", err)
			}
			if got := outcomeOf(err); got != c.outcome {
				t.Errorf("outcome %s, want %s", got, c.outcome)
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "<") {
				t.Errorf("it says %s", err)
			}
			for _, hint := range []string{"network.cidr has", "network.cidr overlaps", "role member", "administrator for create_port", "max_allowed", "try again later"} {
				if strings.Contains(err.Error(), hint) && !strings.Contains(c.says, hint) {
					t.Errorf("it has the hint of another: %s", err)
				}
			}
		})
	}
}

// A write that may have been done is never repeated by itself, and one that was not
// done for sure is.
func TestRepeats(t *testing.T) {
	status := func(code int, times int, header ...string) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n >= times {
				return false
			}
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(code)
			return true
		}
	}
	create := func(c *Client) error { _, err := c.CreateNetwork(context.Background(), Object{Name: "n"}); return err }
	list := func(c *Client) error { _, err := c.Read(context.Background(), Query{}); return err }
	remove := func(c *Client) error { return c.Delete(context.Background(), KindNetwork, "n") }
	for _, c := range []struct {
		name     string
		answer   func(http.ResponseWriter, *http.Request, int) bool
		do       func(*Client) error
		method   string
		path     string
		requests int
		ok       bool
		pause    time.Duration
	}{
		{"a list after 503", status(503, 2), list, "GET", "/v2.0/routers", 3, true, firstPause},
		{"a list that stays away", status(502, 99), list, "GET", "/v2.0/routers", mostAttempts, false, firstPause},
		{"as long as the server asks", status(503, 1, "Retry-After", "7"), list, "GET", "/v2.0/routers", 2, true, 7 * time.Second},
		{"but not for an hour", status(503, 1, "Retry-After", "3600"), list, "GET", "/v2.0/routers", 2, true, longestPause},
		{"a removal after 500", status(500, 1), remove, "DELETE", "/v2.0/networks/n", 2, true, firstPause},
		{"a creation after 500", status(500, 1), create, "POST", "/v2.0/networks", 1, false, 0},
		{"a creation after 504", status(504, 1), create, "POST", "/v2.0/networks", 1, false, 0},
		{"a creation after 429", status(429, 1, "Retry-After", "2"), create, "POST", "/v2.0/networks", 2, true, 2 * time.Second},
		{"a refusal", status(400, 9), remove, "DELETE", "/v2.0/networks/n", 1, false, 0},
		{"gone is removed", status(404, 9), remove, "DELETE", "/v2.0/networks/n", 1, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
				return r.URL.Path == c.path && c.answer(w, r, n)
			})
			api, p := s.client(t)
			if err := c.do(api); (err == nil) != c.ok {
				t.Errorf("error %v", err)
			}
			if got := s.count(c.method, c.path); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			if c.pause > 0 && (len(p.list) == 0 || !slices.Contains(p.list, c.pause)) {
				t.Errorf("paused %v, want %s", p.list, c.pause)
			}
		})
	}
}

// What is no list is never taken for an empty one: all would be made again.
func TestAListIsWhole(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, n int){
		"a web page": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
		"plain text":   func(w http.ResponseWriter, _ int) { w.Header().Set("Content-Type", "text/plain"); fmt.Fprint(w, "ok") },
		"no list":      func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{}`) },
		"another list": func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{"routers": []}`) },
		"null":         func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{"networks": null}`) },
		"an object":    func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{"networks": {"id": "x"}}`) },
		"no id":        func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{"networks": [{"name": "x"}]}`) },
		"cut off": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Length", "900")
			fmt.Fprint(w, `{"networks": [`)
		},
		"broken": func(w http.ResponseWriter, _ int) { fmt.Fprint(w, `{"networks": [}`) },
		"empty":  func(http.ResponseWriter, int) {},
		"a page for ever": func(w http.ResponseWriter, _ int) {
			fmt.Fprint(w, `{"networks": [{"id": "a"}], "networks_links": [{"rel": "next", "href": "http://x/?marker=a"}]}`)
		},
		"more at no place": func(w http.ResponseWriter, _ int) {
			fmt.Fprint(w, `{"networks": [{"id": "a"}], "networks_links": [{"rel": "next", "href": "http://x/"}]}`)
		},
		"sent elsewhere": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", "http://elsewhere.example/")
			w.WriteHeader(302)
		},
		"an empty redirect": func(w http.ResponseWriter, _ int) { w.WriteHeader(307) },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
				if !strings.HasSuffix(r.URL.Path, "/networks") {
					return false
				}
				answer(w, n)
				return true
			})
			api, _ := s.client(t)
			a, err := api.Read(t.Context(), Query{Owner: owner})
			if err == nil {
				t.Fatalf("read %+v", a)
			}
			var e *Error
			if !errors.As(err, &e) || errors.Is(err, ledger.ErrUnknown) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(err.Error(), "<html>") || strings.Contains(err.Error(), testToken) {
				t.Errorf("it repeats what was sent: %v", err)
			}
		})
	}
}

func TestPages(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasSuffix(r.URL.Path, "/networks") || r.URL.Query().Get("router:external") == "true" {
			return false
		}
		if r.URL.Query().Get("project_id") != "p1" {
			t.Errorf("asked for %s", r.URL)
		}
		switch r.URL.Query().Get("marker") {
		case "":
			fmt.Fprint(w, `{"networks": [{"id": "a"}, {"id": "b"}], "networks_links": [{"rel": "next", "href": "http://inside.example:9696/v2.0/networks?limit=2&marker=b"}]}`)
		case "b":
			fmt.Fprint(w, `{"networks": [{"id": "c"}], "networks_links": [{"rel": "previous", "href": "http://inside.example:9696/v2.0/networks?marker=c&page_reverse=True"}]}`)
		}
		return true
	})
	api, _ := s.client(t)
	a, err := api.Read(t.Context(), Query{})
	if err != nil || len(a.Networks) != 3 {
		t.Fatalf("read %v, %v", a, err)
	}
}

// A write that is answered with something else may have been done.
func TestAStrangeAnswerToAWriteIsUnknown(t *testing.T) {
	for name, text := range map[string]string{"no object": `{}`, "no id": `{"network": {"name": "n"}}`, "another": `{"router": {"id": "x"}}`, "a list": `[]`, "nothing": ``} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, text)
				return true
			})
			api, _ := s.client(t)
			if _, err := api.CreateNetwork(t.Context(), Object{Name: "n"}); !errors.Is(err, ledger.ErrUnknown) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The token may end in the middle: the client logs in again, once for each request.
func TestLoggingInAgain(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Method == http.MethodPost && n == 0 {
			refusal(w, 401, "", "")
			return true
		}
		return false
	})
	api, _ := s.client(t)
	if _, err := api.CreateNetwork(t.Context(), Object{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if s.logins != 2 || s.count("POST", "/v2.0/networks") != 2 {
		t.Errorf("%d logins, %d requests", s.logins, s.count("POST", "/v2.0/networks"))
	}
	s.answer = func(w http.ResponseWriter, _ *http.Request, _ int) bool { refusal(w, 401, "", ""); return true }
	s.logins = 0
	_, err := api.CreateNetwork(t.Context(), Object{Name: "n"})
	if !errors.Is(err, ledger.ErrRefused) || s.logins != 1 {
		t.Errorf("%d logins, error %v", s.logins, err)
	}
	s.login = func(w http.ResponseWriter, _ int) bool { w.WriteHeader(503); return true }
	if _, err := api.CreateNetwork(t.Context(), Object{Name: "n"}); err == nil || outcomeOf(err) != Unknown || errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("with Keystone away: %v", err)
	}
}

func TestAServerThatHangs(t *testing.T) {
	held := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Method == http.MethodPost {
			select {
			case <-held:
			case <-r.Context().Done():
			}
		}
		return false
	})
	defer close(held)
	o := options(s, &pauses{})
	o.Timeout = 50 * time.Millisecond
	api, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.CreateNetwork(t.Context(), Object{Name: "n"})
	if !errors.Is(err, ledger.ErrUnknown) || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := api.CreateNetwork(ctx, Object{Name: "n"}); !errors.Is(err, context.Canceled) || errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestNoSecretIsRepeated(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		refusal(w, 400, "Echo "+r.Header.Get("X-Auth-Token"), "you sent "+r.Header.Get("X-Auth-Token")+" and "+testSecret)
		return true
	})
	api, _ := s.client(t)
	_, err := api.CreateNetwork(t.Context(), Object{Name: "n"})
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), testSecret) || strings.Contains(err.Error(), testToken) {
		t.Errorf("got %v", err)
	}
	s.login = func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error": {"code": 401, "message": "no such credential: %s", "title": "Unauthorized"}}`, testSecret)
		return true
	}
	_, err = Connect(t.Context(), options(s, &pauses{}))
	if err == nil || strings.Contains(err.Error(), testSecret) || !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), "date of expiry") {
		t.Errorf("got %v", err)
	}
}

func TestNoCloudThere(t *testing.T) {
	s := serve(t, nil)
	o := options(s, &pauses{})
	s.Close()
	_, err := Connect(t.Context(), o)
	if err == nil || outcomeOf(err) != Unknown || !strings.Contains(err.Error(), "nothing listens on 127.0.0.1") {
		t.Errorf("got %v", err)
	}
}
