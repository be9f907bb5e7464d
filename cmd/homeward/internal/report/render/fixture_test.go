package render

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/cmd/homeward/internal/report"
	"homeward/netplan/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// plan writes a cluster.yaml: its head, its machines, and the one network.
func plan(head, machines string) string {
	return `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
` + head + `
machines: {` + machines + `}
network: {cidr: 10.0.0.0/24, dns: [10.0.0.1]}
proxmox:
  url: https://pve.example.edu:8006
  network:
    cluster: {bridge: vmbr1}
    external: {bridge: vmbr0, vlan: 1691, cidr: 203.0.113.0/25, gateway: 203.0.113.1, anchor_cidr: 169.254.32.0/20, kubeapi_vip: 203.0.113.79, ingress_pool: 203.0.113.75-203.0.113.78}
`
}

func factsOf(t testing.TB, text string) report.Facts {
	t.Helper()
	result, err := load.Bytes("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	none := report.Source{State: report.SourceNotRead}
	return report.Facts{Spec: result.Spec, Plan: result.Plan, Proxmox: none, Kubernetes: none}
}

const three = "controlplane: {count: 3}\nworkers: {worker: {count: 3}}"

// good is spread over three hosts, read from Proxmox and Kubernetes, and measured.
func good(t testing.TB) report.Report {
	f := factsOf(t, plan(three+"\nagent: {image: registry.example.edu/homeward-agent:v1}", ""))
	f.Snapshot, f.Proxmox = &inventory.Snapshot{}, report.Source{State: report.SourceRead}
	c := &report.Cluster{Controller: report.Workload{Found: true, Declared: 1, Ready: 1, Namespace: "metallb-system", Object: "controller"}}
	for i, m := range f.Plan.Machines {
		host := []string{"pve1", "pve2", "pve3"}[i%3]
		f.Snapshot.Guests = append(f.Snapshot.Guests, inventory.Guest{Kind: inventory.QEMU, VMID: 200 + i, Name: m.Name, Node: host, Running: true,
			Config: map[string]string{"net0": "virtio=" + m.MACs.Cluster.String() + ",bridge=vmbr1", "net1": "virtio=" + m.MACs.External.String() + ",bridge=vmbr0,tag=1691"}})
		c.Nodes = append(c.Nodes, report.Node{Name: m.Name, Ready: true})
		c.Speakers, c.ReturnPath = append(c.Speakers, m.Name), append(c.ReturnPath, m.Name)
	}
	for _, host := range []string{"pve1", "pve2", "pve3"} {
		f.Snapshot.Nodes = append(f.Snapshot.Nodes, inventory.Node{Name: host, Online: true, Interfaces: []inventory.Interface{
			{Name: "vmbr0", Type: "bridge", VLANAware: true, Ports: []string{"bond0"}, Active: true}}})
	}
	c.Services = []report.Service{{Namespace: "web", Name: "traefik", Addresses: []netip.Addr{netip.MustParseAddr("203.0.113.75")},
		Endpoints: map[string]int{"edge-worker-01": 1, "edge-worker-02": 1}, Announcers: []string{"edge-worker-01"}}}
	f.Cluster, f.Kubernetes = c, report.Source{State: report.SourceRead}
	start := time.Date(2026, 11, 30, 18, 7, 43, 0, time.UTC)
	f.Measured = []report.Measurement{{File: "drill.json", Target: "203.0.113.75:443", Address: "203.0.113.75:443", Of: "an address of the pool",
		Start: start, Length: 2 * time.Minute, Interval: 100 * time.Millisecond, Attempts: 1200, Answered: 1138, Failed: 62, Outages: 1,
		Longest: 6200 * time.Millisecond, Total: 6200 * time.Millisecond, P99: 4 * time.Millisecond, TakeOvers: []report.TakeOver{}}}
	return report.Make(f)
}

// oneHost has everything on one host, by the plan alone.
func oneHost(t testing.TB) report.Report {
	var machines []string
	for _, n := range []string{"controlplane-01", "controlplane-02", "controlplane-03", "worker-01", "worker-02", "worker-03"} {
		machines = append(machines, "edge-"+n+": {node: pve1}")
	}
	return report.Make(factsOf(t, plan(three, strings.Join(machines, ", "))))
}

// minimal is one machine, with neither pool nor VIP nor host.
func minimal(t testing.TB) report.Report {
	return report.Make(factsOf(t, `name: edge
talos: {version: v1.13.9}
controlplane: {count: 1}
machines: {edge-controlplane-01: {address: 10.0.0.11}}
kubeapi_endpoint: 10.0.0.11
network: {cidr: 10.0.0.0/24, dns: [10.0.0.1]}
proxmox: {url: "https://pve.example.edu:8006", network: {cluster: {bridge: vmbr1, gateway: 10.0.0.1}}}
`))
}

// crowded is what a page has to bear: many hosts, long and hostile names, machines
// whose host is not known.
func crowded(t testing.TB) report.Report {
	r := report.Make(factsOf(t, plan("controlplane: {count: 5}\nworkers: {worker: {count: 40}, a-pool-with-quite-a-long-name-for-which-there-is-a-why: {count: 2, external: false}}",
		"edge-controlplane-01: {node: pve1}, edge-controlplane-02: {node: a-proxmox-host-with-a-name-as-long-as-one-can-be-in-a-cluster}, edge-worker-01: {node: pve1}")))
	r.Hosts[0].Name, r.SinglePoints[0].Name = hostile, hostile
	r.Hosts[0].Machines[0].Name = hostile
	r.Hosts[0].Machines[0].Addresses = []string{"no address" + hostile}
	r.Announcements[0].Services = []string{hostile}
	r.Measured = []report.Measurement{{Target: hostile, File: hostile, OnLink: true, TakeOvers: []report.TakeOver{{From: hostile, To: hostile}}}}
	r.Sources.Proxmox = report.Source{State: report.SourcePartial, Detail: []string{hostile}}
	r.Unknown = append(r.Unknown, hostile)
	return r
}

// hostile is a name that nobody should be able to do anything with.
const hostile = "</text></svg><script>document.title='owned'</script><img src=x onerror=alert(1)>|`*_[a](http://evil.example)\"'&\x1b[31m\u202e\n# owned"

// clusters are the reports of the goldens.
var clusters = map[string]func(testing.TB) report.Report{"good": good, "one-host": oneHost, "minimal": minimal}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", path, diff)
	}
}
