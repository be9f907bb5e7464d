package pvesim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

func TestCreateStartStopAndDestroy(t *testing.T) {
	for _, test := range []struct {
		kind   string
		task   string
		params []string
		want   pvesim.Guest
	}{
		{"qemu", "qm", []string{"vmid", "300", "name", "web", "cores", "2", "net0", "virtio=BC:24:11:00:00:09,bridge=vmbr0,tag=30", "ipconfig0", "ip=192.0.2.9/24,gw=192.0.2.1"},
			pvesim.Guest{Kind: pvesim.QEMU, VMID: 300, Node: "pve2", Config: map[string]string{"name": "web", "cores": "2",
				"net0": "virtio=BC:24:11:00:00:09,bridge=vmbr0,tag=30", "ipconfig0": "ip=192.0.2.9/24,gw=192.0.2.1"}}},
		{"lxc", "vz", []string{"vmid", "300", "ostemplate", "local:vztmpl/debian.tar.zst", "password", "hunter22", "net0", "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:09,ip=192.0.2.9/24"},
			pvesim.Guest{Kind: pvesim.LXC, VMID: 300, Node: "pve2", Config: map[string]string{"hostname": "CT300", "unprivileged": "1",
				"net0": "bridge=vmbr0,hwaddr=BC:24:11:00:00:09,ip=192.0.2.9/24,name=eth0"}}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			s, c := guestSim(t)
			base := "/nodes/pve2/" + test.kind
			task := func(what, method, path string, params ...string) {
				t.Helper()
				upid, _ := c.must(method, path, params...).(string)
				if !strings.HasPrefix(upid, "UPID:pve2:") || !strings.Contains(upid, ":"+test.task+what+":300:") {
					t.Errorf("%s %s: task %q", method, path, upid)
				}
				status, _ := c.must("GET", "/nodes/pve2/tasks/"+upid+"/status").(map[string]any)
				if status["exitstatus"] != "OK" {
					t.Errorf("task %s: %v", upid, status)
				}
			}
			task("create", "POST", base, test.params...)
			got, _ := s.State().Guest(300)
			got.Pending, got.Deleted = nil, nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the guest (-want +got):\n%s", diff)
			}
			task("start", "POST", base+"/300/status/start")
			if got, _ := s.State().Guest(300); !got.Running {
				t.Error("it does not run")
			}
			if status := c.do("DELETE", base+"/300"); status.code != 500 {
				t.Errorf("a running guest is destroyed: %s", status.status)
			}
			task("stop", "POST", base+"/300/status/stop")
			c.must("PUT", base+"/300/firewall/options", "enable", "1")
			task("destroy", "DELETE", base+"/300")
			if _, ok := s.State().Guest(300); ok || s.State().Firewall(pvesim.GuestScope(300)) != "" {
				t.Error("something of it is left")
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	s, c := guestSim(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Change(func(st *pvesim.State) error {
		st.AddPool("team", "")
		grants := []pvesim.Grant{{Path: "/pool/team", Privileges: []string{"VM.Allocate", "VM.Config.Network", "VM.Config.Options"}, Propagate: true}}
		return st.AddToken(pvesim.Token{ID: "ci@pve!xx", Secret: "s", Grants: grants})
	}))
	const base = "/nodes/pve1/qemu"
	before := s.State()
	c.refused("500 unable to create VM 100 - VM 100 already exists on node 'pve1'", "", "POST", base, "vmid", "100")
	c.refused("500 unable to create CT 101 - VM 101 already exists on node 'pve2'", "", "POST", "/nodes/pve1/lxc", "vmid", "101", "ostemplate", "x")
	c.refused("500 pool 'none' does not exist", "", "POST", base, "vmid", "300", "pool", "none")
	c.refused(badParams, "vmid: property is missing and it is not optional", "POST", base, "name", "web")
	c.refused(badParams, "ostemplate: property is missing and it is not optional", "POST", "/nodes/pve1/lxc", "vmid", "300")
	c.refused(badParams, "hostname: property is not defined in schema and the schema does not allow additional properties", "POST", base, "vmid", "300", "hostname", "x")
	c.refused("501 the simulator has no backups to restore guests from", "", "POST", base, "vmid", "300", "archive", "x")
	c.refused("500 VM 100 already running", "", "POST", vm+"/status/start")
	c.refused("500 CT 201 not running", "", "POST", "/nodes/pve1/lxc/201/status/stop")
	ci := c.as("ci@pve!xx", "s")
	ci.refused("403 Permission check failed", "", "POST", base, "vmid", "300")
	ci.refused("403 Permission check failed (/vms/300, VM.Config.CPU)", "", "POST", base, "vmid", "300", "pool", "team", "cores", "2")
	ci.refused("403 Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)", "", "POST", base, "vmid", "300", "pool", "team", "net0", "virtio,bridge=vmbr0")
	ci.refused("403 Permission check failed (/, Sys.Modify)", "", "POST", "/nodes/pve1/lxc", "vmid", "300", "pool", "team", "ostemplate", "x", "unprivileged", "0")
	ci.refused("403 Permission check failed (/vms/100, VM.PowerMgmt)", "", "POST", vm+"/status/stop")
	if !s.State().Equal(before) {
		t.Error("a refusal changed something")
	}
	ci.must("POST", base, "vmid", "300", "pool", "team", "name", "web", "start", "1")
	if g, _ := s.State().Guest(300); g.Pool != "team" || !g.Running || !cmp.Equal(g.Config, map[string]string{"name": "web"}) {
		t.Errorf("guest %+v", g)
	}
	must(s.Change(func(st *pvesim.State) error {
		return st.EditGuest(101, func(g *pvesim.Guest) { g.Config["protection"] = "1" })
	}))
	c.refused("500 can't remove VM 101 - protection mode enabled", "", "DELETE", "/nodes/pve2/qemu/101")
}

func TestContainerStartedOverTheAPIHasItsAddresses(t *testing.T) {
	s, c := guestSim(t)
	c.must("POST", "/nodes/pve1/lxc", "vmid", "300", "ostemplate", "x", "start", "1", "net0", "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:09,ip=192.0.2.9/24,ip6=auto")
	want := []pvesim.LiveInterface{{Name: "eth0", MAC: "BC:24:11:00:00:09", Addresses: []string{"192.0.2.9/24"}}}
	if g, _ := s.State().Guest(300); !cmp.Equal(want, g.Live) {
		t.Errorf("inside are %v", g.Live)
	}
	if got := list(c.must("GET", "/nodes/pve1/lxc/300/interfaces")); len(got) != 2 || got[1]["inet"] != "192.0.2.9/24" {
		t.Errorf("interfaces %v", got)
	}
}
