package pvesim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

const vm = "/nodes/pve1/qemu/100"

func guestSim(t testing.TB) (*pvesim.Sim, *client) {
	t.Helper()
	st := pvesim.NewState()
	for _, g := range []pvesim.Guest{
		{Kind: pvesim.QEMU, VMID: 100, Node: "pve1", Running: true, Config: map[string]string{"name": "web", "cores": "2",
			"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr1,firewall=1", "net1": "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=30"}},
		{Kind: pvesim.QEMU, VMID: 101, Node: "pve2", Config: map[string]string{"name": "db", "ipconfig0": "ip=192.0.2.5/24,gw=192.0.2.1"}},
		{Kind: pvesim.LXC, VMID: 200, Node: "pve1", Running: true, Config: map[string]string{"hostname": "dns", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:03,ip=192.0.2.6/24,tag=30"},
			Live: []pvesim.LiveInterface{{Name: "eth0", MAC: "BC:24:11:00:00:03", Addresses: []string{"192.0.2.6/24", "fe80::1/64"}}}},
		{Kind: pvesim.LXC, VMID: 201, Node: "pve1"},
	} {
		if err := st.AddGuest(g); err != nil {
			t.Fatal(err)
		}
	}
	s := newSim(t, pvesim.Options{State: st})
	return s, inProcess(t, s, "pve1")
}

// config gives a VM's configuration, the one in force or that of its next start.
func config(c *client, params ...string) map[string]any {
	c.t.Helper()
	m, _ := c.must("GET", vm+"/config", params...).(map[string]any)
	return m
}

func TestGuestLists(t *testing.T) {
	_, c := guestSim(t)
	got := list(c.must("GET", "/cluster/resources", "type", "vm"))
	if len(got) != 4 || got[0]["id"] != "qemu/100" || got[0]["name"] != "web" || got[0]["status"] != "running" || got[2]["type"] != "lxc" || got[3]["name"] != "CT201" {
		t.Errorf("resources %v", got)
	}
	if got := list(c.must("GET", "/nodes/pve2/qemu")); len(got) != 1 || got[0]["vmid"] != 101.0 {
		t.Errorf("pve2 has %v", got)
	}
	c.refused("500 Configuration file 'nodes/pve1/qemu-server/101.conf' does not exist", "", "GET", "/nodes/pve1/qemu/101/config")
	c.refused("500 Configuration file 'nodes/pve1/lxc/100.conf' does not exist", "", "GET", "/nodes/pve1/lxc/100/config")
	c.refused(badParams, "vmid: invalid format - value does not look like a valid VM ID", "GET", "/nodes/pve1/qemu/99/config")
	c.refused(badParams, "vmid: type check ('integer') failed - got 'web'", "GET", "/nodes/pve1/qemu/web/config")
}

func TestGuestConfig(t *testing.T) {
	s, c := guestSim(t)
	const modified = "500 detected modified configuration - file changed by other user? Try again."
	before := config(c)
	if before["cores"] != 2.0 || before["name"] != "web" || len(before["digest"].(string)) != 40 {
		t.Errorf("config %v", before)
	}
	t.Run("another tag changes a running VM without taking the NIC", func(t *testing.T) {
		c.must("PUT", vm+"/config", "net1", "model=virtio,macaddr=BC:24:11:00:00:02,tag=31,bridge=vmbr0", "digest", before["digest"].(string))
		if got := config(c, "current", "1")["net1"]; got != "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=31" {
			t.Errorf("net1 %v", got)
		}
		if got := s.Replugs(); len(got) != 0 {
			t.Errorf("re-plugged %v", got)
		}
		c.refused(modified, "", "PUT", vm+"/config", "net1", "virtio,bridge=vmbr0", "digest", before["digest"].(string))
	})
	t.Run("another MTU takes it", func(t *testing.T) {
		c.must("PUT", vm+"/config", "net1", "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=31,mtu=1400")
		if diff := cmp.Diff([]pvesim.Replug{{VMID: 100, NIC: "net1"}}, s.Replugs()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what cannot change now is pending", func(t *testing.T) {
		c.must("PUT", vm+"/config", "hotplug", "disk", "cores", "4")
		c.must("PUT", vm+"/config", "net1", "e1000=BC:24:11:00:00:02,bridge=vmbr0,tag=32", "delete", "net0")
		now, next := config(c, "current", "1"), config(c)
		if now["net0"] == nil || now["cores"] != 2.0 || !strings.HasPrefix(now["net1"].(string), "virtio=") {
			t.Errorf("in force: %v", now)
		}
		if next["net0"] != nil || next["cores"] != 4.0 || next["net1"] != "e1000=BC:24:11:00:00:02,bridge=vmbr0,tag=32" {
			t.Errorf("at the next start: %v", next)
		}
		pending := map[string]map[string]any{}
		for _, o := range list(c.must("GET", vm+"/pending")) {
			pending[o["key"].(string)] = o
		}
		if pending["net0"]["delete"] != 1.0 || pending["cores"]["pending"] != 4.0 || pending["cores"]["value"] != 2.0 {
			t.Errorf("pending %v", pending)
		}
		if err := s.Change(func(st *pvesim.State) error {
			if err := st.EditGuest(100, func(g *pvesim.Guest) { g.Running = false }); err != nil {
				return err
			}
			return st.Start(100)
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(config(c), config(c, "current", "1")); diff != "" {
			t.Errorf("still pending after a start: %s", diff)
		}
	})
	t.Run("mistakes", func(t *testing.T) {
		c.refused(badParams, "net1: invalid format - format error\ntag: value must have a maximum value of 4094\n", "PUT", vm+"/config", "net1", "virtio,bridge=vmbr0,tag=5000")
		c.refused(badParams, "net1: invalid format - format error\nvlan: property is not defined in schema and the schema does not allow additional properties\n", "PUT", vm+"/config", "net1", "virtio,vlan=5")
		c.refused(badParams, "colour: property is not defined in schema and the schema does not allow additional properties", "PUT", vm+"/config", "colour", "red")
		c.refused(badParams, "delete: unknown option 'colour'", "PUT", vm+"/config", "delete", "colour")
		c.refused(badParams, "ipconfig0: invalid format - format error\nip: value does not look like a valid ipv4 network configuration\n", "PUT", vm+"/config", "ipconfig0", "ip=192.0.2.5")
	})
}

func TestGuestConfigRights(t *testing.T) {
	s, c := guestSim(t)
	network := []string{"VM.Audit", "VM.Config.Network"}
	if err := s.Change(func(st *pvesim.State) error {
		return st.AddToken(pvesim.Token{ID: "ops@pve!net", Secret: "x", Grants: []pvesim.Grant{
			{Path: "/vms", Privileges: network, Propagate: true},
			{Path: "/sdn/zones/localnetwork/vmbr0/30", Privileges: []string{"SDN.Use"}},
		}})
	}); err != nil {
		t.Fatal(err)
	}
	c = c.as("ops@pve!net", "x")
	c.must("PUT", vm+"/config", "net1", "virtio=BC:24:11:00:00:02,bridge=vmbr0,tag=30,firewall=1")
	c.refused("403 Permission check failed (/sdn/zones/localnetwork/vmbr0/31, SDN.Use)", "", "PUT", vm+"/config", "net1", "virtio,bridge=vmbr0,tag=31")
	c.refused("403 Permission check failed (/vms/100, VM.Config.CPU)", "", "PUT", vm+"/config", "cores", "4")
}

func TestLiveAddresses(t *testing.T) {
	s, c := guestSim(t)
	agent := vm + "/agent/network-get-interfaces"
	c.refused("500 No QEMU guest agent configured", "", "GET", agent)
	edit := func(f func(*pvesim.Guest)) {
		t.Helper()
		if err := s.Change(func(st *pvesim.State) error { return st.EditGuest(100, f) }); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(g *pvesim.Guest) { g.Config["agent"] = "1" })
	c.refused("500 QEMU guest agent is not running", "", "GET", agent)
	edit(func(g *pvesim.Guest) {
		g.Agent = true
		g.Live = []pvesim.LiveInterface{{Name: "ens19", MAC: "BC:24:11:00:00:02", Addresses: []string{"192.0.2.9/24"}}}
	})
	result, _ := c.must("GET", agent).(map[string]any)
	want := map[string]any{"name": "ens19", "hardware-address": "bc:24:11:00:00:02", "ip-addresses": []any{map[string]any{"ip-address": "192.0.2.9", "ip-address-type": "ipv4", "prefix": 24.0}}}
	if diff := cmp.Diff(want, list(result["result"])[1]); diff != "" {
		t.Error(diff)
	}
	edit(func(g *pvesim.Guest) { g.Running = false })
	c.refused("500 VM 100 is not running", "", "GET", agent)

	container := list(c.must("GET", "/nodes/pve1/lxc/200/interfaces"))
	if container[1]["inet"] != "192.0.2.6/24" || container[1]["inet6"] != "fe80::1/64" {
		t.Errorf("container %v", container)
	}
	if got := c.must("GET", "/nodes/pve1/lxc/201/interfaces"); got != nil {
		t.Errorf("a stopped container: %v, want null", got)
	}
}
