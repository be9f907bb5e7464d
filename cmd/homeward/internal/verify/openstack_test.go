package verify

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"homeward/agent/openstack"
	"homeward/cmd/homeward/internal/allocation"
	"homeward/netplan"
)

// cloudPlan leaves nothing to Neutron.
const cloudPlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 2}
workers:
  worker: {count: 2}
network:
  cidr: 192.0.2.0/24
security:
  kubernetes: {office: 198.51.100.0/24}
openstack:
  url: https://openstack.example.edu:5000/v3
  external_net: public
  kubeapi_address: 192.0.2.5
  kubeapi_floating_ip: 203.0.113.81
  ingress_address: 192.0.2.10
  ingress_floating_ip: 203.0.113.80
`

// healthyCloud is a snapshot of a cluster on OpenStack that is as its plan has it.
func healthyCloud(t *testing.T, edits ...string) *Snapshot {
	t.Helper()
	p := planFrom(t, cloudPlan, edits...)
	s := nodesOf(t, p)
	s.Reservation = Reservation{Asked: true, Cloud: &allocation.Report{Outcome: allocation.AsPlanned, Objects: make([]openstack.Listed, 12)}}
	s.Pools.Value = []Pool{poolOf(t, "ingress", `{"addresses": ["192.0.2.10/32"]}`)}
	s.L2.Value = []Advertisement{adOf(t, "ingress", `{"ipAddressPools": ["ingress"]}`)}
	addService(t, s, "ingress", "traefik", `{"type": "LoadBalancer", "loadBalancerIP": "192.0.2.10", "ports": [{"port": 443}]}`, "192.0.2.10")
	s.Knocks.Value[0].Address, s.Knocks.Value[0].Target = netip.MustParseAddr("192.0.2.10"), netip.MustParseAddrPort("203.0.113.80:443")
	certificate := certificateFor(t, taken.Add(-time.Hour), taken.Add(time.Hour), p.KubeAPI.SANs...)
	s.Doors = []Door{{Name: "the API's endpoint", Address: "203.0.113.81:6443", Planned: true, Certificate: certificate}, {Name: "an API server", Address: "192.0.2.11:6443", Certificate: certificate}}
	return s
}

// Nothing is marked on OpenStack, and everything else is held against the plan there.
func TestOnOpenStack(t *testing.T) {
	for _, f := range Check(healthyCloud(t), nil).Checks {
		want := Pass
		if f.ID == "return-path-ready" || f.ID == "return-path-spec" {
			want = Skipped
		}
		if f.Result != want {
			t.Errorf("%s is %s: %q", f.ID, f.Result, f.Seen)
		}
	}
}

func judgeCloud(t *testing.T, id string, list []planted) {
	t.Helper()
	judgeIn(t, healthyCloud, id, list)
}

func TestAllocatedOnOpenStack(t *testing.T) {
	report := func(change func(*allocation.Report)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { change(s.Reservation.Cloud) }
	}
	judgeCloud(t, "reservation", []planted{
		{name: "as planned", want: Pass, seen: "12 objects of edge"},
		{name: "not asked", want: Unknown, seen: "no credential for OpenStack", remedy: "OS_CLOUD", change: func(_ *testing.T, s *Snapshot) { s.Reservation = Reservation{} }},
		{name: "not logged in", want: Unknown, seen: "401", remedy: "homeward status", change: func(_ *testing.T, s *Snapshot) {
			s.Reservation = Reservation{Asked: true, Err: errors.New("logging in: 401")}
		}},
		{name: "a port that is missing", want: Fail, seen: "not as planned: make port edge-worker-02", remedy: "homeward reserve -f cluster.yaml --out out", change: report(func(r *allocation.Report) {
			r.Outcome, r.Steps = allocation.Differs, []openstack.Step{{Words: "make port edge-worker-02"}}
		})},
		{name: "somebody else's", want: Fail, seen: "is another's", remedy: "choose another", change: report(func(r *allocation.Report) {
			r.Outcome, r.Conflicts = allocation.Taken, []openstack.Conflict{{Message: "192.0.2.10 is another's", Remedy: "choose another"}}
		})},
		{name: "addresses of before", want: Fail, seen: "does not have these", change: report(func(r *allocation.Report) {
			r.Outcome, r.Stale = allocation.Differs, "out/allocation.json does not have these addresses"
		})},
		{name: "left in use", want: Warn, seen: "is in use", change: report(func(r *allocation.Report) {
			r.Outcome, r.Left = allocation.Differs, []openstack.Left{{Message: "port edge-worker-09 is in use"}}
		})},
		{name: "no answer", want: Unknown, seen: "503", change: report(func(r *allocation.Report) { r.Outcome, r.Error = allocation.Unknown, "GET ports: 503" })},
		{name: "refused", want: Fail, seen: "403", change: report(func(r *allocation.Report) { r.Outcome, r.Error = allocation.Failed, "GET ports: 403" })},
	})
}

func TestServicesOnOpenStack(t *testing.T) {
	const tcp = `{"type": "LoadBalancer", "ports": [{"port": 443}]}`
	other := func(address string) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) { addService(t, s, "default", "a", tcp, address) }
	}
	judgeCloud(t, "service-addresses", []planted{
		{name: "as planned", want: Pass},
		{name: "shared", want: Pass, seen: "2 services", change: other("192.0.2.10")},
		{name: "another of the network", want: Fail, seen: "192.0.2.44, which is not of the plan's pool", remedy: "services have 192.0.2.10 alone", change: other("192.0.2.44")},
		{name: "the floating IP", want: Fail, seen: "is the ingress's floating IP", change: other("203.0.113.80")},
		{name: "the API's floating IP", want: Fail, seen: "is the API's floating IP", change: other("203.0.113.81")},
		{name: "the API's address", want: Fail, seen: "the API's VIP", change: other("192.0.2.5")},
	})
	silent := func(port uint16, change func(*Knock)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) {
			k := &s.Knocks.Value[0]
			k.Target, k.Answered, k.Causes = netip.AddrPortFrom(k.Target.Addr(), port), 0, "timeout"
			if change != nil {
				change(k)
			}
		}
	}
	judgeCloud(t, "service-handshake", []planted{
		{name: "as planned", want: Pass, seen: "1 of 1 TCP port answered"},
		{name: "from a node, where the floating IP is another's all the same", want: Pass, change: func(_ *testing.T, s *Snapshot) { s.Here = []netip.Addr{netip.MustParseAddr("192.0.2.13")} }},
		{name: "no answer", want: Fail, seen: "203.0.113.80:443 (ingress/traefik): no answer", remedy: "homeward status -f cluster.yaml --out out", change: silent(443, nil)},
		{name: "a port that is closed", want: Fail, seen: "does not let port 8443 in", remedy: "homeward reserve", change: silent(8443, nil)},
		{name: "a port that is closed, and refused", want: Fail, seen: "no answer", remedy: "homeward status", change: silent(8443, func(k *Knock) { k.Refused = true })},
		{name: "a port for some", edits: []string{"security:\n", "security:\n  https: {office: 198.51.100.0/24}\n"}, want: Unknown, seen: "lets in only some", change: silent(443, nil)},
	})
}

func TestPoolsOnOpenStack(t *testing.T) {
	pools := func(specs ...string) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			s.Pools.Value = nil
			for i, spec := range specs {
				s.Pools.Value = append(s.Pools.Value, poolOf(t, []string{"ingress", "b"}[i], spec))
			}
		}
	}
	const planned = `{"addresses": ["192.0.2.10/32"]}`
	judgeCloud(t, "metallb-pool", []planted{
		{name: "as planned", want: Pass, seen: "the plan has 192.0.2.10"},
		{name: "the floating IP instead", want: Fail, seen: "hands out 192.0.2.10", change: pools(`{"addresses": ["203.0.113.80/32"]}`)},
		{name: "wider", want: Fail, seen: "also hands out 192.0.2.11", change: pools(`{"addresses": ["192.0.2.10-192.0.2.11"]}`)},
	})
	judgeCloud(t, "metallb-pools-other", []planted{
		{name: "none", want: Pass},
		{name: "of the floating IP", want: Fail, seen: "is the ingress's floating IP", remedy: "services have 192.0.2.10 alone", change: pools(planned, `{"addresses": ["203.0.113.80-203.0.113.90"]}`)},
		{name: "of the network", want: Fail, seen: "of the private network", change: pools(planned, `{"addresses": ["192.0.2.200/32"]}`)},
	})
}

func TestDoorsOnOpenStack(t *testing.T) {
	shut := func(_ *testing.T, s *Snapshot) {
		s.Doors[0].Certificate, s.Doors[0].Cause = nil, DoorTimeout
	}
	judgeCloud(t, "api-address", []planted{
		{name: "as planned", want: Pass, seen: "the API's endpoint (203.0.113.81:6443) answers"},
		{name: "let in only some", want: Unknown, seen: "security.kubernetes lets in only some", change: shut},
		{name: "lets nobody in", edits: []string{"security:\n  kubernetes: {office: 198.51.100.0/24}\n", ""}, want: Fail, seen: "lets nobody in", remedy: "homeward reserve", change: shut},
		{name: "another's certificate", want: Fail, remedy: "which port has the floating IP", change: func(_ *testing.T, s *Snapshot) { s.Doors[0].Untrusted = "x509: unknown" }},
	})
	p := planFrom(t, cloudPlan)
	if doors := plannedDoors(p); len(doors) != 1 || doors[0].Address != "203.0.113.81:6443" {
		t.Errorf("the doors are %v, want the floating IP alone", doors)
	}
	s := healthyCloud(t)
	addService(t, s, "default", "other", `{"type": "LoadBalancer", "ports": [{"port": 443}]}`, "192.0.2.44")
	for i, want := range []string{"192.0.2.44:443", "203.0.113.80:443"} {
		if got := s.toKnock(); len(got) != 2 || got[i].Target.String() != want {
			t.Errorf("knocks at %v, want %s", got, want)
		}
	}
}

func TestNodesOnOpenStack(t *testing.T) {
	address := func(a string) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { s.Nodes.Value[w1].Status.Addresses[1].Address = a }
	}
	judgeCloud(t, "node-addresses", []planted{
		{name: "the ingress's", want: Fail, seen: "which is for services", change: address("192.0.2.10")},
		{name: "the API's", want: Fail, seen: "which is the API's VIP", change: address("192.0.2.5")},
		{name: "the floating IP", want: Fail, seen: "outside the private network", change: address("203.0.113.80")},
	})
	judgeCloud(t, "control-planes-excluded", []planted{
		{name: "as planned", want: Pass},
		{name: "not excluded", want: Fail, seen: "may announce", change: func(_ *testing.T, s *Snapshot) { clear(s.Nodes.Value[cp1].Labels) }},
	})
	judgeCloud(t, "kube-proxy", []planted{
		{name: "as planned", want: Pass},
		{name: "Cilium instead, which is no fault there", edits: []string{"v1.36.3}", "v1.36.3, cni: cilium, kube_proxy_replacement: true}"}, want: Pass, seen: "no marks", change: func(_ *testing.T, s *Snapshot) {
			s.Proxy.Value = Proxy{Cilium: &appsv1.DaemonSet{}}
		}},
		{name: "nothing that is known", want: Pass, seen: "no marks", change: func(_ *testing.T, s *Snapshot) { s.Proxy.Value = Proxy{} }},
		{name: "ipvs", want: Fail, seen: "every node answers ARP", change: func(t *testing.T, s *Snapshot) {
			s.Proxy.Value.KubeProxy = decode[*appsv1.DaemonSet](t, `{"spec": {"template": {"spec": {"containers": [{"command": ["kube-proxy", "--proxy-mode=ipvs"]}]}}}}`)
		}},
	})
}

// What a check means there is said of checks that there are.
func TestMeaningOnOpenStack(t *testing.T) {
	for id, m := range meaningOnOpenStack {
		if !slices.ContainsFunc(checks(), func(c check) bool { return c.id == id }) || m.title == "" || m.why == "" {
			t.Errorf("%s: %+v", id, m)
		}
	}
	f := findingOf(t, Check(healthyCloud(t), nil), "service-handshake")
	if f.Title != meaningOnOpenStack["service-handshake"].title {
		t.Errorf("the title is %q", f.Title)
	}
	if s := healthy(t); findingOf(t, Check(s, nil), "service-handshake").Title == f.Title || s.Plan.Provider != netplan.Proxmox {
		t.Error("and so it is on Proxmox")
	}
}
