package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

func bridge(name string, ports ...string) Interface {
	return Interface{Name: name, Type: "bridge", Ports: ports}
}

func aware(name, vids string, ports ...string) Interface {
	return Interface{Name: name, Type: "bridge", Ports: ports, VLANAware: true, VIDs: vids}
}

func vlanDevice(name, raw string, tag netplan.VLAN) Interface {
	return Interface{Name: name, Type: "vlan", VLANRaw: raw, VLAN: tag}
}

func node(name string, interfaces ...Interface) Node {
	return Node{Name: name, Online: true, Interfaces: interfaces}
}

func TestLocate(t *testing.T) {
	zones := []Zone{{Name: "zv", Type: "vlan", Bridge: "vmbr0"}, {Name: "zt", Type: "vlan", Bridge: "vmbr30"}, {Name: "zq", Type: "qinq", Bridge: "vmbr0"}}
	vnets := []VNet{{Name: "v30", Zone: "zv", Tag: 30}, {Name: "q30", Zone: "zq", Tag: 30}, {Name: "lost", Zone: "gone", Tag: 30},
		{Name: "moved", Zone: "zv", Tag: 40, Pending: true}, {Name: "moved", Zone: "zv", Tag: 30}}
	vmbr0 := aware("vmbr0", "", "eno1")
	for _, c := range []struct {
		name  string
		nodes []Node
		asked netplan.Segment
		want  netplan.Segment
	}{
		{"bridge and tag", []Node{node("a", vmbr0)}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"no node read", nil, netplan.Segment{Bridge: "vmbr0", VLAN: 30}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"VNet of a vlan zone", []Node{node("a", vmbr0)}, netplan.Segment{VNet: "v30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"the applied state of a VNet", nil, netplan.Segment{VNet: "moved"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"VNet of a qinq zone", []Node{node("a", vmbr0)}, netplan.Segment{VNet: "q30"}, netplan.Segment{VNet: "q30"}},
		{"a tag in a VNet", []Node{node("a", vmbr0)}, netplan.Segment{VNet: "v30", VLAN: 7}, netplan.Segment{VNet: "v30", VLAN: 7}},
		{"bridge above the uplink's VLAN", []Node{node("a", vmbr0, bridge("vmbr30", "eno1.30"))}, netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"bridge above the bridge's VLAN", []Node{node("a", vmbr0, bridge("vmbr30", "vmbr0.30"))}, netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"bridge above a VLAN with a free name", []Node{node("a", vmbr0, bridge("vmbr30", "office"), vlanDevice("office", "eno1", 30))},
			netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"through a bond", []Node{node("a", bridge("vmbr0", "bond0"), bridge("vmbr30", "bond0.30"))}, netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"another uplink's VLAN", []Node{node("a", vmbr0, bridge("vmbr30", "eno2.30"))}, netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr30"}},
		{"a node without the lower bridge agrees", []Node{node("a", vmbr0, bridge("vmbr30", "eno1.30")), node("b", bridge("vmbr30", "eno7.30"))},
			netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"nodes that differ", []Node{node("a", vmbr0, bridge("vmbr30", "eno1.30")), node("b", vmbr0, bridge("vmbr30", "eno2.30"))},
			netplan.Segment{Bridge: "vmbr30"}, netplan.Segment{Bridge: "vmbr30"}},
		{"VNet of a zone on such a bridge", []Node{node("a", vmbr0, bridge("vmbr30", "eno1.30"))}, netplan.Segment{VNet: "untagged"}, netplan.Segment{Bridge: "vmbr0", VLAN: 30}},
		{"VLAN 1 of a VLAN-aware bridge", []Node{node("a", vmbr0)}, netplan.Segment{Bridge: "vmbr0", VLAN: 1}, netplan.Segment{Bridge: "vmbr0"}},
		{"VLAN 1 of a plain bridge", []Node{node("a", bridge("vmbr0", "eno1"))}, netplan.Segment{Bridge: "vmbr0", VLAN: 1}, netplan.Segment{Bridge: "vmbr0", VLAN: 1}},
		{"a tag in a tag", []Node{node("a", vmbr0, bridge("vmbr30", "eno1.30"))}, netplan.Segment{Bridge: "vmbr30", VLAN: 40}, netplan.Segment{Bridge: "vmbr30", VLAN: 40}},
		{"the bridge's own VLAN interface as a port", []Node{node("a", Interface{Name: "vmbr0", Type: "OVSBridge", Ports: []string{"eno1", "mgmt"}}, vlanDevice("mgmt", "vmbr0", 30))},
			netplan.Segment{Bridge: "vmbr0"}, netplan.Segment{Bridge: "vmbr0"}},
		{"devices in a ring", []Node{node("a", vlanDevice("x", "y", 5), vlanDevice("y", "x", 5), bridge("vmbr0", "x", "y"), bridge("x", "vmbr0"))},
			netplan.Segment{Bridge: "vmbr0", VLAN: 5}, netplan.Segment{Bridge: "vmbr0", VLAN: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Snapshot{Nodes: c.nodes, Zones: zones, VNets: append(vnets, VNet{Name: "untagged", Zone: "zt"})}
			got, err := Locate(s, c.asked)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%s is %s, want %s", c.asked, got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name  string
		s     Snapshot
		asked netplan.Segment
		want  string
	}{
		{"unknown VNet", Snapshot{}, netplan.Segment{VNet: "v31"}, "VNet v31"},
		{"unknown zone", Snapshot{VNets: vnets}, netplan.Segment{VNet: "lost"}, "zone gone"},
		{"two bridges of one record", Snapshot{Nodes: []Node{node("a", bridge("vm_br", "eno1")), node("b", bridge("VM.br", "eno1"))}}, netplan.Segment{Bridge: "vm_br"}, "VM.br"},
		{"two VNets of one record", Snapshot{Zones: zones, VNets: []VNet{{Name: "web", Zone: "zq"}, {Name: "WEB", Zone: "zq"}}}, netplan.Segment{VNet: "web"}, "WEB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Locate(&c.s, c.asked)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("says %v and %s, want an error with %s", err, got, c.want)
			}
		})
	}
}

func TestReach(t *testing.T) {
	s := &Snapshot{
		Nodes: []Node{
			node("aware", aware("vmbr0", "", "eno1"), bridge("vmbr30", "eno1.30"), bridge("vmbr31", "eno1.31")),
			node("narrow", aware("vmbr0", "2-20", "eno1")),
			node("plain", bridge("vmbr0", "eno1")),
			node("other", aware("vmbr0", "", "eno1"), bridge("vmbr30", "eno2.30"), bridge("vmbr9", "eno9")),
		},
		Zones: []Zone{{Name: "zv", Type: "vlan", Bridge: "vmbr0"}, {Name: "zs", Type: "simple"}, {Name: "zx", Type: "vxlan"}},
		VNets: []VNet{{Name: "v30", Zone: "zv", Tag: 30}, {Name: "v31", Zone: "zv", Tag: 31}, {Name: "s30", Zone: "zs", Tag: 30}, {Name: "x30", Zone: "zx", Tag: 30}},
	}
	at, err := locate(s, netplan.Segment{Bridge: "vmbr0", VLAN: 30})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		node, nic string
		want      reach
	}{
		{"aware", "bridge=vmbr0,tag=30", onIt},
		{"aware", "bridge=vmbr0,tag=31", away},
		{"aware", "bridge=vmbr0", trunked},
		{"aware", "bridge=vmbr0,trunks=20;30", trunked},
		{"aware", "bridge=vmbr0,trunks=20;31", away},
		{"aware", "bridge=vmbr0,tag=31,trunks=30", trunked},
		{"aware", "bridge=vmbr30", onIt},
		{"aware", "bridge=vmbr30,tag=30", away},
		{"aware", "bridge=vmbr31", away},
		{"aware", "bridge=v30", onIt},
		{"aware", "bridge=v30,tag=30", away},
		{"aware", "bridge=v31", away},
		{"aware", "bridge=s30", away},
		{"aware", "bridge=x30", away},
		{"aware", "link_down=1", away},
		{"narrow", "bridge=vmbr0", away},
		{"narrow", "bridge=vmbr0,tag=30", onIt},
		{"plain", "bridge=vmbr0", trunked},
		{"plain", "bridge=vmbr0,tag=31,trunks=30", away},
		{"other", "bridge=vmbr30", away}, // above another uplink
		{"other", "bridge=vmbr9,tag=30", away},
		{"plain", "bridge=vmbr30", onIt},  // no such bridge there: as on the first node
		{"unread", "bridge=vmbr30", onIt}, // nothing known of the node
		{"unread", "bridge=vmbr0,tag=30", onIt},
		{"unread", "bridge=vmbr0", trunked},
		{"unread", "bridge=vmbr9,tag=30", away},
	} {
		t.Run(c.node+" "+c.nic, func(t *testing.T) {
			n, err := ParseNIC(QEMU, "virtio=BC:24:11:00:00:01,"+c.nic)
			if err != nil {
				t.Fatal(err)
			}
			if got := at.reach(c.node, n); got != c.want {
				t.Errorf("reach %d, want %d", got, c.want)
			}
		})
	}
	t.Run("a VNet that is no VLAN", func(t *testing.T) {
		at, err := locate(s, netplan.Segment{VNet: "x30"})
		if err != nil {
			t.Fatal(err)
		}
		var got []reach
		for _, name := range []string{"x30", "s30", "vmbr0"} {
			got = append(got, at.reach("aware", NIC{Bridge: name}))
		}
		if diff := cmp.Diff([]reach{onIt, away, away}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// SDN makes a bridge for each VNet. It is the VNet, and no other name for the
// bridge and tag.
func TestVNetsBridgeIsNoSpelling(t *testing.T) {
	s := &Snapshot{
		Nodes: []Node{node("a", aware("vmbr0", "", "eno1"), bridge("v30", "vmbr0.30"), bridge("vmbr30", "eno1.30"))},
		Zones: []Zone{{Name: "zv", Type: "vlan", Bridge: "vmbr0"}},
		VNets: []VNet{{Name: "v30", Zone: "zv", Tag: 30}},
	}
	at, err := locate(s, netplan.Segment{VNet: "v30"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]netplan.Segment{{Bridge: "vmbr30"}}, at.spellings); diff != "" {
		t.Error(diff)
	}
}
