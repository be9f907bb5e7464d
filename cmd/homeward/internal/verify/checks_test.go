package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"homeward/cmd/homeward/internal/report/kube"
)

// shapes are plans that differ in what there is to check.
var shapes = map[string][]string{
	"agent":             nil,
	"nft pod":           {"agent: {image: \"registry.example.edu/homeward-agent:v1.2.3\"}\n", ""},
	"private metrics":   {"v1.2.3\"}", "v1.2.3\", metrics: private}"},
	"no workers":        {"workers:\n  worker: {count: 2}\n", ""},
	"batch without NIC": {"worker: {count: 2}", "worker: {count: 2}\n  batch: {count: 1, external: false}"},
}

func TestAHealthyClusterPasses(t *testing.T) {
	for name, edits := range shapes {
		t.Run(name, func(t *testing.T) {
			s := healthy(t, edits...)
			if name == "no workers" {
				s.Endpoints[ServiceKey{"ingress", "traefik"}] = Read[map[string]int]{Value: map[string]int{"edge-controlplane-01": 1}}
			}
			if name == "batch without NIC" {
				s.L2.Value[0] = adOf(t, "ingress", `{"ipAddressPools": ["ingress"], "nodeSelectors": [{"matchLabels": {"node.homeward/external": "true"}}]}`)
				delete(s.Nodes.Value[2].Labels, "node.homeward/external") // pools come by name: batch first
			}
			for _, f := range Check(s, nil).Checks {
				if f.Result != Pass || len(f.Seen) == 0 || len(f.Remedies) != 0 || f.Why == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestWithoutAPoolThereIsLessToCheck(t *testing.T) {
	s := healthy(t, "      ingress_pool: 203.0.113.75-203.0.113.78\n", "")
	s.Services.Value, s.Knocks.Value = nil, nil
	r := Check(s, nil)
	want := "return-path-ready return-path-spec metallb-namespace metallb-controller metallb-speakers metallb-pool metallb-advertisement metallb-announcers control-planes-excluded service-addresses service-pins service-sharing service-pending service-endpoints service-handshake"
	if got := strings.Join(r.With(Skipped), " "); got != want {
		t.Errorf("skipped:\n%s\nwant\n%s", got, want)
	}
	if bad := slices.Concat(r.With(Fail), r.With(Unknown), r.With(Warn)); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
}

// unread are the sources, each with the checks that cannot be made without it.
var unread = map[string]struct {
	lose func(*Snapshot, error)
	ids  string
}{
	"version":     {func(s *Snapshot, err error) { s.Version.Err = err }, "versions"},
	"nodes":       {func(s *Snapshot, err error) { s.Nodes = zero(s.Nodes, err) }, "nodes-planned node-addresses versions metallb-announcers control-planes-excluded"},
	"return path": {func(s *Snapshot, err error) { s.ReturnPath = zero(s.ReturnPath, err) }, "return-path-ready return-path-spec versions"},
	"namespace":   {func(s *Snapshot, err error) { s.MetalLBNamespace = zero(s.MetalLBNamespace, err) }, "metallb-namespace"},
	"MetalLB":     {func(s *Snapshot, err error) { s.MetalLB = zero(s.MetalLB, err) }, "metallb-controller metallb-speakers control-planes-excluded"},
	"pools":       {func(s *Snapshot, err error) { s.Pools = zero(s.Pools, err) }, "metallb-pool metallb-pools-other metallb-advertisement metallb-announcers control-planes-excluded"},
	"L2":          {func(s *Snapshot, err error) { s.L2 = zero(s.L2, err) }, "metallb-advertisement metallb-announcers control-planes-excluded"},
	"BGP":         {func(s *Snapshot, err error) { s.BGP = zero(s.BGP, err) }, "metallb-advertisement"},
	"services":    {func(s *Snapshot, err error) { s.Services = zero(s.Services, err) }, "service-addresses service-pins service-sharing service-pending service-endpoints service-handshake"},
	"endpoints": {func(s *Snapshot, err error) {
		s.Endpoints[ServiceKey{"ingress", "traefik"}] = Read[map[string]int]{Err: err}
	}, "service-endpoints"},
	"API endpoints": {func(s *Snapshot, err error) { s.APIEndpoints = zero(s.APIEndpoints, err) }, "api-endpoints"},
	"knocks":        {func(s *Snapshot, err error) { s.Knocks = zero(s.Knocks, err) }, "service-handshake"},
	"proxy":         {func(s *Snapshot, err error) { s.Proxy = zero(s.Proxy, err) }, "kube-proxy"},
	"files":         {func(s *Snapshot, err error) { s.Files = Files{Err: err} }, "generated-files"},
	"reservation":   {func(s *Snapshot, err error) { s.Reservation = Reservation{Asked: true, Err: err} }, "reservation"},
}

func zero[T any](_ Read[T], err error) Read[T] { return Read[T]{Err: err} }

func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	for name, u := range unread {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			u.lose(s, fmt.Errorf("GET /there: %w", kube.ErrForbidden))
			r := Check(s, nil)
			if got := strings.Join(r.With(Unknown), " "); got != u.ids {
				t.Errorf("unknown: %q\nwant     %q", got, u.ids)
			}
			if bad := slices.Concat(r.With(Fail), r.With(Warn)); len(bad) > 0 {
				t.Errorf("%v", bad)
			}
			for _, id := range r.With(Unknown) {
				if f := findingOf(t, r, id); !strings.Contains(strings.Join(f.Seen, "\n"), "may not read") || len(f.Remedies) == 0 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestWhatAllowsUnknown(t *testing.T) {
	s := healthy(t)
	s.Reservation = Reservation{}
	r := Check(s, map[string]bool{"reservation": true, "versions": true})
	f := findingOf(t, r, "reservation")
	if f.Result != Unknown || !f.Allowed || len(r.With(Unknown)) != 0 || r.Counts[Unknown] != 1 || findingOf(t, r, "versions").Allowed {
		t.Errorf("%+v, %v", f, r.Counts)
	}
	if got := Check(s, nil).With(Unknown); !slices.Equal(got, []string{"reservation"}) {
		t.Errorf("unknown: %v", got)
	}
}

func TestRemediesFitWhatIsMissing(t *testing.T) {
	for err, want := range map[error]string{
		kube.ErrForbidden: "homeward verify --rbac | kubectl apply -f -", kube.ErrAbsent: "install", errors.New("timeout"): "kubectl get --raw /readyz",
	} {
		s := healthy(t)
		s.Pools = zero(s.Pools, fmt.Errorf("GET x: %w", err))
		if f := findingOf(t, Check(s, nil), "metallb-pool"); len(f.Remedies) != 1 || !strings.Contains(f.Remedies[0].Text+f.Remedies[0].Command, want) {
			t.Errorf("%v: %+v", err, f.Remedies)
		}
	}
}

// The report's shape is a contract.
func TestReportJSON(t *testing.T) {
	s := healthy(t)
	s.MetalLBNamespace.Value.Labels = nil
	r := Check(s, nil)
	r.Checks = []Finding{findingOf(t, r, "metallb-namespace")}
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "format": 1,
  "cluster": "edge",
  "server": "https://203.0.113.79:6443",
  "taken": "2026-11-30T22:00:00Z",
  "counts": {
    "fail": 1,
    "pass": 23,
    "skipped": 0,
    "unknown": 0,
    "warn": 0
  },
  "checks": [
    {
      "id": "metallb-namespace",
      "title": "speakers may use the node's network",
      "result": "fail",
      "seen": [
        "metallb-system has no label pod-security.kubernetes.io/enforce"
      ],
      "why": "Pod Security refuses speakers in a namespace without the privileged label, and Talos enforces baseline where there is none: after the next restart of a node it announces nothing",
      "remedies": [
        {
          "text": "label the namespace",
          "command": "kubectl label namespace metallb-system --overwrite pod-security.kubernetes.io/enforce=privileged pod-security.kubernetes.io/audit=privileged pod-security.kubernetes.io/warn=privileged"
        }
      ]
    }
  ]
}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestIDsAreKept(t *testing.T) {
	const kept = "nodes-planned node-addresses return-path-ready return-path-spec versions generated-files metallb-namespace metallb-controller metallb-speakers " +
		"metallb-pool metallb-pools-other metallb-advertisement metallb-announcers control-planes-excluded service-addresses service-pins service-sharing " +
		"service-pending service-endpoints service-handshake kube-proxy api-address api-endpoints reservation"
	var got []string
	for _, c := range Catalogue() {
		got = append(got, c.ID)
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(c.ID) || c.Title == "" || len(c.Title) > 44 { // with the rest it fits 80 columns
			t.Errorf("%+v", c)
		}
	}
	if strings.Join(got, " ") != kept {
		t.Errorf("the IDs are\n%s", strings.Join(got, " "))
	}
}
