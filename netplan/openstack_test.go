package netplan_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// cloudSeed is the OpenStack cluster of the load-balancing page: what Neutron chooses
// is left to it.
func cloudSeed() netplan.Spec {
	return netplan.Spec{
		Name:          "edge",
		Talos:         netplan.TalosSpec{Version: "v1.13.9"},
		Kubernetes:    netplan.KubernetesSpec{Version: "v1.36.3"},
		ControlPlanes: ptr(3),
		Workers:       []netplan.PoolSpec{{Name: "worker", Count: ptr(3)}},
		DNS:           []netip.Addr{addr("198.51.100.53")},
		OpenStack:     &netplan.OpenStackSpec{URL: "https://openstack.example.edu:5000/v3", ExternalNet: "public"},
		Cluster:       netplan.LinkSpec{CIDR: prefix("192.0.2.0/24")},
		Security: []netplan.AllowSpec{
			{Name: "kubernetes", Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}}},
			{Name: "talos", Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}}},
		},
	}
}

func TestCloudPlanIsTheDocumentedOne(t *testing.T) {
	got, err := json.MarshalIndent(resolve(t, cloudSeed()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/openstack.json", append(got, '\n'))
}

func TestCloudPlanSurvivesJSON(t *testing.T) {
	s := cloudSeed()
	s.OpenStack.KubeAPIAddress, s.OpenStack.IngressFloatingIP = addr("192.0.2.5"), addr("203.0.113.80")
	s.Machines = []netplan.MachineSpec{{Name: "edge-worker-02", Address: addr("192.0.2.62"), ClusterMAC: netplan.MAC{0xfa, 0x16, 0x3e, 0, 0, 1}}}
	want, err := resolve(t, s).Allocated(allocation())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got netplan.Plan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(got)
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Error(diff)
	}
	if changes := netplan.Compare(want, &got); len(changes) > 0 {
		t.Errorf("a plan read back differs: %v", changes)
	}
}

func TestCloudMachines(t *testing.T) {
	s := cloudSeed()
	s.Machines = []netplan.MachineSpec{{Name: "edge-worker-02", Address: addr("192.0.2.62")}}
	p := resolve(t, s)
	for _, m := range p.Machines {
		if m.External || m.Anchor.IsValid() || !m.MACs.External.IsZero() {
			t.Errorf("%s has a second NIC", m.Name)
		}
		if want := m.Role == netplan.RoleWorker; m.Announces != want {
			t.Errorf("%s announces: %t", m.Name, m.Announces)
		}
		if p.Static(m) || p.MarksConnections(m) || p.RepliesExternally(m) || p.HoldsExternalVIP(m) {
			t.Errorf("%s is taken for a machine with two NICs", m.Name)
		}
	}
	// The same MACs as on any other provider, so that Talos finds its link by them.
	if got := p.Machines[0].MACs.Cluster.String(); got != "02:48:71:02:90:ea" {
		t.Errorf("MAC is %s", got)
	}
	if got := p.Cluster.Gateway; got != addr("192.0.2.1") {
		t.Errorf("gateway is %s", got)
	}
	if p.KubeAPIPort() != "edge-kubeapi" || p.IngressPort() != "edge-ingress" {
		t.Errorf("the reserved ports are %s and %s", p.KubeAPIPort(), p.IngressPort())
	}
	if !p.AnnouncesEverywhere() {
		t.Error("an L2Advertisement would name nodes")
	}
	t.Run("control planes alone", func(t *testing.T) {
		s := cloudSeed()
		s.Workers = nil
		p := resolve(t, s)
		if !p.Machines[0].Announces || len(p.Warnings) != 1 || p.Warnings[0].Path != "workers" {
			t.Errorf("announces: %t, warnings %v", p.Machines[0].Announces, p.Warnings)
		}
	})
	t.Run("without allowlists nobody gets in", func(t *testing.T) {
		s := cloudSeed()
		s.Security = nil
		var got []string
		for _, w := range resolve(t, s).Warnings {
			got = append(got, w.Message)
		}
		if len(got) != 2 || !strings.Contains(got[0], "6443") || !strings.Contains(got[1], "50000") {
			t.Errorf("warnings %q", got)
		}
	})
}

// Resolving must leave the caller's spec as it is, also where it takes things out.
func TestCloudResolveLeavesTheSpec(t *testing.T) {
	s := cloudSeed()
	s.Workers[0].NoExternal = true
	s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", VMID: ptr(201)}}
	netplan.Resolve(s)
	if !s.Workers[0].NoExternal || s.Machines[0].VMID == nil {
		t.Error("the spec was changed")
	}
}

func TestCloudRefuses(t *testing.T) {
	type S = netplan.Spec
	for _, c := range []struct {
		name  string
		edit  func(*S)
		path  string
		other string
		text  string
	}{
		{"no external network", func(s *S) { s.OpenStack.ExternalNet = "" }, "openstack.external_net", "", "like public"},
		{"not a URL", func(s *S) { s.OpenStack.URL = "openstack" }, "openstack.url", "", "like https://"},
		{"another scheme", func(s *S) { s.OpenStack.URL = "ftp://openstack.example.edu" }, "openstack.url", "", "neither https nor http"},
		{"a query", func(s *S) { s.OpenStack.URL += "?x=1" }, "openstack.url", "", "query"},
		{"both providers", func(s *S) { s.Proxmox = &netplan.ProxmoxSpec{} }, "openstack", "proxmox", "one provider"},
		{"host bits", func(s *S) { s.Cluster.CIDR = prefix("192.0.2.9/24") }, "network.cidr", "", "192.0.2.0/24"},
		{"no network", func(s *S) { s.Cluster.CIDR = netip.Prefix{} }, "network.cidr", "", "missing"},
		{"overlap", func(s *S) { s.Cluster.CIDR, s.DNS = prefix("10.244.0.0/24"), nil }, "network.cidr", "kubernetes.pod_cidr", "overlaps"},
		{"too small", func(s *S) { s.Cluster.CIDR = prefix("192.0.2.0/29") }, "network.cidr", "", "6 host addresses, and 6 machines, the router and the two reserved ports need 9"},
		{"a /31", func(s *S) { s.Cluster.CIDR = prefix("192.0.2.0/31") }, "network.cidr", "", "2 host addresses"},
		{"the API outside", func(s *S) { s.OpenStack.KubeAPIAddress = addr("192.0.3.5") }, "openstack.kubeapi_address", "network.cidr", "192.0.2.2-192.0.2.254"},
		{"the API at the router", func(s *S) { s.OpenStack.KubeAPIAddress = addr("192.0.2.1") }, "openstack.kubeapi_address", "network.cidr", "the router's"},
		{"the ingress at the broadcast address", func(s *S) { s.OpenStack.IngressAddress = addr("192.0.2.255") }, "openstack.ingress_address", "network.cidr", "no host's address"},
		{"one fixed address twice", func(s *S) {
			s.OpenStack.IngressAddress, s.OpenStack.KubeAPIAddress = addr("192.0.2.5"), addr("192.0.2.5")
		},
			"openstack.ingress_address", "openstack.kubeapi_address", "also the API's"},
		{"one floating IP twice", func(s *S) {
			s.OpenStack.IngressFloatingIP, s.OpenStack.KubeAPIFloatingIP = addr("203.0.113.80"), addr("203.0.113.80")
		}, "openstack.ingress_floating_ip", "openstack.kubeapi_floating_ip", "leads to one port"},
		{"a floating IP inside", func(s *S) { s.OpenStack.IngressFloatingIP = addr("192.0.2.80") }, "openstack.ingress_floating_ip", "network.cidr", "external_net"},
		{"a floating IP among pods", func(s *S) { s.OpenStack.KubeAPIFloatingIP = addr("10.244.0.9") }, "openstack.kubeapi_floating_ip", "kubernetes.pod_cidr", "external_net"},
		{"a floating IP of no host", func(s *S) { s.OpenStack.KubeAPIFloatingIP = addr("127.0.0.1") }, "openstack.kubeapi_floating_ip", "", "external_net"},
		{"a resolver's address", func(s *S) { s.DNS = []netip.Addr{addr("192.0.2.53")}; s.OpenStack.IngressAddress = addr("192.0.2.53") },
			"openstack.ingress_address", "network.dns", "resolver"},
		{"a machine at the API's", func(s *S) {
			s.OpenStack.KubeAPIAddress = addr("192.0.2.5")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("192.0.2.5")}}
		}, "machines.edge-worker-01.address", "openstack.kubeapi_address", "also the API's"},
		{"a machine at the ingress's", func(s *S) {
			s.OpenStack.IngressAddress = addr("192.0.2.10")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("192.0.2.10")}}
		}, "machines.edge-worker-01.address", "openstack.ingress_address", "also the ingress's"},
		{"two machines, one address", func(s *S) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("192.0.2.61")}, {Name: "edge-worker-02", Address: addr("192.0.2.61")}}
		}, "machines.edge-worker-02.address", "machines.edge-worker-01.address", "192.0.2.61"},
		{"a multicast MAC", func(s *S) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", ClusterMAC: netplan.MAC{1, 0, 0x5e, 0, 0, 1}}}
		}, "machines.edge-worker-01.macs.cluster", "", "multicast"},
		{"the endpoint is the ingress", func(s *S) {
			s.OpenStack.IngressFloatingIP, s.KubeAPIEndpoint = addr("203.0.113.80"), "203.0.113.80"
		}, "kubeapi_endpoint", "openstack.ingress_floating_ip", "the ingress's"},
		{"a VLAN", func(s *S) { s.Cluster.VLAN = ptr(7) }, "proxmox.network.cluster.vlan", "", "no meaning on OpenStack"},
		{"an external link", func(s *S) { s.External = &netplan.ExternalSpec{} }, "network.external", "", "no meaning on OpenStack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cloudSeed()
			c.edit(&s)
			p, faults := netplan.Resolve(s)
			if p != nil || len(faults) != 1 {
				t.Fatalf("plan %t, faults %v", p != nil, faults)
			}
			f := faults[0]
			if f.Path != c.path || f.Other != c.other || !strings.Contains(f.Message, c.text) {
				t.Errorf("got %v", f)
			}
		})
	}
}
