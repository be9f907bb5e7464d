package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/netplan"
)

const (
	testSecret = "s3cr3t-of-the-credential"
	testToken  = "t0ken-of-keystone"
)

// server answers as Keystone under /v3 and as Neutron under /v2.0, with what a test
// says for each request.
type server struct {
	*httptest.Server
	mu sync.Mutex
	// answer is asked for each of Neutron's requests, counted from 0 for each method and
	// path. It may answer by itself (true).
	answer func(w http.ResponseWriter, r *http.Request, n int) bool
	seen   map[string]int
	logins int
	log    []string
	// login, when set, answers Keystone's.
	login func(w http.ResponseWriter, n int) bool
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int) bool) *server {
	t.Helper()
	s := &server{answer: answer, seen: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	key := r.Method + " " + r.URL.Path
	n := s.seen[key]
	s.seen[key]++
	s.log = append(s.log, key)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(r.URL.Path, "/v3/") {
		s.mu.Lock()
		s.logins++
		s.mu.Unlock()
		if s.login != nil && s.login(w, n) {
			return
		}
		w.Header().Set("X-Subject-Token", fmt.Sprintf("%s-%d", testToken, n))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token": {"expires_at": "2099-01-01T00:00:00.000000Z", "project": {"id": "p1", "name": "demo"}, "catalog": [
			{"type": "network", "name": "neutron", "endpoints": [{"interface": "public", "region": "RegionOne", "region_id": "RegionOne", "url": %q}]}]}}`, s.URL)
		return
	}
	if s.answer != nil && s.answer(w, r, n) {
		return
	}
	s.empty(w, r)
}

// empty answers a list with none, anything else with the object that was sent and an id.
func (s *server) empty(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/v2.0/")
	switch r.Method {
	case http.MethodGet:
		fmt.Fprintf(w, `{%q: []}`, strings.ReplaceAll(name, "-", "_"))
	case http.MethodPost, http.MethodPut:
		var body map[string]map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		for key := range body {
			if body[key]["id"] == nil {
				body[key]["id"] = "id-" + key
			}
		}
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		_ = json.NewEncoder(w).Encode(body)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// count says how often a request was made.
func (s *server) count(method, path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[method+" "+path]
}

// pauses are what a client waited.
type pauses struct {
	mu   sync.Mutex
	list []time.Duration
}

func (p *pauses) sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, d)
	return context.Cause(ctx)
}

func options(s *server, p *pauses) ClientOptions {
	return ClientOptions{
		Access: netplan.OpenStackAccess{URL: s.URL + "/v3", CredentialID: "c1", CredentialSecret: netplan.NewSecret(testSecret)},
		Sleep:  p.sleep, Log: slog.New(slog.DiscardHandler), Timeout: 2 * time.Second,
	}
}

func (s *server) client(t *testing.T) (*Client, *pauses) {
	t.Helper()
	p := &pauses{}
	c, err := Connect(t.Context(), options(s, p))
	if err != nil {
		t.Fatal(err)
	}
	return c, p
}

// refusal answers as Neutron does.
func refusal(w http.ResponseWriter, status int, kind, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"NeutronError": map[string]string{"type": kind, "message": message, "detail": ""}})
}
