package netplan_test

import (
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"
)

func TestCompareSaysWhoIsTouchedAndInWhichOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		edit    func(*netplan.Spec)
		machine string
		field   string
		text    string
	}{
		{"pool grows", func(s *netplan.Spec) { s.External.Pool = ranges(t, "203.0.113.70-203.0.113.78") }, "", "external.ingress_pool", "nodes first, then kubernetes/metallb.yaml"},
		{"pool shrinks", func(s *netplan.Spec) { s.External.Pool = ranges(t, "203.0.113.75-203.0.113.76") }, "", "external.ingress_pool", "kubernetes/metallb.yaml first"},
		{"pool moves", func(s *netplan.Spec) { s.External.Pool = ranges(t, "203.0.113.70-203.0.113.75") }, "", "external.ingress_pool", "in two steps"},
		{"pool written anew", func(s *netplan.Spec) {
			s.External.Pool = ranges(t, "203.0.113.75-203.0.113.76", "203.0.113.77/32", "203.0.113.78")
		}, "", "external.ingress_pool", "the same addresses"},
		{"VIP moves", func(s *netplan.Spec) { s.External.KubeAPIVIP = addr("203.0.113.90") }, "", "kubeapi.vip", "kubeapi_sans"},
		{"machine added", func(s *netplan.Spec) { s.Workers[0].Count = ptr(4) }, "edge-worker-04", "machine", "new"},
		{"machine gone", func(s *netplan.Spec) { s.Workers[0].Count = ptr(2) }, "edge-worker-03", "machine", "drain"},
		{"NIC changed", func(s *netplan.Spec) {
			mac, _ := netplan.ParseMAC("bc:24:11:00:00:01")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", ExternalMAC: mac}}
		}, "edge-worker-01", "macs.external", "off that network"},
		{"anchor moved", func(s *netplan.Spec) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Anchor: addr("169.254.33.9")}}
		}, "edge-worker-01", "anchor", "keeps it"},
		{"mark changed", func(s *netplan.Spec) {
			s.ReturnPath.Mark, s.ReturnPath.Mask = ptr(netplan.Mark(0x1000)), ptr(netplan.Mask(0x1000))
		}, "", "return_path.mark", "routing rules"},
		{"agent instead of nft", func(s *netplan.Spec) { s.Agent.Image = "registry.example.edu/homeward-agent:v1" }, "", "return_path.pod", "no reply is lost"},
		{"external link gone", func(s *netplan.Spec) { s.External = nil; s.Cluster.KubeAPIVIP = addr("10.0.0.240") }, "", "external", "MetalLB's objects first"},
		{"anchors of another network", func(s *netplan.Spec) { s.External.AnchorCIDR = prefix("169.254.64.0/20") }, "edge-worker-01", "anchor", "when the config is applied"},
		{"an external NIC more", func(s *netplan.Spec) { s.Workers[0].NoExternal = true }, "edge-worker-01", "external", "second NIC"},
		{"firewall on", func(s *netplan.Spec) { s.Talos.Firewall = true }, "", "talos.firewall", "blocks everything"},
		{"static address", func(s *netplan.Spec) {
			s.Cluster.Gateway = addr("10.0.0.1")
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("10.0.0.61")}}
		}, "edge-worker-01", "address", "one machine at a time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := resolve(t, seed(t))
			s := seed(t)
			c.edit(&s)
			changes := netplan.Compare(old, resolve(t, s))
			for _, change := range changes {
				if change.Machine == c.machine && change.Field == c.field && strings.Contains(change.Effect, c.text) {
					return
				}
			}
			t.Errorf("no change of %s %s with %q in %+v", c.machine, c.field, c.text, changes)
		})
	}
}

func TestCompareOfEqualPlansIsEmpty(t *testing.T) {
	s := seed(t)
	s.Security = []netplan.AllowSpec{{Name: "talos", Hosts: map[string][]netip.Prefix{"b": {prefix("10.9.0.0/24")}, "a": {prefix("10.8.0.0/24")}}}}
	if changes := netplan.Compare(resolve(t, s), resolve(t, s)); len(changes) > 0 {
		t.Errorf("changes from a plan to itself: %v", changes)
	}
}

func TestCompareWarnsOfAnchorsThatAGrowingPoolMoves(t *testing.T) {
	s := seed(t)
	s.External.AnchorCIDR = prefix("169.254.32.0/27")
	s.Workers = []netplan.PoolSpec{{Name: "alpha", Count: ptr(1)}, {Name: "zeta", Count: ptr(9)}}
	old := resolve(t, s)
	s.Workers[0].Count = ptr(14)
	moved := 0
	for _, c := range netplan.Compare(old, resolve(t, s)) {
		if c.Field == "anchor" {
			moved++
			if !strings.HasPrefix(c.Machine, "edge-zeta-") {
				t.Errorf("%s moved, which chooses first", c.Machine)
			}
		}
	}
	if moved == 0 {
		t.Error("14 machines chose before 9 in a /27 and none moved")
	}
}

func TestCompareOnOpenStack(t *testing.T) {
	for _, c := range []struct {
		name    string
		edit    func(*netplan.Spec)
		machine string
		field   string
		text    string
	}{
		{"another external network", func(s *netplan.Spec) { s.OpenStack.ExternalNet = "other" }, "", "openstack.external_net", "release"},
		{"another region", func(s *netplan.Spec) { s.OpenStack.Region = "RegionTwo" }, "", "openstack.region", "anew"},
		{"a floating IP", func(s *netplan.Spec) { s.OpenStack.IngressFloatingIP = addr("203.0.113.99") }, "", "ingress.floating", "DNS first"},
		{"the ingress's address", func(s *netplan.Spec) { s.OpenStack.IngressAddress = addr("192.0.2.99") }, "", "ingress.address", "allowed address pairs"},
		{"the API's address", func(s *netplan.Spec) { s.OpenStack.KubeAPIAddress = addr("192.0.2.99") }, "", "kubeapi.vip", "kubeapi_sans"},
		{"the API's floating IP", func(s *netplan.Spec) { s.OpenStack.KubeAPIFloatingIP = addr("203.0.113.99") }, "", "kubeapi.floating", "DNS first"},
		{"an allowlist", func(s *netplan.Spec) { s.Security = s.Security[:1] }, "", "security", "security group"},
		{"a machine's address", func(s *netplan.Spec) {
			s.Machines = []netplan.MachineSpec{{Name: "edge-worker-01", Address: addr("192.0.2.61")}}
		}, "edge-worker-01", "address", "make the server anew"},
		{"a machine more", func(s *netplan.Spec) { s.Workers[0].Count = ptr(4) }, "edge-worker-04", "machine", "its port"},
		{"another provider", func(s *netplan.Spec) { *s = seed(t) }, "", "provider", "anew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cloudSeed()
			c.edit(&s)
			changes := netplan.Compare(resolve(t, cloudSeed()), resolve(t, s))
			for _, change := range changes {
				if change.Machine == c.machine && change.Field == c.field && strings.Contains(change.Effect, c.text) {
					return
				}
			}
			t.Errorf("no change of %s %s with %q in %+v", c.machine, c.field, c.text, changes)
		})
	}
}
