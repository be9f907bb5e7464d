package inventory

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// said are the claims of a snapshot but the nodes', as "source = range".
func said(t *testing.T, s *Snapshot) (out []string) {
	t.Helper()
	survey, err := Take(edgePlan(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(survey.Unread) > 0 {
		t.Errorf("unread: %+v", survey.Unread)
	}
	for _, c := range survey.Claims {
		if c.Kind == NodeAddress {
			continue
		}
		line := c.Source + " = " + Addresses(c.Range)
		if c.Pending {
			line += " pending"
		}
		out = append(out, line)
	}
	return out
}

func TestPendingChanges(t *testing.T) {
	const nic, elsewhere = "net0: virtio=BC:24:11:00:00:24,bridge=vmbr0,tag=1691", "net0: virtio=BC:24:11:00:00:24,bridge=vmbr0,tag=30"
	const now, then = `VM 124 "x" on pve1, net0, ipconfig0 = 203.0.113.75`, `VM 124 "x" on pve1, net0, ipconfig0 = 203.0.113.76 pending`
	for _, c := range []struct {
		name            string
		config, pending map[string]string
		want            []string
	}{
		{"nothing pending", options(nic, "ipconfig0: ip=203.0.113.75/25"), nil, []string{now}},
		{"another address counts beside the first", options(nic, "ipconfig0: ip=203.0.113.75/25"), options("ipconfig0: ip=203.0.113.76/25"), []string{now, then}},
		{"what is going is still there", options(nic, "ipconfig0: ip=203.0.113.75/25"), map[string]string{"ipconfig0": ""}, []string{now}},
		{"so is a NIC that is going", options(nic, "ipconfig0: ip=203.0.113.75/25"), map[string]string{"net0": ""}, []string{now}},
		{"a NIC that moves here", options(elsewhere, "ipconfig0: ip=203.0.113.76/25"), options(nic), []string{then}},
		{"a NIC that moves here without its address", options(elsewhere, "ipconfig0: ip=203.0.113.76/25"), map[string]string{"net0": "virtio=BC:24:11:00:00:24,bridge=vmbr0,tag=1691", "ipconfig0": ""}, nil},
		{"a NIC that is new", nil, options(nic, "ipconfig0: ip=203.0.113.76/25"), []string{then}},
		{"another option is no other claim", options(nic, "ipconfig0: ip=203.0.113.75/25"), options(nic + ",firewall=1"), []string{now}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := vm(124, "x", "pve1")
			g.Config, g.Pending = c.config, c.pending
			if diff := cmp.Diff(c.want, said(t, &Snapshot{Guests: []Guest{g}, Nodes: threeNodes()})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A subnet that was edited and not applied is there twice, mostly the same.
func TestPendingSubnetSaysOnlyWhatIsNew(t *testing.T) {
	now := Subnet{ID: "zv-203.0.113.0-25", VNet: "v1691", Zone: "zv", CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1")}
	then := now
	then.Pending, then.DHCP = true, netplan.AddressSet{{First: netip.MustParseAddr("203.0.113.70"), Last: netip.MustParseAddr("203.0.113.80")}}
	s := &Snapshot{Zones: []Zone{{Name: "zv", Type: "vlan", Bridge: "vmbr0"}}, VNets: []VNet{{Name: "v1691", Zone: "zv", Tag: 1691}}, Subnets: []Subnet{then, now}}
	want := []string{
		"SDN subnet 203.0.113.0/25, VNet v1691, gateway = 203.0.113.1",
		"SDN subnet 203.0.113.0/25, VNet v1691, dhcp-range = 203.0.113.70-203.0.113.80 pending",
	}
	if diff := cmp.Diff(want, said(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestLiveAddresses(t *testing.T) {
	mac := mustMAC(t, "bc:24:11:00:00:21")
	address := func(name string, mac netplan.MAC, text string) LiveAddress {
		return LiveAddress{Interface: name, MAC: mac, Address: netip.MustParseAddr(text)}
	}
	for _, c := range []struct {
		name string
		g    Guest
		live []LiveAddress
		want []string
	}{
		{"a container's, by its interface's name", ct(121, "dns", "pve1", "net0: name=eth0,bridge=vmbr0,tag=1691,ip=manual"),
			[]LiveAddress{address("eth0", netplan.MAC{}, "203.0.113.75")}, []string{`CT 121 "dns" on pve1, net0, in use on eth0 = 203.0.113.75`}},
		{"a container's other interface", ct(121, "dns", "pve1", "net0: name=eth0,bridge=vmbr0,tag=1691,ip=manual"),
			[]LiveAddress{address("eth1", netplan.MAC{}, "10.9.0.1")}, nil},
		{"another NIC of the guest", vm(121, "x", "pve1", "net0: virtio=BC:24:11:00:00:20,bridge=vmbr0,tag=1691", "net1: virtio=BC:24:11:00:00:21,bridge=vmbr1"),
			[]LiveAddress{address("ens19", mac, "203.0.113.75")}, nil},
		{"a VLAN interface on a trunk", vm(121, "x", "pve1", "net0: virtio=BC:24:11:00:00:21,bridge=vmbr0"),
			[]LiveAddress{address("vlan1691", mac, "203.0.113.75"), address("vlan30", mac, "203.0.113.76"), address("ens18", mac, "203.0.113.77")},
			[]string{`VM 121 "x" on pve1, net0, in use on vlan1691 = 203.0.113.75`}},
		{"a guest elsewhere", vm(121, "x", "pve1", "net0: virtio=BC:24:11:00:00:21,bridge=vmbr1"), []LiveAddress{address("ens18", mac, "203.0.113.75")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.g.Live = c.live
			if diff := cmp.Diff(c.want, said(t, &Snapshot{Guests: []Guest{c.g}, Nodes: threeNodes()})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
