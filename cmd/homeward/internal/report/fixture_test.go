package report_test

import (
	"net/netip"
	"strings"
	"testing"

	"homeward/agent/ledger/inventory"
	"homeward/cmd/homeward/internal/report"
	"homeward/netplan/load"
)

// basePlan is three control planes and three workers on three hosts.
const basePlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 3}
workers:
  worker: {count: 3}
machines:
  edge-controlplane-01: {node: pve1}
  edge-controlplane-02: {node: pve2}
  edge-controlplane-03: {node: pve3}
  edge-worker-01: {node: pve1}
  edge-worker-02: {node: pve2}
  edge-worker-03: {node: pve3}
network:
  cidr: 10.0.0.0/24
  dns: [10.0.0.1]
agent: {image: registry.example.edu/homeward-agent:v1}
ingress: {external_traffic_policy: Cluster}
proxmox:
  url: https://pve.example.edu:8006
  network:
    cluster: {bridge: vmbr1}
    external:
      bridge: vmbr0
      vlan: 1691
      cidr: 203.0.113.0/25
      gateway: 203.0.113.1
      anchor_cidr: 169.254.32.0/20
      kubeapi_vip: 203.0.113.79
      ingress_pool: 203.0.113.75-203.0.113.78
`

// factsOf loads the base plan, edited: old and new texts in pairs; every place of an
// old text changes, and one that is missing fails the test.
func factsOf(t testing.TB, edits ...string) report.Facts {
	t.Helper()
	text := basePlan
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the plan has no %q", edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	result, err := load.Bytes("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	none := report.Source{State: report.SourceNotRead}
	return report.Facts{Spec: result.Spec, Plan: result.Plan, Proxmox: none, Kubernetes: none}
}

// noHosts takes the hosts out of the plan.
var noHosts = []string{
	"edge-controlplane-01: {node: pve1}", "edge-controlplane-01: {}", "edge-controlplane-02: {node: pve2}", "edge-controlplane-02: {}",
	"edge-controlplane-03: {node: pve3}", "edge-controlplane-03: {}", "edge-worker-01: {node: pve1}", "edge-worker-01: {}",
	"edge-worker-02: {node: pve2}", "edge-worker-02: {}", "edge-worker-03: {node: pve3}", "edge-worker-03: {}",
}

// withGuests adds what Proxmox says: each machine runs where the function has it, on
// one of the hosts.
func withGuests(f report.Facts, at func(machine string) string, hosts ...string) report.Facts {
	s := &inventory.Snapshot{}
	for _, h := range hosts {
		s.Nodes = append(s.Nodes, inventory.Node{Name: h, Online: true, Interfaces: []inventory.Interface{
			{Name: "vmbr0", Type: "bridge", VLANAware: true, Ports: []string{"eno1"}, Active: true},
		}})
	}
	for i, m := range f.Plan.Machines {
		s.Guests = append(s.Guests, inventory.Guest{Kind: inventory.QEMU, VMID: 200 + i, Name: m.Name, Node: at(m.Name), Running: true, Config: map[string]string{
			"net0": "virtio=" + m.MACs.Cluster.String() + ",bridge=vmbr1",
			"net1": "virtio=" + m.MACs.External.String() + ",bridge=vmbr0,tag=1691",
		}})
	}
	f.Snapshot, f.Proxmox = s, report.Source{State: report.SourceRead}
	return f
}

// withCluster adds what Kubernetes says: all machines are ready, and one service has
// the first address.
func withCluster(f report.Facts, s report.Service) report.Facts {
	c := &report.Cluster{Speakers: []string{}, Controller: report.Workload{Found: true, Declared: 1, Ready: 1, Namespace: "metallb-system", Object: "controller"}}
	for _, m := range f.Plan.Machines {
		c.Nodes = append(c.Nodes, report.Node{Name: m.Name, Ready: true})
		c.Speakers = append(c.Speakers, m.Name)
		c.ReturnPath = append(c.ReturnPath, m.Name)
	}
	s.Namespace, s.Name, s.Addresses = "web", "traefik", []netip.Addr{netip.MustParseAddr("203.0.113.75")}
	c.Services = []report.Service{s}
	f.Cluster, f.Kubernetes = c, report.Source{State: report.SourceRead}
	return f
}

// failure gives the first of a kind.
func failure(t testing.TB, r report.Report, kind report.Kind) report.Failure {
	t.Helper()
	for _, f := range r.Failures {
		if f.Kind == kind {
			return f
		}
	}
	t.Fatalf("no failure %s", kind)
	return report.Failure{}
}

func hostNamed(t testing.TB, r report.Report, name string) report.Host {
	t.Helper()
	for _, h := range r.Hosts {
		if h.Name == name {
			return h
		}
	}
	t.Fatalf("no host %s", name)
	return report.Host{}
}

func answer(t testing.TB, r report.Report, q report.Question) report.Answer {
	t.Helper()
	for _, a := range r.Answers {
		if a.Question == q {
			return a
		}
	}
	t.Fatalf("no answer to %s", q)
	return report.Answer{}
}
