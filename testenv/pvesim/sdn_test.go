package pvesim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

func TestSDNMustBeApplied(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := inProcess(t, s, "pve1")
	ips := "/cluster/sdn/vnets/blue/ips"
	c.must("POST", "/cluster/sdn/zones", "zone", "lan", "type", "vlan", "bridge", "vmbr0")
	c.must("POST", "/cluster/sdn/vnets", "vnet", "blue", "zone", "lan", "tag", "30")
	c.must("POST", "/cluster/sdn/vnets/blue/subnets", "subnet", "192.0.2.0/24", "type", "subnet", "gateway", "192.0.2.1", "dhcp-range", "start-address=192.0.2.100,end-address=192.0.2.120")
	if got := list(c.must("GET", "/cluster/sdn/vnets", "running", "1")); len(got) != 0 {
		t.Errorf("running before it is applied: %v", got)
	}
	if got := list(c.must("GET", "/cluster/sdn/vnets", "pending", "1")); got[0]["state"] != "new" {
		t.Errorf("pending %v", got)
	}
	c.refused("500 can't find any subnet for ip 192.0.2.5", "", "POST", ips, "zone", "lan", "ip", "192.0.2.5", "mac", "02:00:00:00:00:01")
	task, _ := c.must("PUT", "/cluster/sdn").(string)
	status, _ := c.must("GET", "/nodes/pve1/tasks/"+task+"/status").(map[string]any)
	if status["status"] != "stopped" || status["exitstatus"] != "OK" {
		t.Errorf("task %v", status)
	}
	c.must("POST", ips, "zone", "lan", "ip", "192.0.2.5", "mac", "02:00:00:00:00:01")
	c.refused("500 IP '192.0.2.5' already exist", "", "POST", ips, "zone", "lan", "ip", "192.0.2.5", "mac", "02:00:00:00:00:02")
	c.refused("500 IP '192.0.2.1' already exist", "", "POST", ips, "zone", "lan", "ip", "192.0.2.1", "mac", "02:00:00:00:00:02")
	c.refused(badParams, "mac: invalid format - value does not look like a valid unicast MAC address", "POST", ips, "zone", "lan", "ip", "192.0.2.6", "mac", "01:00:00:00:00:02")

	subnet := list(c.must("GET", "/cluster/sdn/vnets/blue/subnets"))[0]
	want := map[string]any{"id": "lan-192.0.2.0-24", "subnet": "lan-192.0.2.0-24", "type": "subnet", "cidr": "192.0.2.0/24", "network": "192.0.2.0", "mask": "24",
		"zone": "lan", "vnet": "blue", "gateway": "192.0.2.1", "digest": subnet["digest"],
		"dhcp-range": []any{map[string]any{"start-address": "192.0.2.100", "end-address": "192.0.2.120"}}}
	if diff := cmp.Diff(want, subnet); diff != "" {
		t.Error(diff)
	}
	t.Run("the list has zones with DHCP only", func(t *testing.T) {
		if got := list(c.must("GET", "/cluster/sdn/ipams/pve/status")); len(got) != 0 {
			t.Errorf("listed %v", got)
		}
		c.must("PUT", "/cluster/sdn/zones/lan", "dhcp", "dnsmasq")
		got := list(c.must("GET", "/cluster/sdn/ipams/pve/status"))
		if len(got) != 2 || got[0]["gateway"] != 1.0 || got[1]["ip"] != "192.0.2.5" || got[1]["mac"] != "02:00:00:00:00:01" || got[1]["vnet"] != "blue" {
			t.Errorf("listed %v", got)
		}
	})
	t.Run("deleting", func(t *testing.T) {
		c.refused("500 delete sdn subnet object failed: cannot delete subnet '192.0.2.0/24', not empty", "", "DELETE", "/cluster/sdn/vnets/blue/subnets/lan-192.0.2.0-24")
		c.must("DELETE", ips, "zone", "lan", "ip", "192.0.2.5", "mac", "02:00:00:00:00:01")
		c.refused("500 IP '192.0.2.5' does not exist in IPAM DB", "", "DELETE", ips, "zone", "lan", "ip", "192.0.2.5", "mac", "02:00:00:00:00:01")
		c.refused("500 delete sdn zone object failed: zone lan is used by vnet blue", "", "DELETE", "/cluster/sdn/zones/lan")
		c.must("DELETE", "/cluster/sdn/vnets/blue/subnets/lan-192.0.2.0-24")
		c.must("DELETE", "/cluster/sdn/vnets/blue")
		c.must("DELETE", "/cluster/sdn/zones/lan")
	})
	t.Run("a node that could not reload", func(t *testing.T) {
		if err := s.Change(func(st *pvesim.State) error {
			return st.EditNode("pve2", func(n *pvesim.Node) { n.SDNFailed = true })
		}); err != nil {
			t.Fatal(err)
		}
		if got := column(c.must("GET", "/nodes/pve2/sdn/zones"), "status"); !cmp.Equal(got, []string{"available", "error"}) {
			t.Errorf("zones are %v", got)
		}
	})
}

func TestSDNBuilder(t *testing.T) {
	st := pvesim.NewState()
	st.AddZone("lan", map[string]string{"type": "vlan", "bridge": "vmbr0", "ipam": "pve", "dhcp": "dnsmasq"})
	st.AddVNet("blue", "lan", 30)
	for _, err := range []error{
		st.AddSubnet("blue", "192.0.2.0/24", "192.0.2.1", "192.0.2.100-192.0.2.120"),
		st.AddIP("lan", "192.0.2.0/24", "192.0.2.7", "BC:24:11:00:00:07", "db", 107),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := inProcess(t, newSim(t, pvesim.Options{State: st}), "pve1")
	vnet := list(c.must("GET", "/cluster/sdn/vnets"))[0]
	if vnet["tag"] != 30.0 || vnet["zone"] != "lan" || vnet["vnet"] != "blue" {
		t.Errorf("vnet %v", vnet)
	}
	if got := list(c.must("GET", "/cluster/sdn/vnets", "pending", "1"))[0]; got["state"] != nil {
		t.Errorf("an applied vnet: %v", got)
	}
	if got := list(c.must("GET", "/cluster/sdn/ipams/pve/status")); len(got) != 2 || got[1]["vmid"] != "107" || got[1]["hostname"] != "db" {
		t.Errorf("ipam %v", got)
	}
	got := column(c.must("GET", "/nodes/pve1/network", "type", "include_sdn"), "iface")
	if diff := cmp.Diff([]string{"eno1", "eno2", "vmbr0", "vmbr1", "blue"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPools(t *testing.T) {
	c := inProcess(t, newSim(t, pvesim.Options{}), "pve1")
	c.must("POST", "/pools", "poolid", "homeward", "comment", "ledger")
	c.refused("500 create pool failed: pool 'homeward' already exists", "", "POST", "/pools", "poolid", "homeward")
	c.refused("500 create pool failed: parent 'homeward/x' of pool 'homeward/x/192.0.2.1' does not exist", "", "POST", "/pools", "poolid", "homeward/x/192.0.2.1")
	c.must("POST", "/pools", "poolid", "homeward/hw-vmbr0-30")
	c.must("POST", "/pools", "poolid", "homeward/hw-vmbr0-30/192.0.2.1", "comment", "mine")
	c.refused(badParams, "poolid: invalid format - pool name 'a/b/c/d' nested too deeply (max levels = 3)", "POST", "/pools", "poolid", "a/b/c/d")
	c.refused("500 delete pool failed: pool 'homeward' is not empty (contains pool 'homeward/hw-vmbr0-30')", "", "DELETE", "/pools", "poolid", "homeward")
	c.must("PUT", "/pools", "poolid", "homeward/hw-vmbr0-30/192.0.2.1", "comment", "held")
	one := list(c.must("GET", "/pools", "poolid", "homeward/hw-vmbr0-30/192.0.2.1"))[0]
	if one["comment"] != "held" || one["members"] == nil {
		t.Errorf("pool %v", one)
	}
	c.must("DELETE", "/pools", "poolid", "homeward/hw-vmbr0-30/192.0.2.1")
	c.refused("500 delete pool failed: pool 'homeward/hw-vmbr0-30/192.0.2.1' does not exist", "", "DELETE", "/pools", "poolid", "homeward/hw-vmbr0-30/192.0.2.1")
	if diff := cmp.Diff([]string{"homeward", "homeward/hw-vmbr0-30"}, column(c.must("GET", "/pools"), "poolid")); diff != "" {
		t.Error(diff)
	}
}
