package inventory

import (
	"net/netip"
	"strings"
	"testing"

	"homeward/netplan"
)

// edgePlan is the plan that the tests ask for: VLAN 1691 of vmbr0.
func edgePlan(t testing.TB) *netplan.Plan {
	pool, err := netplan.ParseRange("203.0.113.75-203.0.113.78")
	if err != nil {
		t.Fatal(err)
	}
	machine := func(name string, role netplan.Role, n byte) netplan.Machine {
		return netplan.Machine{Name: name, Role: role, External: true, Anchor: netip.AddrFrom4([4]byte{169, 254, 38, n}),
			MACs: netplan.MACs{Cluster: netplan.MAC{2, 0, 0, 0, 0, n}, External: netplan.MAC{2, 0, 0, 0, 1, n}}}
	}
	plan := &netplan.Plan{
		Name: "edge",
		External: &netplan.External{
			Segment: netplan.Segment{Bridge: "vmbr0", VLAN: 1691},
			CIDR:    netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1"),
			AnchorCIDR: netip.MustParsePrefix("169.254.32.0/20"), IngressPool: netplan.AddressSet{pool},
		},
		KubeAPI: netplan.KubeAPI{VIP: netip.MustParseAddr("203.0.113.79"), Link: netplan.LinkExternal},
		Machines: []netplan.Machine{
			machine("edge-controlplane-01", netplan.RoleControlPlane, 1),
			machine("edge-worker-01", netplan.RoleWorker, 2),
			machine("edge-worker-02", netplan.RoleWorker, 3),
		},
	}
	plan.Machines[1].ExternalAddress = netip.MustParseAddr("203.0.113.61")
	return plan
}

// options are a guest's configuration, "net1: virtio=...".
func options(lines ...string) map[string]string {
	out := map[string]string{}
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		out[key] = value
	}
	return out
}

func vm(vmid int, name, node string, config ...string) Guest {
	return Guest{Kind: QEMU, VMID: vmid, Name: name, Node: node, Running: true, Config: options(config...)}
}

func ct(vmid int, name, node string, config ...string) Guest {
	g := vm(vmid, name, node, config...)
	g.Kind = LXC
	return g
}

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// threeNodes spell one segment in all ways, and on pve3 have what only looks like
// it: vmbr1691 is above another uplink there, and vmbr5.1691 on another bridge.
func threeNodes() []Node {
	bridge := func(name string, aware bool, addresses []netip.Prefix, ports ...string) Interface {
		return Interface{Name: name, Type: "bridge", Ports: ports, VLANAware: aware, Addresses: addresses}
	}
	return []Node{
		{Name: "pve1", Online: true, Interfaces: []Interface{
			{Name: "eno1", Type: "eth"}, {Name: "eno2", Type: "eth"},
			bridge("vmbr0", true, prefixes("192.0.2.11/24"), "eno1"),
			bridge("vmbr1", true, nil, "eno2"),
			{Name: "vmbr0.1691", Type: "vlan", VLANRaw: "vmbr0", VLAN: 1691, Addresses: prefixes("203.0.113.11/25")},
		}},
		{Name: "pve2", Online: true, Interfaces: []Interface{
			{Name: "bond0", Type: "bond"},
			bridge("vmbr0", false, prefixes("192.0.2.12/24"), "bond0"),
			bridge("vmbr1691", false, prefixes("203.0.113.12/25"), "bond0.1691"),
		}},
		{Name: "pve3", Online: true, Interfaces: []Interface{
			{Name: "eno9", Type: "eth"},
			bridge("vmbr0", false, nil, "eno9"),
			{Name: "vlan1691", Type: "vlan", VLANRaw: "eno9", VLAN: 1691},
			bridge("vmbrX", false, prefixes("203.0.113.13/25"), "vlan1691"),
			bridge("vmbr1691", false, prefixes("203.0.113.75/25"), "eno1.1691"),
			bridge("vmbr5", true, nil, "eno5"),
			{Name: "vmbr5.1691", Type: "vlan", VLANRaw: "vmbr5", VLAN: 1691, Addresses: prefixes("203.0.113.76/25")},
		}},
	}
}

// richSnapshot has everything that claims an address, and beside each what does
// not.
func richSnapshot() *Snapshot {
	s := &Snapshot{
		Nodes: threeNodes(),
		Zones: []Zone{{Name: "zv", Type: "vlan", Bridge: "vmbr0", IPAM: "pve", DHCP: "dnsmasq"}, {Name: "zq", Type: "qinq", Bridge: "vmbr0"}, {Name: "zs", Type: "simple"}},
		VNets: []VNet{{Name: "v1691", Zone: "zv", Tag: 1691}, {Name: "v30", Zone: "zv", Tag: 30}, {Name: "q1691", Zone: "zq", Tag: 1691}, {Name: "s1", Zone: "zs"}},
		Subnets: []Subnet{
			{ID: "zv-203.0.113.0-25", VNet: "v1691", Zone: "zv", CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1"),
				DHCP: netplan.AddressSet{{First: netip.MustParseAddr("203.0.113.70"), Last: netip.MustParseAddr("203.0.113.76")}}},
			{ID: "zs-203.0.113.0-25", VNet: "s1", Zone: "zs", CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.75")},
		},
		IPAM: []IPAMEntry{
			{Address: netip.MustParseAddr("203.0.113.1"), Zone: "zv", Subnet: "zv-203.0.113.0-25", Gateway: true},
			{Address: netip.MustParseAddr("203.0.113.77"), Zone: "zv", VNet: "v1691", VMID: 113, MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x13}},
			{Address: netip.MustParseAddr("203.0.113.78"), Zone: "zs", VNet: "s1"},
		},
		Unread: []Unread{{Source: "VM 131 on pve2", Reason: "the token lacks VM.Audit on /vms/131"}},
	}
	s.Guests = richGuests()
	s.Aliases = []Alias{
		{Scope: "cluster", Name: "ingress-vip", CIDR: netip.MustParsePrefix("203.0.113.75/32")},
		{Scope: "cluster", Name: "campus", CIDR: netip.MustParsePrefix("203.0.112.0/20")},
		{Scope: "cluster", Name: "lab", CIDR: netip.MustParsePrefix("203.0.113.72/29")},
		{Scope: "cluster", Name: "six", CIDR: netip.MustParsePrefix("2001:db8::1/128")},
	}
	s.Sets = []IPSet{
		{Scope: "cluster", Name: "web", Members: []Member{{CIDR: "203.0.113.78"}, {CIDR: "203.0.113.77", NoMatch: true}, {CIDR: "dc/ingress-vip"}, {CIDR: "dc/six"}, {CIDR: "nobody"}}},
		{Scope: "cluster", Name: "hw-vmbr0-1691", Members: []Member{{CIDR: "203.0.113.75"}}},
		{Scope: "cluster", Name: "hw-vmbr1691-0", Members: []Member{{CIDR: "203.0.113.75"}}},
		{Scope: "cluster", Name: "hw-vmbr0-30", Members: []Member{{CIDR: "203.0.113.75"}}},
		{VMID: 201, Name: "ipfilter-net1", Members: []Member{{CIDR: "203.0.113.75"}}}, // the plan's own
		{VMID: 113, Name: "ipfilter-net1", Members: []Member{{CIDR: "203.0.113.79"}, {CIDR: "169.254.38.2"}}},
		{VMID: 113, Name: "ipfilter-net0", Members: []Member{{CIDR: "203.0.113.79"}}}, // another segment
		{VMID: 113, Name: "friends", Members: []Member{{CIDR: "203.0.113.79"}}},       // whom it lets in
	}
	return s
}

func richGuests() []Guest {
	guests := []Guest{
		vm(201, "edge-controlplane-01", "pve1", "net0: virtio=02:00:00:00:00:01,bridge=vmbr1", "net1: virtio=02:00:00:00:01:01,bridge=vmbr0,tag=1691,firewall=1"),
		vm(202, "edge-worker-01", "pve2", "net0: virtio=02:00:00:00:00:02,bridge=vmbr1", "net1: virtio=02:00:00:00:01:02,bridge=vmbr1691", "ipconfig1: ip=203.0.113.61/25"),
		vm(203, "edge-worker-02", "pve3", "net0: virtio=02:00:00:00:00:03,bridge=vmbr1", "net1: virtio=02:00:00:00:01:03,bridge=vmbrX", "ipconfig1: ip=203.0.113.76/25"),
		vm(301, "edge-worker-01", "pve3", "net0: virtio=02:00:00:00:00:09,bridge=vmbr1", "net1: virtio=02:00:00:00:01:01,bridge=vmbr0,tag=30"),
		vm(113, "db1", "pve2", "net0: virtio=BC:24:11:00:00:12,bridge=vmbr1", "net1: virtio=BC:24:11:00:00:13,bridge=vmbr0,tag=1691", "ipconfig1: ip=203.0.113.75/25,gw=203.0.113.1"),
		vm(114, "db2", "pve1", "net0: virtio=BC:24:11:00:00:14,bridge=v1691", "ipconfig0: ip=dhcp"),
		vm(115, "db3", "pve3", "net0: virtio=BC:24:11:00:00:15,bridge=vmbr1691", "ipconfig0: ip=203.0.113.75/25"),           // the other vmbr1691
		vm(116, "q", "pve1", "net0: virtio=BC:24:11:00:00:16,bridge=q1691", "ipconfig0: ip=203.0.113.75/25"),                // a tag inside a tag
		vm(117, "router", "pve1", "net0: virtio=BC:24:11:00:00:17,bridge=vmbr0"),                                            // all VLANs, untagged
		vm(118, "silent", "pve1", "net0: virtio=BC:24:11:00:00:18,bridge=vmbr0,tag=1691"),                                   // no address on record
		vm(119, "evil\x1b[31m\nVM 1", "pve1", "net0: virtio=BC:24:11:00:00:19,bridge=vmbr0,tag=1691,bridge=vmbr1"),          // not to be read
		vm(120, "half", "pve1", "net0: virtio=BC:24:11:00:00:20,bridge=vmbr0,tag=1691", "ipconfig0: ip=203.0.113.200.1/25"), // nor this
		ct(121, "dns", "pve1", "net0: name=eth0,bridge=vmbr0,tag=1691,hwaddr=BC:24:11:00:00:21,ip=203.0.113.78/25"),
		ct(122, "mail", "pve2", "net0: name=eth0,bridge=vmbr1691,hwaddr=BC:24:11:00:00:22,ip=dhcp"),
		vm(123, "user", "pve1", "net0: virtio=BC:24:11:00:00:23", "ipconfig0: ip=203.0.113.75/25"), // QEMU's own network
	}
	template := vm(900, "golden", "pve1", "net0: virtio=02:00:00:00:01:02,bridge=vmbr0,tag=1691", "ipconfig0: ip=203.0.113.77/25")
	template.Template, template.Running = true, false
	changing := vm(124, "changing", "pve1", "net0: virtio=BC:24:11:00:00:24,bridge=vmbr0,tag=30", "ipconfig0: ip=203.0.113.79/25")
	changing.Pending = options("net0: virtio=BC:24:11:00:00:24,bridge=vmbr0,tag=1691")
	live := vm(125, "live", "pve1", "net0: virtio=BC:24:11:00:00:25,bridge=vmbr0,tag=1691", "ipconfig0: ip=203.0.113.90/25")
	live.Live = []LiveAddress{
		{Interface: "ens18", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x25}, Address: netip.MustParseAddr("203.0.113.90")},
		{Interface: "ens18", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x25}, Address: netip.MustParseAddr("203.0.113.75")},
		{Interface: "kube-ipvs0", MAC: netplan.MAC{0xee}, Address: netip.MustParseAddr("203.0.113.76")},
		{Interface: "cni0", MAC: netplan.MAC{0xef}, Address: netip.MustParseAddr("10.244.0.1")},
		{Interface: "ens18.7", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x25}, Address: netip.MustParseAddr("203.0.113.78")},
	}
	guests[0].Live = []LiveAddress{{Interface: "eth1", MAC: netplan.MAC{2, 0, 0, 0, 1, 1}, Address: netip.MustParseAddr("203.0.113.79")}}
	guests[8].Live = []LiveAddress{ // the router's VLAN interfaces
		{Interface: "ens18.1691", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x17}, Address: netip.MustParseAddr("203.0.113.1")},
		{Interface: "ens18.30", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x17}, Address: netip.MustParseAddr("203.0.113.79")},
		{Interface: "ens18", MAC: netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 0x17}, Address: netip.MustParseAddr("203.0.113.78")},
	}
	return append(guests, template, changing, live)
}
