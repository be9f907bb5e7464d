package pvefs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestReadEverything(t *testing.T) {
	s, err := Read(host())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "snapshot.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", path, diff)
	}
	for _, secret := range []string{"0123456789abcdef", "ssh-ed25519", "not to be read"} {
		if strings.Contains(b.String(), secret) {
			t.Errorf("the snapshot has %q", secret)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		h    Host
		want string
	}{
		{"no cluster", Host{Node: "pve1", Cluster: files(nil)}, "reading the nodes of a Proxmox cluster"},
		{"another name", Host{Node: "laptop", Cluster: files(clusterFiles)}, `no node "laptop": it has ["pve1" "pve2" "pve3"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Read(c.h); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("says %v, want %s", err, c.want)
			}
		})
	}
}

// changed is the tree of host with one file replaced, or deleted.
func changed(name, text string) Host {
	h := host()
	tree := files(clusterFiles)
	if delete(tree, name); text != "" {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o640}
	}
	h.Cluster = tree
	return h
}

func unreadOf(t *testing.T, h Host) []string {
	t.Helper()
	s, err := Read(h)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, u := range s.Unread {
		out = append(out, u.Source+": "+u.Reason)
	}
	return out
}

// What cannot be read is said, and nothing else is lost by it.
func TestUnreadIsSaid(t *testing.T) {
	before := unreadOf(t, host())
	for _, c := range []struct{ file, text, want string }{
		{"sdn/.running-config", "{", "SDN, sdn/.running-config: unexpected end of JSON input"},
		{"sdn/zones.cfg", "vlan: zv\nbridge vmbr0\n", `SDN, sdn/zones.cfg: line 2: "bridge vmbr0" begins no section`},
		{"sdn/vnets.cfg", "\tzone zv\n", `SDN, sdn/vnets.cfg: line 1: "zone zv" stands in no section`},
		{"sdn/vnets.cfg", "vnet: v1\n\tzone zv\n\ttag many\n", `VNet "v1": its tag "many" is no number`},
		{"sdn/subnets.cfg", "subnet: odd\n\tvnet v1691\n", `SDN subnet "odd": its name is not like zone-10.0.0.0-24`},
		{"sdn/subnets.cfg", "subnet: zv-203.0.113.0-25\n\tvnet v1691\n\tgateway router\n", `SDN subnet "zv-203.0.113.0-25", gateway: "router" is not an IPv4 address`},
		{"sdn/pve-ipam-state.json", `{"zones":[]}`, "SDN IPAM, sdn/pve-ipam-state.json: json: cannot unmarshal"},
		{"sdn/pve-ipam-state.json", `{"zones":{"zv":{"subnets":{"x":{"ips":{"nobody":{}}}}}}}`, `SDN IPAM, zone "zv": "nobody" is no address`},
		{"firewall/cluster.fw", strings.Repeat("#", maxFile+1), `firewall of cluster: "cluster.fw" is larger than 4194304 bytes`},
		{"nodes/pve1/qemu-server/113.conf", strings.Repeat("#", maxConf+1), `VM 113 on pve1: its configuration cannot be read: "113.conf" is larger than 1048576 bytes`},
	} {
		t.Run(c.file+" "+c.want, func(t *testing.T) {
			after := slices.DeleteFunc(unreadOf(t, changed(c.file, c.text)), func(s string) bool { return slices.Contains(before, s) })
			if len(after) == 0 || !strings.HasPrefix(after[0], c.want) {
				t.Errorf("says besides %q, want %s", after, c.want)
			}
		})
	}
}

func TestOldIPAMIsReadWithoutTheNew(t *testing.T) {
	s, err := Read(changed("sdn/pve-ipam-state.json", ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.IPAM) != 1 || s.IPAM[0].Address.String() != "203.0.113.9" {
		t.Errorf("IPAM %+v", s.IPAM)
	}
}

func TestNeverAppliedSDNIsPending(t *testing.T) {
	s, err := Read(changed("sdn/.running-config", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.VNets {
		if !v.Pending {
			t.Errorf("VNet %s is not pending", v.Name)
		}
	}
	if len(s.VNets) != 2 || len(s.Zones) != 2 {
		t.Errorf("%d VNets and %d zones, want 2 of each", len(s.VNets), len(s.Zones))
	}
}

// A link out of the tree, to a file or to a directory, is not followed.
func TestLinksOutAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	cluster := filepath.Join(dir, "pve")
	guests := filepath.Join(cluster, "nodes", "pve1", "qemu-server")
	for _, d := range []string{outside, guests, filepath.Join(cluster, "nodes", "pve1", "lxc"), filepath.Join(dir, "network", "interfaces.d")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "200.conf"), "name: stolen\n")
	write(filepath.Join(guests, "101.conf"), "name: here\n")
	write(filepath.Join(dir, "network", "interfaces"), "auto vmbr0\niface vmbr0 inet static\n\taddress 192.0.2.1/24\n\tbridge-ports eno1\nsource interfaces.d/*\n")
	for link, target := range map[string]string{
		filepath.Join(guests, "200.conf"):        filepath.Join(outside, "200.conf"),
		filepath.Join(guests, "102.conf"):        "101.conf",
		filepath.Join(cluster, "nodes", "pve2"):  outside,
		filepath.Join(cluster, "firewall"):       outside,
		filepath.Join(cluster, "sdn"):            filepath.Join("..", "outside"),
		filepath.Join(cluster, "nodes", "pve1x"): "pve1",
		filepath.Join(cluster, "local"):          filepath.Join("nodes", "pve1"),
		filepath.Join(guests, "103.conf"):        "/dev/zero",

		filepath.Join(dir, "network", "interfaces.d", "more"): filepath.Join("..", "interfaces"),
		filepath.Join(cluster, "nodes", "locals"):             "../local",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadDir("pve1", cluster, filepath.Join(dir, "network"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{}
	for _, g := range s.Guests {
		names[g.VMID] = g.Name
	}
	if diff := cmp.Diff(map[int]string{101: "here", 102: "", 103: "", 200: ""}, names); diff != "" {
		t.Error(diff)
	}
	var said []string
	for _, u := range s.Unread {
		said = append(said, u.Source)
	}
	for _, want := range []string{"VM 102 on pve1", "VM 103 on pve1", "VM 200 on pve1", `node "pve2"`, "node pve1, its interfaces", "SDN IPAM", "cluster firewall, guests' firewalls"} {
		if !slices.Contains(said, want) {
			t.Errorf("%q is not unread: %q", want, said)
		}
	}
	if len(s.Nodes) != 1 || len(s.Nodes[0].Interfaces) != 1 {
		t.Errorf("nodes %+v", s.Nodes)
	}
}
