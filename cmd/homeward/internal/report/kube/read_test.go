package kube

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/cmd/homeward/internal/report"
)

// server answers lists from objects by path, and by label selector where one is given.
// It holds pages of one object, so that every list of two is read in two requests.
type server struct {
	t       *testing.T
	objects map[string][]string
	// refused are paths that the user may not list.
	refused map[string]bool
}

const token = "a-token-that-nobody-should-see"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+token {
		s.t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}
	key := r.URL.Path
	if selector := r.URL.Query().Get("labelSelector"); selector != "" {
		key += "?" + selector
	}
	list, known := s.objects[key]
	switch {
	case s.refused[r.URL.Path]:
		w.WriteHeader(http.StatusForbidden)
		return
	case strings.HasSuffix(r.URL.Path, "servicel2statuses") && !known:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	page := map[string]any{"items": []json.RawMessage{}}
	at := len(r.URL.Query().Get("continue"))
	if at < len(list) {
		page["items"] = []json.RawMessage{json.RawMessage(list[at])}
	}
	if at+1 < len(list) {
		page["metadata"] = map[string]string{"continue": strings.Repeat("x", at+1)}
	}
	_ = json.NewEncoder(w).Encode(page)
}

const (
	ready  = `"conditions":[{"type":"Ready","status":"True"}]`
	broken = `"conditions":[{"type":"Ready","status":"False"}]`
)

func lab(t *testing.T) *server {
	return &server{t: t, refused: map[string]bool{}, objects: map[string][]string{
		"/api/v1/nodes": {
			`{"metadata":{"name":"w1"},"status":{` + ready + `}}`,
			`{"metadata":{"name":"w2"},"status":{` + broken + `}}`,
			`{"metadata":{"name":"c1","labels":{"node.kubernetes.io/exclude-from-external-load-balancers":""}},"status":{` + ready + `}}`,
		},
		"/apis/apps/v1/deployments?app.kubernetes.io/name=metallb,app.kubernetes.io/component=controller": {
			`{"metadata":{"name":"metallb-controller","namespace":"metallb"},"spec":{"replicas":2},"status":{"readyReplicas":1}}`,
		},
		"/api/v1/pods?app=metallb,component=speaker": {
			`{"spec":{"nodeName":"w2"},"status":{` + broken + `}}`, `{"spec":{"nodeName":"w1"},"status":{` + ready + `}}`,
		},
		"/api/v1/pods?app.kubernetes.io/managed-by=homeward,app.kubernetes.io/component=return-path": {`{"spec":{"nodeName":"w1"},"status":{` + ready + `}}`},
		"/api/v1/services": {
			`{"metadata":{"name":"kubernetes","namespace":"default"},"spec":{"type":"ClusterIP"}}`,
			`{"metadata":{"name":"traefik","namespace":"web"},"spec":{"externalTrafficPolicy":"Local"},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.75"},{"ip":"2001:db8::1"},{"hostname":"x"}]}}}`,
		},
		"/apis/metallb.io/v1beta1/servicel2statuses": {
			`{"status":{"node":"w1","serviceName":"traefik","serviceNamespace":"web"}}`, `{"status":{"node":"w2","serviceName":"traefik","serviceNamespace":"other"}}`,
		},
		"/apis/discovery.k8s.io/v1/namespaces/web/endpointslices?kubernetes.io/service-name=traefik": {
			`{"addressType":"IPv4","endpoints":[{"addresses":["10.244.1.5"],"nodeName":"w1","conditions":{"ready":true}},{"addresses":["10.244.2.5"],"nodeName":"w2","conditions":{"ready":false}}]}`,
			`{"addressType":"IPv4","endpoints":[{"addresses":["10.244.1.5"],"nodeName":"w1","conditions":{}},{"addresses":["10.244.1.6"],"nodeName":"w1","conditions":{}}]}`,
			`{"addressType":"IPv6","endpoints":[{"addresses":["fd00::5"],"nodeName":"w1","conditions":{"ready":true}}]}`,
		},
	}}
}

// open serves a lab and opens it by a kubeconfig.
func open(t *testing.T, handler http.Handler) *Client {
	t.Helper()
	s := httptest.NewTLSServer(handler) // without TLS client-go sends no token
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := "apiVersion: v1\nkind: Config\ncurrent-context: lab\nclusters: [{name: lab, cluster: {certificate-authority-data: " + ca + ", server: '" + s.URL + "/prefix'}}]\nusers: [{name: me, user: {token: " + token + "}}]\ncontexts: [{name: lab, context: {cluster: lab, user: me}}]\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{Kubeconfig: file, UserAgent: "homeward/test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Kubeconfig: file, Context: "other"}); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("an unknown context: %v", err)
	}
	return c
}

func TestReadsWhatAReportUses(t *testing.T) {
	c := open(t, http.StripPrefix("/prefix", lab(t)))
	got, source, err := Read(context.Background(), c)
	if err != nil || source.State != report.SourceRead || len(source.Detail) != 0 {
		t.Fatalf("%+v, %v", source, err)
	}
	want := &report.Cluster{
		Nodes:      []report.Node{{Name: "w1", Ready: true}, {Name: "w2"}, {Name: "c1", Ready: true, Excluded: true}},
		Controller: report.Workload{Found: true, Declared: 2, Ready: 1, Namespace: "metallb", Object: "metallb-controller"},
		Speakers:   []string{"w1"}, ReturnPath: []string{"w1"},
		Services: []report.Service{{Namespace: "web", Name: "traefik", Addresses: []netip.Addr{netip.MustParseAddr("203.0.113.75")}, Local: true,
			Endpoints: map[string]int{"w1": 2}, Announcers: []string{"w1"}}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSaysWhatItCouldNotRead(t *testing.T) {
	t.Run("pods are refused", func(t *testing.T) {
		l := lab(t)
		l.refused["/api/v1/pods"] = true
		got, source, err := Read(context.Background(), open(t, http.StripPrefix("/prefix", l)))
		if err != nil || source.State != report.SourcePartial || len(source.Detail) != 1 || !strings.Contains(source.Detail[0], "GET /api/v1/pods: this user may not read that") {
			t.Fatalf("%+v, %v", source, err)
		}
		if got.Speakers != nil || got.ReturnPath != nil || len(got.Services) != 1 {
			t.Errorf("what is not known is given: %+v", got)
		}
	})
	t.Run("MetalLB says nothing of announcers", func(t *testing.T) {
		l := lab(t)
		delete(l.objects, "/apis/metallb.io/v1beta1/servicel2statuses")
		got, source, err := Read(context.Background(), open(t, http.StripPrefix("/prefix", l)))
		if err != nil || source.State != report.SourceRead || len(got.Services[0].Announcers) != 0 {
			t.Errorf("%+v, %+v, %v", got, source, err)
		}
	})
	for name, answer := range map[string]func(http.ResponseWriter){
		"no JSON":      func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"unauthorized": func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) },
		"broken off":   func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99"); _, _ = w.Write([]byte("{")) },
	} {
		t.Run(name, func(t *testing.T) {
			got, source, err := Read(context.Background(), open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) })))
			if err != nil || got != nil || source.State != report.SourceFailed || len(source.Detail) != 1 || strings.Contains(source.Detail[0], token) {
				t.Errorf("%+v, %+v, %v", got, source, err)
			}
		})
	}
	t.Run("a context that ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := Read(ctx, open(t, lab(t))); err == nil {
			t.Error("no error")
		}
	})
	t.Run("no file", func(t *testing.T) {
		if _, err := Open(Options{Kubeconfig: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "reading the kubeconfig") {
			t.Errorf("it says %v", err)
		}
	})
}
