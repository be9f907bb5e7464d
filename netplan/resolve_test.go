package netplan_test

import (
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestResolveSeedIsTheDocumentedPlan(t *testing.T) {
	got, err := json.MarshalIndent(resolve(t, seed(t)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/seed.json", append(got, '\n'))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", path, diff)
	}
}

func TestPlanSurvivesJSON(t *testing.T) {
	s := seed(t)
	s.External.Pool = ranges(t, "203.0.113.10", "203.0.113.16/30", "203.0.113.75-203.0.113.78")
	s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}}}}
	want := resolve(t, s)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got netplan.Plan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if changes := netplan.Compare(want, &got); len(changes) > 0 {
		t.Errorf("a plan read back differs: %v", changes)
	}
	again, _ := json.Marshal(got)
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Error(diff)
	}
}

func TestResolveKeepsTheAnchorsOfOtherTools(t *testing.T) {
	s := seed(t)
	s.Workers[0].Count = ptr(11)
	p := resolve(t, s)
	for name, want := range map[string]string{
		"edge-controlplane-01": "169.254.38.87",
		"edge-worker-02":       "169.254.47.53",
		"edge-worker-11":       "169.254.47.54", // its choice is worker-02's
	} {
		if got := machine(t, p, name).Anchor.String(); got != want {
			t.Errorf("%s has anchor %s, want %s", name, got, want)
		}
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Message, "edge-worker-11 (169.254.47.53 is edge-worker-02's, it has 169.254.47.54)") {
		t.Errorf("warnings: %v", p.Warnings)
	}
}

func TestResolveGivesNobodyTheGatewaysAddress(t *testing.T) {
	s := seed(t)
	s.External.Gateway, s.External.GatewayOnLink = addr("169.254.36.6"), true
	p := resolve(t, s)
	if got := machine(t, p, "edge-worker-01").Anchor; got != addr("169.254.36.7") {
		t.Errorf("anchor %s, want the next one", got)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Message, "the external gateway's") {
		t.Errorf("warnings %v", p.Warnings)
	}
}

func TestEveryFaultIsFoundBesideTooFewAnchors(t *testing.T) {
	s := seed(t)
	s.External.AnchorCIDR, s.External.VLAN = prefix("169.254.32.0/30"), ptr(4095)
	if _, faults := netplan.Resolve(s); len(faults) != 2 {
		t.Errorf("faults %v, want the VLAN's and the anchors'", faults)
	}
}

func TestParseMACRefusesZero(t *testing.T) {
	if mac, err := netplan.ParseMAC("00:00:00:00:00:00"); err == nil {
		t.Errorf("%s is a NIC's", mac)
	}
}

func TestResolveOrdersMachines(t *testing.T) {
	s := seed(t)
	s.Workers = []netplan.PoolSpec{{Name: "zeta", Count: ptr(1)}, {Name: "alpha", Count: ptr(12)}}
	var got []string
	for _, m := range resolve(t, s).Machines {
		got = append(got, m.Name)
	}
	want := []string{
		"edge-controlplane-01", "edge-controlplane-02", "edge-controlplane-03",
		"edge-alpha-01", "edge-alpha-02", "edge-alpha-03", "edge-alpha-04", "edge-alpha-05", "edge-alpha-06",
		"edge-alpha-07", "edge-alpha-08", "edge-alpha-09", "edge-alpha-10", "edge-alpha-11", "edge-alpha-12",
		"edge-zeta-01",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResolvePoolAsMetalLBTakesIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		cidr  string
		pool  []string
		want  []string
		count int
	}{
		{"as given", "203.0.113.0/25", []string{"203.0.113.16/30", "203.0.113.75-203.0.113.78", "203.0.113.9"},
			[]string{"203.0.113.16/30", "203.0.113.75-203.0.113.78", "203.0.113.9/32"}, 9},
		{"a CIDR that ends in the broadcast address", "203.0.113.0/25", []string{"203.0.113.96/27"},
			[]string{"203.0.113.96-203.0.113.126"}, 31},
		{"spaces around the dash", "203.0.113.0/25", []string{" 203.0.113.75 - 203.0.113.78 "},
			[]string{"203.0.113.75-203.0.113.78"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := seed(t)
			s.External.CIDR, s.External.Pool = prefix(c.cidr), ranges(t, c.pool...)
			p := resolve(t, s)
			var got []string
			for _, r := range p.External.IngressPool {
				got = append(got, r.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if len(p.External.IngressAddresses) != c.count {
				t.Errorf("%d addresses, want %d", len(p.External.IngressAddresses), c.count)
			}
		})
	}
}

func TestResolveDoesNotListALargePool(t *testing.T) {
	s := seed(t)
	s.External.CIDR, s.External.Gateway = prefix("100.64.0.0/16"), addr("100.64.0.1")
	s.External.KubeAPIVIP = addr("100.64.0.2")
	s.External.Pool = ranges(t, "100.64.1.0-100.64.255.254")
	if p := resolve(t, s); p.External.IngressAddresses != nil {
		t.Errorf("%d addresses listed", len(p.External.IngressAddresses))
	}
}

func TestReturnPathPerMachine(t *testing.T) {
	s := seed(t)
	s.Workers = append(s.Workers, netplan.PoolSpec{Name: "batch", Count: ptr(1), NoExternal: true})
	s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", ExternalAddress: addr("203.0.113.61")}}
	p := resolve(t, s)
	for name, want := range map[string]string{
		"edge-controlplane-01": "203.0.113.75-203.0.113.79",
		"edge-worker-01":       "203.0.113.61/32,203.0.113.75-203.0.113.79",
		"edge-batch-01":        "",
	} {
		var got []string
		for _, r := range p.Destinations(machine(t, p, name)) {
			got = append(got, r.String())
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s marks %q, want %q", name, got, want)
		}
	}
	if p.RepliesExternally(machine(t, p, "edge-batch-01")) {
		t.Error("a machine without the external NIC replies by it")
	}
	if p.AnnouncesEverywhere() {
		t.Error("batch has no external NIC, but MetalLB is let loose on it")
	}
	if machine(t, p, "edge-controlplane-01").Announces || !machine(t, p, "edge-worker-02").Announces {
		t.Error("workers announce, control planes do not")
	}
}

func TestResolveWithoutExternalNIC(t *testing.T) {
	s := seed(t)
	s.External, s.Cluster.KubeAPIVIP = nil, addr("10.0.0.240")
	p := resolve(t, s)
	if p.External != nil || p.ReturnPath != nil || p.Machines[0].External || !p.Machines[0].MACs.External.IsZero() {
		t.Errorf("something external is left: %+v", p.Machines[0])
	}
	if p.KubeAPI.Link != netplan.LinkCluster || p.KubeAPI.Endpoint != "https://10.0.0.240:6443" {
		t.Errorf("kubeapi: %+v", p.KubeAPI)
	}
}

func TestKubeAPIEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"api.example.edu":              "https://api.example.edu:6443",
		"api.example.edu:8443":         "https://api.example.edu:8443",
		"https://api.example.edu":      "https://api.example.edu:6443",
		"https://api.example.edu:443/": "https://api.example.edu:443",
		"203.0.113.9":                  "https://203.0.113.9:6443",
	} {
		s := seed(t)
		s.External.KubeAPIVIP, s.KubeAPIEndpoint = netip.Addr{}, text
		p := resolve(t, s)
		if p.KubeAPI.Endpoint != want || p.KubeAPI.VIP.IsValid() || p.KubeAPI.Link != "" {
			t.Errorf("%s gives %+v, want %s", text, p.KubeAPI, want)
		}
	}
	s := seed(t)
	s.KubeAPIEndpoint, s.KubeAPISANs = "api.example.edu", []string{"203.0.113.79", "k8s.example.edu"}
	p := resolve(t, s)
	if diff := cmp.Diff([]string{"203.0.113.79", "api.example.edu", "k8s.example.edu"}, p.KubeAPI.SANs); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*netplan.Spec)
		path string
		text string
	}{
		{"two control planes", func(s *netplan.Spec) { s.ControlPlanes = ptr(2) }, "controlplane.count", "odd number"},
		{"one control plane", func(s *netplan.Spec) { s.ControlPlanes = ptr(1) }, "controlplane.count", "away"},
		{"no worker", func(s *netplan.Spec) { s.Workers = nil }, "workers", "allowSchedulingOnControlPlanes"},
		{"no worker outside", func(s *netplan.Spec) { s.Workers[0].NoExternal = true }, "workers", "nobody announces"},
		{"large frames", func(s *netplan.Spec) { s.External.MTU = ptr(9000) }, "proxmox.network.external.mtu", "9000"},
		{"an old Talos", func(s *netplan.Spec) { s.Talos.Version = "1.13.2" }, "talos.version", "v1.13.5"},
		{"a Talos of the future", func(s *netplan.Spec) { s.Talos.Version = "v1.15.0" }, "talos.version", "v1.14"},
		{"a firewall that lets everyone to Talos", func(s *netplan.Spec) {
			s.Talos.Firewall = true
			s.Security = []netplan.AllowSpec{{Name: "kubernetes", Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}}}}
		}, "talos.firewall", "port 50000 stays open"},
		{"no verification", func(s *netplan.Spec) { s.Proxmox.TLSVerify = "false" }, "proxmox.tls_verify", "not verified"},
		{"a small network", func(s *netplan.Spec) { s.Cluster.CIDR = prefix("10.0.0.0/30") }, "network.cidr", "2 host addresses"},
		{"few pod networks", func(s *netplan.Spec) { s.Kubernetes.PodCIDR = prefix("10.244.0.0/23") }, "kubernetes.pod_cidr", "too few"},
		{"forced", func(s *netplan.Spec) {
			s.Kubernetes.CNI, s.Kubernetes.KubeProxyReplacement, s.ReturnPath.Force = "cilium", true, true
		}, "return_path.force", "bypasses"},
		{"Cilium, which may use IPsec", func(s *netplan.Spec) { s.Kubernetes.CNI = "cilium" }, "return_path.mark", "0xf000, of which 0x2000 is one"},
		{"behind Tailscale's rules", func(s *netplan.Spec) { s.ReturnPath.Priority = ptr(5301) }, "return_path.priority", "asked after Tailscale's (to 5299)"},
		{"one host", func(s *netplan.Spec) {
			for _, n := range []string{"01", "02", "03"} {
				s.Machines = append(s.Machines, netplan.MachineSpec{Name: "edge-worker-" + n, Node: "pve1"})
			}
		}, "machines", "pve1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := seed(t)
			c.edit(&s)
			p := resolve(t, s)
			if len(p.Warnings) != 1 || p.Warnings[0].Path != c.path || !strings.Contains(p.Warnings[0].Message, c.text) {
				t.Errorf("warnings %+v, want one at %s with %q", p.Warnings, c.path, c.text)
			}
		})
	}
	if p := resolve(t, seed(t)); len(p.Warnings) > 0 {
		t.Errorf("the seed warns: %v", p.Warnings)
	}
}
