package proxmox

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

func TestLooseValues(t *testing.T) {
	type values struct {
		F Flag
		N Number
		T Text
	}
	for text, want := range map[string]*values{
		`{"F":1,"N":1500,"T":"a"}`:         {true, 1500, "a"},
		`{"F":"1","N":"1500","T":1691}`:    {true, 1500, "1691"},
		`{"F":true,"N":-1,"T":1.5}`:        {true, -1, "1.5"},
		`{"F":0,"N":"","T":""}`:            {},
		`{"F":"0","N":null,"T":null}`:      {},
		`{"F":false}`:                      {},
		`{"F":"","N":0}`:                   {},
		`{"F":2}`:                          nil,
		`{"F":[]}`:                         nil,
		`{"N":"many"}`:                     nil,
		`{"N":1.5}`:                        nil,
		`{"N":{}}`:                         nil,
		`{"T":[]}`:                         nil,
		`{"T":{}}`:                         nil,
		`{"T":true}`:                       nil,
		`{"N":99999999999999999999999999}`: nil,
	} {
		t.Run(text, func(t *testing.T) {
			var got values
			err := json.Unmarshal([]byte(text), &got)
			switch {
			case (err != nil) != (want == nil):
				t.Errorf("got %+v, %v", got, err)
			case want != nil && got != *want:
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestNodeInterfaces(t *testing.T) {
	prefixes := func(list ...string) []netip.Prefix {
		var out []netip.Prefix
		for _, s := range list {
			out = append(out, netip.MustParsePrefix(s))
		}
		return out
	}
	for name, c := range map[string]struct {
		text string
		want inventory.Interface
	}{
		"a bridge": {`{"iface":"vmbr0","type":"bridge","bridge_ports":"eno1 tap100i0","bridge_vlan_aware":1,"bridge_vids":"2 4 100-200","cidr":"10.0.0.2/24","address":"10.0.0.2","netmask":"24","mtu":"9000","active":1}`,
			inventory.Interface{Name: "vmbr0", Type: "bridge", Ports: []string{"eno1", "tap100i0"}, VLANAware: true, VIDs: "2 4 100-200", Addresses: prefixes("10.0.0.2/24"), MTU: 9000, Active: true}},
		"an aware bridge without VIDs": {`{"iface":"vmbr1","type":"bridge","bridge_ports":"","bridge_vlan_aware":"1"}`,
			inventory.Interface{Name: "vmbr1", Type: "bridge", VLANAware: true, VIDs: "2-4094"}},
		"an OVS bridge": {`{"iface":"vmbr2","type":"OVSBridge","ovs_ports":"eno3"}`,
			inventory.Interface{Name: "vmbr2", Type: "OVSBridge", Ports: []string{"eno3"}}},
		"a VLAN by its name": {`{"iface":"eno1.1691","type":"vlan","active":null}`,
			inventory.Interface{Name: "eno1.1691", Type: "vlan", VLANRaw: "eno1", VLAN: 1691}},
		"a VLAN by its keys": {`{"iface":"storage","type":"vlan","vlan-id":"30","vlan-raw-device":"bond0"}`,
			inventory.Interface{Name: "storage", Type: "vlan", VLANRaw: "bond0", VLAN: 30}},
		"a VLAN by both": {`{"iface":"vlan30","type":"vlan","vlan-raw-device":"bond0"}`,
			inventory.Interface{Name: "vlan30", Type: "vlan", VLANRaw: "bond0", VLAN: 30}},
		"a VLAN on a bridge of a dotted name": {`{"iface":"a.b.7","type":"vlan"}`,
			inventory.Interface{Name: "a.b.7", Type: "vlan", VLANRaw: "a.b", VLAN: 7}},
		"a VLAN that is none": {`{"iface":"eno1.5000","type":"vlan"}`,
			inventory.Interface{Name: "eno1.5000", Type: "vlan", VLANRaw: "eno1"}},
		"an address with a long netmask": {`{"iface":"eno4","type":"eth","address":"10.1.0.2","netmask":"255.255.0.0"}`,
			inventory.Interface{Name: "eno4", Type: "eth", Addresses: prefixes("10.1.0.2/16")}},
		"an address alone": {`{"iface":"eno4","type":"eth","address":"10.1.0.2"}`,
			inventory.Interface{Name: "eno4", Type: "eth", Addresses: prefixes("10.1.0.2/32")}},
		"IPv6 alone": {`{"iface":"eno4","type":"eth","cidr":"2001:db8::2/64","address":"2001:db8::2"}`,
			inventory.Interface{Name: "eno4", Type: "eth"}},
	} {
		t.Run(name, func(t *testing.T) {
			var i nodeInterface
			if err := json.Unmarshal([]byte(c.text), &i); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, i.convert(), values); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSubnets(t *testing.T) {
	ranges := func(list ...string) netplan.AddressSet {
		var out netplan.AddressSet
		for _, s := range list {
			first, last, _ := strings.Cut(s, "-")
			out = append(out, netplan.Range{First: addr(first), Last: addr(last)})
		}
		return out
	}
	for name, c := range map[string]struct {
		text string
		want inventory.Subnet
		ok   bool
	}{
		"ranges as objects": {`{"subnet":"lab-192.0.2.0-24","cidr":"192.0.2.0/24","gateway":"192.0.2.1","dhcp-range":[{"start-address":"192.0.2.10","end-address":"192.0.2.20"}]}`,
			inventory.Subnet{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Gateway: addr("192.0.2.1"), DHCP: ranges("192.0.2.10-192.0.2.20")}, true},
		"ranges as texts": {`{"subnet":"lab-192.0.2.0-24","dhcp-range":["start-address=192.0.2.10,end-address=192.0.2.20","end-address=192.0.2.40,start-address=192.0.2.30"]}`,
			inventory.Subnet{CIDR: netip.MustParsePrefix("192.0.2.0/24"), DHCP: ranges("192.0.2.10-192.0.2.20", "192.0.2.30-192.0.2.40")}, true},
		"one range alone": {`{"subnet":"lab-192.0.2.0-24","dhcp-range":"start-address=192.0.2.10,end-address=192.0.2.20"}`,
			inventory.Subnet{CIDR: netip.MustParsePrefix("192.0.2.0/24"), DHCP: ranges("192.0.2.10-192.0.2.20")}, true},
		"ranges that go": {`{"subnet":"lab-192.0.2.0-24","dhcp-range":"deleted","gateway":"deleted"}`,
			inventory.Subnet{CIDR: netip.MustParsePrefix("192.0.2.0/24")}, true},
		"IPv6": {`{"subnet":"lab-2001:db8::-64","dhcp-range":[{"start-address":"2001:db8::1","end-address":"2001:db8::9"}]}`,
			inventory.Subnet{CIDR: netip.MustParsePrefix("2001:db8::/64")}, true},
		"a range that is none": {`{"subnet":"lab-192.0.2.0-24","dhcp-range":["start-address=192.0.2.10"]}`, inventory.Subnet{}, false},
		"a range backwards":    {`{"subnet":"lab-192.0.2.0-24","dhcp-range":["start-address=192.0.2.10,end-address=192.0.2.9"]}`, inventory.Subnet{}, false},
		"no network":           {`{"subnet":"lab"}`, inventory.Subnet{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var n sdnSubnet
			if err := json.Unmarshal([]byte(c.text), &n); err != nil {
				t.Fatal(err)
			}
			got, ok := n.convert("web", "lab")
			c.want.ID, c.want.VNet, c.want.Zone = n.ID, "web", "lab"
			if diff := cmp.Diff(c.want, got, values); ok != c.ok || ok && diff != "" {
				t.Errorf("ok %v: %s", ok, diff)
			}
		})
	}
}

func TestSDNThatIsNotApplied(t *testing.T) {
	const text = `[
		{"subnet":"lab-192.0.2.0-24","cidr":"192.0.2.0/24","gateway":"192.0.2.1","dhcp-range":[],"state":"changed","pending":{"gateway":"192.0.2.254","dhcp-range":"start-address=192.0.2.10,end-address=192.0.2.20,start-address=192.0.2.30,end-address=192.0.2.40"}},
		{"subnet":"lab-198.51.100.0-24","cidr":"198.51.100.0/24","state":"new","dhcp-range":[],"pending":{"gateway":"198.51.100.1"}},
		{"subnet":"lab-203.0.113.0-24","cidr":"203.0.113.0/24","state":"deleted","pending":{}},
		{"subnet":"lab-10.0.0.0-24","gateway":"10.0.0.1","state":"changed","pending":{"gateway":"deleted"}}]`
	r := &reader{slots: make(chan struct{}, 1), api: canned(text)}
	if err := r.subnets(t.Context(), "web", "lab"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.snapshot.Subnets {
		state := "applied"
		if s.Pending {
			state = "pending"
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", s.CIDR, s.Gateway, s.DHCP, state))
	}
	want := []string{
		"192.0.2.0/24 192.0.2.1 [] applied", "192.0.2.0/24 192.0.2.254 [192.0.2.10-192.0.2.20 192.0.2.30-192.0.2.40] pending",
		"198.51.100.0/24 198.51.100.1 [] pending", "203.0.113.0/24 invalid IP [] applied",
		"10.0.0.0/24 10.0.0.1 [] applied", "10.0.0.0/24 invalid IP [] pending",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestZonesAndVNetsThatAreNotApplied(t *testing.T) {
	const zones = `[
		{"zone":"a","type":"vlan","bridge":"vmbr0","state":"changed","pending":{"bridge":"vmbr1","ipam":"deleted"}},
		{"zone":"b","type":"vlan","state":"new","pending":{"bridge":"vmbr0","ipam":"pve"}}]`
	const vnets = `[
		{"vnet":"v1","type":"vnet","zone":"a","tag":30,"state":"changed","pending":{"tag":"deleted"}},
		{"vnet":"v2","type":"vnet","state":"new","pending":{"zone":"b","tag":"31"}}]`
	r := &reader{slots: make(chan struct{}, 9), api: canned(zones)}
	if err := r.zones(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.api = byPath{"/cluster/sdn/vnets": vnets, "/cluster/sdn/vnets/v1/subnets": `[]`, "/cluster/sdn/vnets/v2/subnets": `[]`}
	if err := r.vnets(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := inventory.Snapshot{
		Zones: []inventory.Zone{{Name: "a", Type: "vlan", Bridge: "vmbr0"}, {Name: "b", Type: "vlan", Bridge: "vmbr0", IPAM: "pve"}},
		VNets: []inventory.VNet{{Name: "v1", Zone: "a", Tag: 30}, {Name: "v2", Zone: "b", Tag: 31, Pending: true}},
	}
	if diff := cmp.Diff(want, r.snapshot, values); diff != "" {
		t.Error(diff)
	}
}

func TestAgentOption(t *testing.T) {
	for option, want := range map[string]bool{
		"": false, "0": false, "1": true, "1,fstrim_cloned_disks=1": true, "enabled=1": true, "enabled=0": false,
		"type=virtio,enabled=1": true, "fstrim_cloned_disks=1": false, "yes": true,
	} {
		if got := hasAgent(option); got != want {
			t.Errorf("%q: %v", option, got)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`[{"subnet":"lab-192.0.2.0-24","dhcp-range":["start-address=192.0.2.10,end-address=192.0.2.20"],"state":"new","pending":{"cidr":"x"}}]`,
		`[{"iface":"eno1.30","type":"vlan","cidr":"10.0.0.1/24","mtu":"1500"}]`,
		`[{"key":"net0","value":"virtio=a","pending":1,"delete":1}]`,
		`[{"cidr":"192.0.2.1","comment":"x","nomatch":1,"digest":"d"}]`, `{"a":1}`, `null`, `[null]`, `"x"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			t.Skip("a client gives on nothing but JSON")
		}
		// Whatever the server says, everything is either read or said to be unread.
		if _, err := Read(t.Context(), canned(text), ReadOptions{Live: true}); err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q", err)
		}
		b, _ := NewIPSetBook(canned(text), ledgerName)
		p, _ := NewPoolBook(canned(text), ledgerName, alice)
		for _, read := range []func() error{
			func() error { _, err := b.Read(t.Context()); return err },
			func() error { _, err := p.Read(t.Context()); return err },
		} {
			if err := read(); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
		}
	})
}
