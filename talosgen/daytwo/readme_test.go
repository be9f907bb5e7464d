package daytwo_test

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
	"homeward/talosgen/daytwo"
)

var update = flag.Bool("update", false, "write the golden files anew")

// seedSpec has three control planes and three workers, pool and VIP external.
func seedSpec(t *testing.T) netplan.Spec {
	t.Helper()
	pool, err := netplan.ParseRange("203.0.113.75-203.0.113.78")
	if err != nil {
		t.Fatal(err)
	}
	return netplan.Spec{
		Name:          "edge",
		Talos:         netplan.TalosSpec{Version: "v1.13.9"},
		Kubernetes:    netplan.KubernetesSpec{Version: "v1.36.3"},
		ControlPlanes: new(3),
		Workers:       []netplan.PoolSpec{{Name: "worker", Count: new(3)}},
		DNS:           []netip.Addr{netip.MustParseAddr("10.0.0.1")},
		Proxmox:       &netplan.ProxmoxSpec{URL: "https://pve.example.edu:8006"},
		Cluster:       netplan.LinkSpec{Bridge: "vmbr1", CIDR: netip.MustParsePrefix("10.0.0.0/24")},
		External: &netplan.ExternalSpec{
			LinkSpec: netplan.LinkSpec{Bridge: "vmbr0", VLAN: new(1691), CIDR: netip.MustParsePrefix("203.0.113.0/25"),
				Gateway: netip.MustParseAddr("203.0.113.1"), KubeAPIVIP: netip.MustParseAddr("203.0.113.79")},
			AnchorCIDR: netip.MustParsePrefix("169.254.32.0/20"),
			Pool:       netplan.AddressSet{pool},
		},
	}
}

// plans are the shapes whose README differs.
func plans(t *testing.T) map[string]*netplan.Plan {
	t.Helper()
	out := map[string]*netplan.Plan{}
	add := func(name string, change func(*netplan.Spec)) {
		spec := seedSpec(t)
		change(&spec)
		plan, faults := netplan.Resolve(spec)
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		out[name] = plan
	}
	add("seed", func(*netplan.Spec) {})
	add("agent-mixed-calico", func(s *netplan.Spec) {
		s.Agent.Image = "registry.example.edu/homeward-agent:v1"
		s.Workers = append(s.Workers, netplan.PoolSpec{Name: "batch", Count: new(2), NoExternal: true})
		s.Kubernetes.CNI = "calico"
		s.Kubernetes.PodCIDR = netip.MustParsePrefix("10.42.0.0/16")
		s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", VMID: new(201), Node: "pve1",
			Address: netip.MustParseAddr("10.0.0.61")}}
		s.Cluster.Gateway = netip.MustParseAddr("10.0.0.1")
	})
	add("no-pool-private-vip", func(s *netplan.Spec) {
		s.External.Pool = nil
		s.External.KubeAPIVIP = netip.Addr{}
		s.Cluster.KubeAPIVIP = netip.MustParseAddr("10.0.0.240")
	})
	add("vip-without-pool", func(s *netplan.Spec) { s.External.Pool = nil })
	add("no-external-endpoint", func(s *netplan.Spec) {
		s.External = nil
		s.KubeAPIEndpoint = "api.example.edu"
	})
	add("many", func(s *netplan.Spec) { s.Workers[0].Count = new(120) })
	add("control-planes-only", func(s *netplan.Spec) { s.Workers = nil })
	add("openstack", toOpenStack)
	add("openstack-alone", func(s *netplan.Spec) {
		toOpenStack(s)
		s.ControlPlanes, s.Workers = new(1), nil
		s.KubeAPIEndpoint, s.Kubernetes.CNI = "api.example.edu", "cilium"
		s.Machines = []netplan.MachineSpec{{Name: "edge-controlplane-01", Address: netip.MustParseAddr("10.0.0.61")}}
	})
	return out
}

// toOpenStack moves the cluster there, with all four addresses chosen.
func toOpenStack(s *netplan.Spec) {
	s.Proxmox, s.External, s.Cluster, s.DNS = nil, nil, netplan.LinkSpec{CIDR: s.Cluster.CIDR}, nil
	s.OpenStack = &netplan.OpenStackSpec{
		ExternalNet:    "public",
		KubeAPIAddress: netip.MustParseAddr("10.0.0.5"), KubeAPIFloatingIP: netip.MustParseAddr("203.0.113.81"),
		IngressAddress: netip.MustParseAddr("10.0.0.10"), IngressFloatingIP: netip.MustParseAddr("203.0.113.80"),
	}
}

func TestGoldens(t *testing.T) {
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			got, err := daytwo.README(p)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".md")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", file, diff)
			}
		})
	}
}

var (
	gaps   = regexp.MustCompile(`\n\n\n`)
	blocks = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
)

func TestTextIsWhole(t *testing.T) {
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			got, err := daytwo.README(p)
			if err != nil {
				t.Fatal(err)
			}
			text := string(got)
			for _, wrong := range []string{"<no value>", "invalid IP", "invalid Prefix", "%!", "{{", "00:00:00:00:00:00", "\r", " \n"} {
				if strings.Contains(text, wrong) {
					t.Errorf("holds %q", wrong)
				}
			}
			if gaps.MatchString(text) {
				t.Errorf("two blank lines in a row at %q", text[gaps.FindStringIndex(text)[0]-40:][:80])
			}
			found := blocks.FindAllStringSubmatch(text, -1)
			if len(found) < 4 || strings.Count(text, "```") != 2*len(found) {
				t.Fatalf("%d shell blocks of %d fences", len(found), strings.Count(text, "```"))
			}
			for _, block := range found {
				cmd := exec.Command("sh", "-n")
				cmd.Stdin = strings.NewReader(block[1])
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("not shell: %v: %s\n%s", err, out, block[1])
				}
			}
		})
	}
}

// before fails when one of the texts is missing or they are in another order.
func before(t *testing.T, text string, parts ...string) {
	t.Helper()
	at := 0
	for _, part := range parts {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Errorf("no %q behind %q", part, parts[0])
			return
		}
		at += i + len(part)
	}
}

func TestOrderOfWork(t *testing.T) {
	got, err := daytwo.README(plans(t)["agent-mixed-calico"])
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	before(t, text, "talosctl gen config edge https://203.0.113.79:6443", "--talos-version v1.13.9", "--kubernetes-version 1.36.3",
		`--config-patch '{"cluster":{"network":{"cni":{"name":"none"},"podSubnets":["10.42.0.0/16"]}}}'`)
	before(t, text, "talosctl machineconfig patch ../base/controlplane.yaml --patch @talos/$host.yaml -o")
	before(t, text, "Never `talosctl patch mc`")
	before(t, text, "### Growing the pool", "Apply to **all** nodes", "kubectl apply -f kubernetes/metallb.yaml")
	before(t, text, "### Shrinking the pool", "kubectl apply -f kubernetes/metallb.yaml", "apply to the nodes")
	before(t, text, "### Taking over", "ip taloscluster_return_path", "routing table 100")
	before(t, text, "### Leaving Homeward", "delete l2advertisement", "cleanup-pod.yaml", "homeward release -f ../cluster.yaml")
	before(t, text, "now `registry.example.edu/homeward-agent:v1`", "imagePullSecrets", "machine.registries")
	before(t, text, "## Limits", "behind the external router", "20 seconds")
}

// Claims are made before an address is used and given back when nothing uses it.
func TestClaimsLastAsLongAsTheirUse(t *testing.T) {
	const own, moving = "homeward reserve -f ../cluster.yaml", "homeward reserve -f ../moving.yaml --guests\n"
	text := func(name string) string {
		got, err := daytwo.README(plans(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for _, name := range []string{"seed", "vip-without-pool"} {
		before(t, text(name), "### Moving the API's VIP", moving, "Until step 8 run no `"+own, "3. Set `kubeapi_vip`",
			"5. Apply to the control planes", "7. Take the old address out", "8. Now", own+" --guests", "Delete `../moving.yaml`")
		before(t, text(name), "### Adding a machine", "nics.sh", own+" --guests", "talosctl apply-config --insecure")
		before(t, text(name), "### Leaving Homeward", "cleanup-pod.yaml", "homeward release -f ../cluster.yaml", "## Limits")
	}
	before(t, text("seed"), "### Growing the pool", own+" --guests --probe", "homeward-agent host --plan plan.json --check", "Apply to **all** nodes")
	before(t, text("seed"), "### Shrinking the pool", "apply to the nodes", own+" --guests")
	before(t, text("no-pool-private-vip"), "### Moving the API's VIP", "2. Set `kubeapi_vip`", "4. Apply to the control planes", "6. Take the old address out")
	for _, name := range []string{"no-pool-private-vip", "no-external-endpoint"} {
		for _, wrong := range []string{"moving.yaml", "homeward release"} {
			if strings.Contains(text(name), wrong) {
				t.Errorf("%s has nothing to reserve, and yet: %s", name, wrong)
			}
		}
	}
}

// A file that the README names must be one that the plan gives.
func TestOnlyFilesOfThisPlan(t *testing.T) {
	for name, p := range plans(t) {
		got, err := daytwo.README(p)
		if err != nil {
			t.Fatal(err)
		}
		cloud := p.OpenStack != nil
		for file, want := range map[string]bool{
			"kubernetes/metallb.yaml":       len(p.ServicePool()) > 0,
			"kubernetes/cleanup-pod.yaml":   p.ReturnPath != nil,
			"base/worker.yaml":              p.HasWorkers(),
			"## Limits":                     p.External != nil || cloud,
			"### Moving the API's VIP":      p.KubeAPI.VIP.IsValid() && !cloud,
			"proxmox/":                      !cloud,
			"openstack/network.tfvars.json": cloud,
			"anchor":                        !cloud,
			"--guests":                      !cloud && (len(p.ServicePool()) > 0 || p.KubeAPI.Link == netplan.LinkExternal || p.External != nil),
		} {
			if strings.Contains(string(got), file) != want {
				t.Errorf("%s: %s is named: %t, want %t", name, file, !want, want)
			}
		}
	}
}

func TestOrderOfWorkOnOpenStack(t *testing.T) {
	got, err := daytwo.README(plans(t)["openstack"])
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	before(t, text, "homeward reserve -f ../cluster.yaml --out . --dry-run", "talosctl gen config edge https://203.0.113.81:6443",
		"--base ../base/controlplane.yaml,../base/worker.yaml", "openstack server create", "--port $host --user-data machines/$host.yaml $host", "talosctl bootstrap",
		"kubectl apply -f kubernetes/metallb.yaml -f kubernetes/traefik.yaml")
	before(t, text, "### Adding a machine", "reserve", "make its server", "### Removing a machine", "openstack server delete HOST", "homeward reserve")
	before(t, text, "### Leaving", "Delete the servers first", "homeward release -f ../cluster.yaml")
	before(t, text, "nc -vz 203.0.113.80 443")
}

func TestNoREADMEWithoutAddresses(t *testing.T) {
	p := plans(t)["openstack"]
	p.Ingress.Fixed = netip.Addr{}
	if got, err := daytwo.README(p); !errors.Is(err, netplan.ErrUnallocated) || got != nil {
		t.Errorf("got %v\n%s", err, got)
	}
}
