package pvesim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

func TestNodes(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := inProcess(t, s, "pve2")
	if diff := cmp.Diff([]string{"pve1", "pve2", "pve3"}, column(c.must("GET", "/nodes"), "node")); diff != "" {
		t.Error(diff)
	}
	status := list(c.must("GET", "/cluster/status"))
	if status[0]["quorate"] != 1.0 || status[0]["nodes"] != 3.0 || status[2]["local"] != 1.0 || status[1]["local"] != 0.0 {
		t.Errorf("status %v", status)
	}
	c.refused("500 hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known", "", "GET", "/nodes/pve9/network")
	if err := s.Change(func(st *pvesim.State) error {
		return st.EditNode("pve3", func(n *pvesim.Node) { n.Online = false })
	}); err != nil {
		t.Fatal(err)
	}
	c.refused("595 No route to host", "", "GET", "/nodes/pve3/network")
	if got := column(c.must("GET", "/cluster/resources", "type", "node"), "status"); !cmp.Equal(got, []string{"online", "online", "offline"}) {
		t.Errorf("nodes are %v", got)
	}
}

func TestInterfaces(t *testing.T) {
	st := withTokens(t, map[string][]pvesim.Grant{
		"plain":  {{Path: "/nodes", Privileges: []string{"Sys.Audit"}, Propagate: true}},
		"bridge": {{Path: "/sdn/zones/localnetwork/vmbr1", Privileges: []string{"SDN.Use"}}},
		"vlan":   {{Path: "/sdn/zones/localnetwork/vmbr1/30", Privileges: []string{"SDN.Use"}}},
	})
	for _, err := range []error{
		st.AddVLAN("pve1", "vmbr0", 30, "", "192.0.2.2/24"),
		st.AddVLAN("pve1", "eno1", 31, "vmbr31", "198.51.100.2/24"),
		st.EditNode("pve1", func(n *pvesim.Node) { n.Interfaces[3].MTU = 9000 }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := inProcess(t, newSim(t, pvesim.Options{State: st}), "pve1")
	byName := func(data any) map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, o := range list(data) {
			out[o["iface"].(string)] = o
		}
		return out
	}
	all := byName(c.must("GET", "/nodes/pve1/network", "type", "include_sdn"))
	for _, want := range []struct {
		iface, key string
		value      any
	}{
		{"vmbr0", "bridge_ports", "eno1"},
		{"vmbr0", "bridge_vlan_aware", 1.0},
		{"vmbr0", "bridge_vids", "2-4094"},
		{"vmbr0", "cidr", "10.255.0.11/24"},
		{"vmbr1", "mtu", "9000"},
		{"vmbr1", "bridge_vlan_aware", 1.0},
		{"vmbr0.30", "type", "vlan"},
		{"vmbr0.30", "vlan-id", "30"},
		{"vmbr0.30", "vlan-raw-device", "vmbr0"},
		{"vmbr31", "bridge_ports", "eno1.31"},
		{"vmbr31", "bridge_vlan_aware", nil},
		{"eno1.31", "vlan-raw-device", "eno1"},
	} {
		if got := all[want.iface][want.key]; got != want.value {
			t.Errorf("%s: %s is %v (%T), want %v", want.iface, want.key, got, got, want.value)
		}
	}
	t.Run("bridges without a right are left out", func(t *testing.T) {
		for token, want := range map[string][]string{
			"plain":  {"eno1", "eno2", "vmbr0.30", "eno1.31"},
			"bridge": {"eno1", "eno2", "vmbr1", "vmbr0.30", "eno1.31"},
			"vlan":   {"eno1", "eno2", "vmbr1", "vmbr0.30", "eno1.31"},
		} {
			got := column(c.as("ops@pve!"+token, "s-"+token).must("GET", "/nodes/pve1/network"), "iface")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", token, diff)
			}
		}
	})
	t.Run("by type", func(t *testing.T) {
		if got := column(c.must("GET", "/nodes/pve1/network", "type", "any_bridge"), "iface"); !cmp.Equal(got, []string{"vmbr0", "vmbr1", "vmbr31"}) {
			t.Errorf("bridges %v", got)
		}
		c.refused(badParams, "", "GET", "/nodes/pve1/network", "type", "cloud")
	})
}

func TestLiveBridges(t *testing.T) {
	st := pvesim.NewState()
	if err := st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 100, Node: "pve1", Running: true, Config: map[string]string{"net1": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30"}}); err != nil {
		t.Fatal(err)
	}
	c := inProcess(t, newSim(t, pvesim.Options{State: st}), "pve1")
	bridges := list(c.must("GET", "/nodes/pve1/sdn/zones/localnetwork/bridges"))
	ports := list(bridges[0]["ports"])
	if len(bridges) != 2 || len(ports) != 2 || ports[1]["name"] != "tap100i1" || ports[1]["vmid"] != 100.0 || ports[1]["primary_vlan"] != 30.0 {
		t.Errorf("bridges %v", bridges)
	}
}
