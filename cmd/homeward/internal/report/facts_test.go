package report_test

import (
	"slices"
	"strings"
	"testing"

	"homeward/cmd/homeward/internal/report"
)

// Each statement changes when the fact behind it does.
func TestStatementsFollowFacts(t *testing.T) {
	say := func(f func(report.Failure) string, kind report.Kind) func(*testing.T, report.Report) string {
		return func(t *testing.T, r report.Report) string { return f(failure(t, r, kind)) }
	}
	expected := func(f report.Failure) string { return f.Expected }
	remains := func(f report.Failure) string { return f.Remains }
	observed := func(name string) func(*testing.T, report.Report) string {
		return func(t *testing.T, r report.Report) string {
			at := slices.IndexFunc(r.Components, func(c report.Component) bool { return c.Name == name })
			if at < 0 {
				t.Fatalf("no component %s", name)
			}
			c := r.Components[at]
			return c.Layout + "|" + c.Mechanism + "|" + c.Observed
		}
	}
	spread := report.Service{Endpoints: map[string]int{"edge-worker-01": 1, "edge-worker-02": 2}}
	alone := report.Service{Endpoints: map[string]int{"edge-worker-02": 2}}
	tests := []struct {
		name          string
		what          func(*testing.T, report.Report) string
		before, after report.Facts
		was, is       string
	}{
		{"workers", say(expected, report.FailWorker), factsOf(t), factsOf(t, "worker: {count: 3}", "worker: {count: 5}"), "2 workers left", "4 workers left"},
		{"gateway", say(func(f report.Failure) string { return f.Subject }, report.FailGateway), factsOf(t), factsOf(t, "gateway: 203.0.113.1", "gateway: 203.0.113.2"), "203.0.113.1", "203.0.113.2"},
		{"pool", say(expected, report.FailGateway), factsOf(t), factsOf(t, "203.0.113.75-203.0.113.78", "203.0.113.75-203.0.113.77"), "4 addresses", "3 addresses"},
		{"VIP's link", say(expected, report.FailGateway), factsOf(t), factsOf(t, "      kubeapi_vip: 203.0.113.79\n", "", "bridge: vmbr1", "bridge: vmbr1, kubeapi_vip: 10.0.0.240"), "203.0.113.79", "no longer reach the pool (4 addresses)."},
		{"pod", say(remains, report.FailGateway), factsOf(t), factsOf(t, "agent: {image: registry.example.edu/homeward-agent:v1}\n", ""), "The agent finds such a gateway", "The nft pod cannot help"},
		{"external addresses", say(remains, report.FailGateway), factsOf(t), factsOf(t, "{node: pve1}", "{node: pve1, ADDRESS}", "edge-controlplane-01: {node: pve1, ADDRESS}", "edge-controlplane-01: {node: pve1, external_address: 203.0.113.11}", "edge-worker-01: {node: pve1, ADDRESS}", "edge-worker-01: {node: pve1}"), "6 machines that reply", "5 machines that reply"},
		{"static private addresses", say(remains, report.FailPrivateGateway), factsOf(t), factsOf(t, "edge-worker-01: {node: pve1}", "edge-worker-01: {node: pve1, address: 10.0.0.61}", "cluster: {bridge: vmbr1}", "cluster: {bridge: vmbr1, gateway: 10.0.0.1}"), "6 machines of 6", "5 machines of 6"},
		{"bridge", say(expected, report.FailSwitch), factsOf(t), factsOf(t, "bridge: vmbr1", "bridge: vmbr0"), "each has its own", "Both NICs of every machine"},
		{"control planes", say(expected, report.FailControlPlane), factsOf(t), factsOf(t, "controlplane: {count: 3}", "controlplane: {count: 5}"), "2 of 3 etcd members left, quorum is 2", "4 of 5 etcd members left, quorum is 3"},
		{"policy", say(remains, report.FailWorker), factsOf(t), factsOf(t, "external_traffic_policy: Cluster", "external_traffic_policy: Local"), "Policy Cluster", "Policy Local"},
		{"endpoints", say(remains, report.FailWorker), withCluster(factsOf(t), spread), withCluster(factsOf(t), alone), "on two nodes or more", "203.0.113.75 (2 ready endpoints on 1 node)"},
		{"speakers", observed("MetalLB speakers"), withCluster(factsOf(t), spread), without(withCluster(factsOf(t), spread), "edge-worker-03"), "3 of 3", "2 of 3"},
		{"controller", observed("MetalLB controller"), withCluster(factsOf(t), spread), replicas(withCluster(factsOf(t), spread), 2), "1 of 1 ready", "set replicas to 1"},
		{"ports", say(remains, report.FailSegment), factsOf(t), withGuests(factsOf(t), func(string) string { return "pve1" }, "pve1"), "is not known", "pve1 by eno1"},
		{"pairs", say(expected, report.FailSecond), factsOf(t), factsOf(t, "controlplane: {count: 3}", "controlplane: {count: 5}"), "3 take the API down", "0 take the API down"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			was, is := test.what(t, report.Make(test.before)), test.what(t, report.Make(test.after))
			if !strings.Contains(was, test.was) {
				t.Errorf("before it says %q, want %q in it", was, test.was)
			}
			if !strings.Contains(is, test.is) || strings.Contains(is, test.was) {
				t.Errorf("after it says %q, want %q in it instead of %q", is, test.is, test.was)
			}
		})
	}
}

func without(f report.Facts, speaker string) report.Facts {
	f.Cluster.Speakers = slices.DeleteFunc(f.Cluster.Speakers, func(s string) bool { return s == speaker })
	return f
}

func replicas(f report.Facts, n int) report.Facts {
	f.Cluster.Controller.Declared = n
	return f
}

func TestEffectsByPolicyAndEndpoints(t *testing.T) {
	on := func(nodes ...string) map[string]int {
		m := map[string]int{}
		for _, n := range nodes {
			m[n] = 1
		}
		return m
	}
	tests := []struct {
		name    string
		service report.Service
		want    report.Effect
	}{
		{"Cluster, two nodes", report.Service{Endpoints: on("edge-worker-01", "edge-worker-02")}, report.Moves},
		{"Cluster, one node", report.Service{Endpoints: on("edge-worker-01")}, report.Lost},
		{"Local, two nodes", report.Service{Local: true, Endpoints: on("edge-worker-01", "edge-worker-02")}, report.Moves},
		{"Local, one node", report.Service{Local: true, Endpoints: on("edge-worker-02")}, report.Lost},
		{"no endpoint", report.Service{Endpoints: on()}, report.Lost},
		{"on a control plane", report.Service{Endpoints: on("edge-controlplane-01")}, report.Moves},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := answer(t, report.Make(withCluster(factsOf(t), test.service)), report.AnyWorker).Ingress; got != test.want {
				t.Errorf("the loss of a worker: pool %s, want %s", got, test.want)
			}
		})
	}
	t.Run("Local, endpoints unknown", func(t *testing.T) {
		r := report.Make(factsOf(t, "external_traffic_policy: Cluster", "external_traffic_policy: Local"))
		if got := answer(t, r, report.AnyWorker).Ingress; got != report.Unknown {
			t.Errorf("pool %s, want unknown", got)
		}
	})
	t.Run("who announces now comes before the election", func(t *testing.T) {
		s := report.Service{Endpoints: on("edge-worker-01", "edge-worker-02"), Announcers: []string{"edge-worker-03"}}
		r := report.Make(withCluster(factsOf(t), s))
		if h := hostNamed(t, r, "pve3"); len(h.Loss.Addresses) != 1 || h.Loss.Ingress != report.Moves {
			t.Errorf("the host of the announcer: %+v", h.Loss)
		}
	})
}

func TestPlacementIsTheInventorys(t *testing.T) {
	f := withGuests(factsOf(t), func(m string) string {
		if strings.HasPrefix(m, "edge-controlplane") {
			return "pve9"
		}
		return "pve2"
	}, "pve1", "pve2", "pve9")
	r := report.Make(f)
	if h := hostNamed(t, r, "pve9"); h.Loss.Quorum != report.NotKept || len(h.Machines) != 3 {
		t.Errorf("pve9: %+v", h.Loss)
	}
	if !slices.ContainsFunc(r.Unknown, func(u string) bool { return strings.Contains(u, "planned on pve1, runs on pve9") }) {
		t.Errorf("the difference is not said: %q", r.Unknown)
	}
	alone := report.Make(factsOf(t, "edge-worker-03: {node: pve3}", "edge-worker-03: {node: pve4}"))
	if h := hostNamed(t, alone, "pve4"); len(h.Machines) != 1 || h.Loss.ControlPlanes != 0 {
		t.Errorf("pve4: %+v", h)
	}
	unknown := report.Make(factsOf(t, noHosts...))
	if len(unknown.Hosts) != 0 || len(unknown.Unplaced) != 6 || answer(t, unknown, report.AnyHost).Worst() != report.Unknown {
		t.Errorf("without hosts: %d hosts, %d unplaced, %+v", len(unknown.Hosts), len(unknown.Unplaced), answer(t, unknown, report.AnyHost))
	}
}
