package provision_test

import (
	"net/netip"
	"testing"

	"homeward/netplan"
	"homeward/talosgen/provision"
)

func TestCloudVars(t *testing.T) {
	p, faults := netplan.Resolve(netplan.Spec{
		Name: "edge", Talos: netplan.TalosSpec{Version: "v1.13.9"},
		ControlPlanes: new(1), Workers: []netplan.PoolSpec{{Name: "worker", Count: new(2)}},
		OpenStack: &netplan.OpenStackSpec{ExternalNet: "public"},
		Cluster:   netplan.LinkSpec{CIDR: netip.MustParsePrefix("192.0.2.0/24")},
		Machines: []netplan.MachineSpec{{Name: "edge-worker-01", Address: netip.MustParseAddr("192.0.2.61"),
			ClusterMAC: netplan.MAC{0xfa, 0x16, 0x3e, 0, 0, 1}}},
	})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got, err := provision.CloudVars(p)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "openstack.tfvars.json", got)
	t.Run("another provider has none", func(t *testing.T) {
		if got, err := provision.CloudVars(fullPlan(t)); err == nil {
			t.Errorf("got\n%s", got)
		}
	})
}
