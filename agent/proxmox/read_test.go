package proxmox

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/testenv/pvesim"
)

var update = flag.Bool("update", false, "write the goldens anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", path, diff)
	}
}

// furnish puts something of every source into a cluster.
func furnish(st *pvesim.State) error {
	st.AddZone("lan", map[string]string{"zone": "lan", "type": "vlan", "bridge": "vmbr0", "ipam": "pve"})
	st.AddZone("dhcp", map[string]string{"zone": "dhcp", "type": "simple", "ipam": "pve", "dhcp": "dnsmasq"})
	st.AddVNet("web", "lan", 1691)
	st.AddVNet("pool", "dhcp", 0)
	st.AddAlias("cluster", "office", "198.51.100.0/24", "the office")
	st.AddSet("cluster", ledgerName, "", pvesim.Member{CIDR: "203.0.113.75", Comment: record(bob, "held").String()})
	st.AddSet("cluster", "blocked", "", pvesim.Member{CIDR: "192.0.2.0/28"}, pvesim.Member{CIDR: "192.0.2.3", NoMatch: true})
	st.AddSet(pvesim.GuestScope(113), "ipfilter-net1", "", pvesim.Member{CIDR: "203.0.113.80"}, pvesim.Member{CIDR: "own"})
	st.AddSet(pvesim.GuestScope(113), "else", "", pvesim.Member{CIDR: "203.0.113.81"})
	st.AddAlias(pvesim.GuestScope(113), "own", "203.0.113.82", "")
	return errors.Join(
		st.AddVLAN("pve1", "eno1", 1691, "vmbr3", "203.0.113.3/25"),
		st.AddSubnet("web", "203.0.113.0/25", "203.0.113.1"),
		st.AddSubnet("pool", "192.0.2.0/24", "192.0.2.1", "192.0.2.100-192.0.2.120"),
		st.AddIP("dhcp", "192.0.2.0/24", "192.0.2.9", "BC:24:11:00:00:09", "db1", 113),
		st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 113, Node: "pve2", Running: true, Agent: true,
			Config:  map[string]string{"name": "db1", "net1": "virtio=BC:24:11:00:00:13,bridge=vmbr0,tag=1691,firewall=1", "ipconfig1": "ip=203.0.113.77/25", "agent": "1", "memory": "2048"},
			Pending: map[string]string{"net1": "virtio=BC:24:11:00:00:13,bridge=vmbr0,tag=30,firewall=1"}, Deleted: []string{"ipconfig1"},
			Live: []pvesim.LiveInterface{{Name: "ens19", MAC: "BC:24:11:00:00:13", Addresses: []string{"203.0.113.77/25", "fe80::1/64"}}}}),
		st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 114, Node: "pve3", Running: true,
			Config: map[string]string{"name": "mute", "net0": "virtio=BC:24:11:00:00:14,bridge=vmbr1", "agent": "enabled=1"}}),
		st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 115, Node: "pve3",
			Config: map[string]string{"name": "off", "net0": "virtio=BC:24:11:00:00:15,bridge=vmbr1", "agent": "1"}}),
		st.AddGuest(pvesim.Guest{Kind: pvesim.LXC, VMID: 200, Node: "pve1", Running: true,
			Config: map[string]string{"hostname": "ct", "net0": "name=eth0,bridge=vmbr0,tag=1691,hwaddr=BC:24:11:00:02:00,ip=203.0.113.90/25"},
			Live:   []pvesim.LiveInterface{{Name: "eth0", MAC: "BC:24:11:00:02:00", Addresses: []string{"203.0.113.90/25"}}}}),
		st.AddGuest(pvesim.Guest{Kind: pvesim.LXC, VMID: 201, Node: "pve1",
			Config: map[string]string{"hostname": "stopped", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:02:01,ip=dhcp"}}),
	)
}

// dropGuest deletes a guest by way of the state's file.
func dropGuest(st *pvesim.State, vmid int) error {
	text, err := json.Marshal(st)
	if err != nil {
		return err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	delete(whole["guests"].(map[string]any), strconv.Itoa(vmid))
	if text, err = json.Marshal(whole); err != nil {
		return err
	}
	return json.Unmarshal(text, st)
}

// read reads a snapshot, which must be possible.
func read(t *testing.T, api API, o ReadOptions) *inventory.Snapshot {
	t.Helper()
	s, err := Read(t.Context(), api, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func furnished(t *testing.T, o pvesim.Options) *lab {
	t.Helper()
	sim := simulate(t, o)
	if err := sim.Change(furnish); err != nil {
		t.Fatal(err)
	}
	return sim
}

func TestRead(t *testing.T) {
	sim := furnished(t, pvesim.Options{})
	var mu sync.Mutex
	lastDone, lastTotal := 0, 0
	s := read(t, sim.client("pve1"), ReadOptions{Live: true, Progress: func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done < lastDone || total < lastTotal || done > total {
			t.Errorf("progress %d of %d after %d of %d", done, total, lastDone, lastTotal)
		}
		lastDone, lastTotal = done, total
	}})
	if lastDone != lastTotal || lastDone == 0 {
		t.Errorf("progress ends at %d of %d", lastDone, lastTotal)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "snapshot.json", string(text)+"\n")
	if len(sim.Log()) != lastDone+1 { // and the one for the rights
		t.Errorf("%d requests, counted %d", len(sim.Log()), lastDone)
	}
}

// unread gives what a snapshot says it could not read.
func unread(s *inventory.Snapshot) []string {
	var list []string
	for _, u := range s.Unread {
		list = append(list, u.Source+": "+u.Reason)
	}
	return list
}

func TestReadWithFewRights(t *testing.T) {
	all := []pvesim.Grant{grant("/", "Sys.Audit", "VM.Audit", "SDN.Audit", "VM.GuestAgent.Audit")}
	for name, c := range map[string]struct {
		grants []pvesim.Grant
		want   []string // what each Unread begins with
	}{
		"all that is needed": {all, []string{"VM 114 \"mute\" on pve3, its live addresses: "}},
		"nothing": {[]pvesim.Grant{grant("/storage", "Sys.Audit")}, []string{
			"SDN zones, VNets, subnets and IPAM (those that the token may not see are left out silently): the token lacks SDN.Audit or SDN.Allocate on /sdn/zones",
			"bridges of the nodes (those that the token may not see are left out silently): the token lacks SDN.Audit or SDN.Use on /sdn/zones/localnetwork",
			"firewall aliases: GET /cluster/firewall/aliases: the server answered 403",
			"firewall sets: GET /cluster/firewall/ipset: the server answered 403",
			"firewall sets and aliases: the token lacks Sys.Audit on /",
			"guests (those that the token may not see are left out silently): the token lacks VM.Audit on /vms",
			"live addresses of VMs: the token lacks VM.GuestAgent.Audit or VM.GuestAgent.Unrestricted or VM.Monitor on /vms",
		}},
		"one guest alone": {[]pvesim.Grant{grant("/", "Sys.Audit", "SDN.Audit"), grant("/vms/200", "VM.Audit", "VM.GuestAgent.Audit")}, []string{
			"guest 113 on pve2: ", "guest 114 on pve3: ", "guests (those", "live addresses of VMs: "}},
		"not one guest": {append(all, grant("/vms/113", "VM.PowerMgmt")), []string{
			"VM 114 \"mute\" on pve3, its live addresses: ", "guest 113 on pve2: ", "guests (those", "live addresses of VMs: "}},
		"one bridge alone": {append(all, grant("/sdn/zones/localnetwork", "VM.Audit"), grant("/sdn/zones/localnetwork/vmbr1", "SDN.Use")), []string{
			"SDN zones", "VM 114", "bridges of the nodes (those"}},
	} {
		t.Run(name, func(t *testing.T) {
			sim := furnished(t, pvesim.Options{})
			s := read(t, sim.with("pve1", c.grants...), ReadOptions{Live: true})
			got := unread(s)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("unread:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	t.Run("a token that is none", func(t *testing.T) {
		sim := furnished(t, pvesim.Options{})
		_, err := Read(t.Context(), sim.as("pve1", "root@pam!homeward", "wrong", nil), ReadOptions{})
		if class(err) != "refused" || !strings.Contains(err.Error(), "does not take the token") {
			t.Errorf("got %v", err)
		}
	})
}
