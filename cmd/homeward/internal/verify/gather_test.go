package verify

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"homeward/cmd/homeward/internal/report/kube"
)

// api is a server with lists and objects by path. It holds to the limit of a page.
type api struct {
	t       *testing.T
	lists   map[string][]json.RawMessage
	objects map[string]string
	// answer is called first; where it says true it has answered.
	answer func(http.ResponseWriter, *http.Request) bool

	mu       sync.Mutex
	requests map[string]int
}

// patient is for what is answered, however busy the machine is.
const patient = time.Minute

const apiToken = "a-token-that-nobody-should-see"

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+apiToken {
		a.t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}
	a.mu.Lock()
	a.requests[r.URL.Path]++
	a.mu.Unlock()
	if a.answer != nil && a.answer(w, r) {
		return
	}
	if text, ok := a.objects[r.URL.Path]; ok {
		fmt.Fprint(w, text)
		return
	}
	list, ok := a.lists[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 1000 {
		a.t.Errorf("%s has no limit", r.URL)
		return
	}
	at, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	end := min(at+limit, len(list))
	page := map[string]any{"items": append([]json.RawMessage{}, list[at:end]...)}
	if end < len(list) {
		page["metadata"] = map[string]string{"continue": strconv.Itoa(end)}
	}
	_ = json.NewEncoder(w).Encode(page)
}

// serve starts the server and opens it by a kubeconfig.
func (a *api) serve(timeout time.Duration) *kube.Client {
	a.t.Helper()
	a.requests = map[string]int{}
	s := httptest.NewTLSServer(a)
	a.t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	file := filepath.Join(a.t.TempDir(), "kubeconfig")
	config := "apiVersion: v1\nkind: Config\ncurrent-context: lab\nclusters: [{name: lab, cluster: {certificate-authority-data: " + ca + ", server: '" + s.URL + "'}}]\nusers: [{name: me, user: {token: " + apiToken + "}}]\ncontexts: [{name: lab, context: {cluster: lab, user: me}}]\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		a.t.Fatal(err)
	}
	c, err := kube.Open(kube.Options{Kubeconfig: file, UserAgent: "homeward/test", Timeout: timeout})
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

func raw[T any](t *testing.T, list []T) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	for _, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

// clusterOf serves what a snapshot has. The API's VIP is the plan's, which nobody here
// answers for.
func clusterOf(t *testing.T, s *Snapshot) *api {
	t.Helper()
	object := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const metallb, kubeSystemAPI = "/apis/metallb.io/v1beta1/", "/namespaces/kube-system/"
	return &api{t: t, lists: map[string][]json.RawMessage{
		"/api/v1/nodes":                                               raw(t, s.Nodes.Value),
		"/api/v1" + kubeSystemAPI + "pods":                            raw(t, s.ReturnPath.Value),
		"/api/v1/namespaces/metallb-system/pods":                      raw(t, s.MetalLB.Value),
		"/api/v1/services":                                            raw(t, s.Services.Value),
		metallb + "ipaddresspools":                                    raw(t, s.Pools.Value),
		metallb + "l2advertisements":                                  raw(t, s.L2.Value),
		metallb + "bgpadvertisements":                                 {},
		"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": raw(t, s.APIEndpoints.Value),
		"/apis/discovery.k8s.io/v1/namespaces/ingress/endpointslices": {json.RawMessage(`{"addressType": "IPv4", "endpoints": [{"addresses": ["10.244.1.5"], "nodeName": "edge-worker-01"}]}`)},
	}, objects: map[string]string{
		"/version": object(s.Version.Value), "/api/v1/namespaces/metallb-system": object(s.MetalLBNamespace.Value),
		"/apis/apps/v1" + kubeSystemAPI + "daemonsets/kube-proxy": object(s.Proxy.Value.KubeProxy),
	}}
}

// gather reads the server, with handshakes that are of no matter here.
func gather(t *testing.T, s *Snapshot, client *kube.Client, timeout time.Duration) *Snapshot {
	t.Helper()
	last := 0
	got := Gather(t.Context(), Options{Plan: s.Plan, Client: client, Namespace: "metallb-system", Timeout: timeout, Now: func() time.Time { return taken }, Progress: func(done, total int) {
		if last = done; done > total {
			t.Errorf("step %d of %d", done, total)
		}
	}})
	if last < 10 {
		t.Errorf("only %d steps were told of", last)
	}
	return got
}

// quiet takes away what would be connected to.
func quiet(t *testing.T) *Snapshot {
	t.Helper()
	s := healthy(t, "kubeapi_vip: 203.0.113.79", "mtu: 1500", "agent: {", "kubeapi_endpoint: 127.0.0.1:1\nagent: {")
	s.Services.Value[0].Spec.Ports = nil
	s.APIEndpoints.Value = nil
	return s
}

func TestGatherReadsWhatThereIs(t *testing.T) {
	s := quiet(t)
	a := clusterOf(t, s)
	got := gather(t, s, a.serve(patient), patient)
	r := Check(got, nil)
	for _, id := range strings.Fields("nodes-planned node-addresses return-path-ready return-path-spec metallb-namespace metallb-controller metallb-speakers metallb-pool metallb-pools-other metallb-advertisement metallb-announcers control-planes-excluded service-addresses service-pins service-sharing service-pending service-endpoints kube-proxy") {
		if f := findingOf(t, r, id); f.Result != Pass {
			t.Errorf("%+v", f)
		}
	}
	if !strings.HasPrefix(got.Server, "https://127.0.0.1:") || len(got.Here) == 0 {
		t.Errorf("server %q, here %v", got.Server, got.Here)
	}
	for path, n := range a.requests {
		if n != 1 {
			t.Errorf("%s was asked %d times", path, n)
		}
	}
}

// A big cluster is read in pages, and in a time that does not matter.
func TestGatherBigClusters(t *testing.T) {
	s := quiet(t)
	for i := range 1000 {
		n := s.Nodes.Value[0]
		n.Name = fmt.Sprintf("extra-%d", i)
		s.Nodes.Value = append(s.Nodes.Value, n)
	}
	for i := range 5000 {
		addService(t, s, "default", fmt.Sprintf("s%d", i), `{"type": "ClusterIP"}`, "")
	}
	a := clusterOf(t, s)
	got := gather(t, s, a.serve(patient), patient)
	if len(got.Nodes.Value) != 1004 || len(got.Services.Value) != 5001 || a.requests["/api/v1/services"] != 11 || a.requests["/api/v1/nodes"] != 3 {
		t.Errorf("%d nodes, %d services, requests %v", len(got.Nodes.Value), len(got.Services.Value), a.requests)
	}
	if f := findingOf(t, Check(got, nil), "nodes-planned"); f.Result != Warn || !strings.Contains(f.Seen[0], "and 988 more") {
		t.Errorf("%+v", f)
	}
}

func TestGatherSaysWhatItCouldNotRead(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, "this user may not read that"},
		"unauthorized": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, "401 Unauthorized"},
		"hung": {func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, "Client.Timeout|deadline exceeded"}, // whichever of two clocks is first
		"broken off": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "{")
			return true
		}, "unexpected EOF"},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, "<html>")
			return true
		}, "not what was asked for"},
		"no MetalLB": {func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/apis/metallb.io") {
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			return false
		}, "no such object or kind"},
	} {
		t.Run(name, func(t *testing.T) {
			s := quiet(t)
			a := clusterOf(t, s)
			a.answer = test.answer
			timeout := patient
			if name == "hung" {
				timeout = 300 * time.Millisecond
			}
			r := Check(gather(t, s, a.serve(timeout), timeout), nil)
			f := findingOf(t, r, "metallb-pool")
			if f.Result != Unknown || !regexp.MustCompile(test.want).MatchString(strings.Join(f.Seen, "\n")) {
				t.Errorf("%+v", f)
			}
			text, err := json.Marshal(r)
			if err != nil || strings.Contains(string(text), apiToken) {
				t.Errorf("the token is told: %v", err)
			}
			if name == "no MetalLB" {
				return
			}
			for _, f := range r.Checks {
				if f.Result == Pass {
					t.Errorf("%s passes: %q", f.ID, f.Seen)
				}
			}
		})
	}
}
