package guests

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/netplan"
)

// Surroundings are what counts for guests but is not theirs. None of it is ever
// changed here.
type Surroundings struct {
	// Datacenter and Hosts are the options of the firewalls, Hosts by node; nil
	// where they could not be read.
	Datacenter map[string]string
	Hosts      map[string]map[string]string
	// Nodes with their bridges.
	Nodes []inventory.Node
	// Unread says what could not be read.
	Unread []inventory.Unread
}

// ReadSurroundings reads the firewalls' options of the cluster and of the nodes
// that are online: one request each. nodes come from an inventory.
func ReadSurroundings(ctx context.Context, api proxmox.API, nodes []inventory.Node) (Surroundings, error) {
	s := Surroundings{Nodes: nodes, Hosts: make(map[string]map[string]string)}
	read := func(source, path string) (map[string]string, error) {
		options, err := readOptions(ctx, api, path)
		if err != nil && ctx.Err() == nil {
			s.Unread = append(s.Unread, inventory.Unread{Source: source, Reason: err.Error()})
			return nil, nil
		}
		return options, err
	}
	var err error
	if s.Datacenter, err = read("datacenter firewall", proxmox.Path("cluster", "firewall", "options")); err != nil {
		return Surroundings{}, err
	}
	for _, n := range nodes {
		if !n.Online {
			continue
		}
		if s.Hosts[n.Name], err = read("firewall of node "+n.Name, proxmox.Path("nodes", n.Name, "firewall", "options")); err != nil {
			return Surroundings{}, err
		}
	}
	return s, nil
}

// Check reports what the plan needs of the cluster and of the nodes its guests are
// on, each with the command to run.
func (s Surroundings) Check(p *netplan.Plan, on []string) []Item {
	var out []Item
	if s.Datacenter != nil && !truth(s.Datacenter["enable"]) && len(p.Security) > 0 {
		out = append(out, Item{
			Message:  "the datacenter's firewall is off, so that no rule of any guest counts. Switching it on also denies what comes to the nodes themselves: first let in what you reach them by (ports 8006 and 22)",
			Commands: []string{pvesh("set", "/cluster/firewall/options", map[string]string{"enable": "1"})},
		})
	}
	nodes := slices.Clone(on)
	slices.Sort(nodes)
	for _, name := range slices.Compact(nodes) {
		if host := s.Hosts[name]; host != nil && host["enable"] != "" && !truth(host["enable"]) && len(p.Security) > 0 {
			out = append(out, Item{
				Note:     true,
				Message:  fmt.Sprintf("the firewall of node %s itself is off: the rules of its guests count all the same", name),
				Commands: []string{pvesh("set", "/nodes/"+name+"/firewall/options", map[string]string{"enable": "1"})},
			})
		}
		out = append(out, s.checkLink(name, p.Cluster.Segment, p.Cluster.MTU)...)
		if p.External != nil {
			out = append(out, s.checkLink(name, p.External.Segment, p.External.MTU)...)
		}
	}
	return out
}

// checkLink looks at a link's bridge on one node.
func (s Surroundings) checkLink(node string, on netplan.Segment, mtu int) []Item {
	bridge, known := s.find(node, on.Name())
	if !known {
		return nil
	}
	if bridge == nil {
		return []Item{{Message: fmt.Sprintf("%s is not to be seen on node %s: it is missing there, or the token may not see it (SDN.Audit on /sdn/zones/localnetwork/%s)", on.Name(), node, on.Name())}}
	}
	var out []Item
	path := "/nodes/" + node + "/network/" + bridge.Name
	reload := pvesh("set", "/nodes/"+node+"/network", nil)
	if bridge.MTU != 0 && mtu > bridge.MTU {
		out = append(out, Item{
			Message:  fmt.Sprintf("%s on node %s has MTU %d, less than the plan's %d: a NIC with more does not start", bridge.Name, node, bridge.MTU, mtu),
			Commands: []string{pvesh("set", path, map[string]string{"type": bridge.Type, "mtu": strconv.Itoa(mtu)}), reload},
		})
	}
	if bridge.Type != "bridge" || on.VLAN == 0 {
		return out
	}
	change := map[string]string{"type": "bridge"}
	var why []string
	if !bridge.VLANAware {
		change["bridge_vlan_aware"] = "1"
		why = append(why, "is not VLAN-aware")
	}
	if vids, err := inventory.ParseVLANs(bridge.VIDs); err == nil && len(vids) > 0 && !vids.Contains(on.VLAN) {
		change["bridge_vids"] = strings.TrimSpace(bridge.VIDs) + " " + strconv.Itoa(int(on.VLAN))
		why = append(why, fmt.Sprintf("lets only VLANs %s through", bridge.VIDs))
	}
	if len(why) == 0 {
		return out
	}
	return append(out, Item{
		Message:  fmt.Sprintf("%s on node %s %s, and the plan's segment is VLAN %d there", bridge.Name, node, strings.Join(why, " and "), on.VLAN),
		Commands: []string{pvesh("set", path, change), reload},
	})
}

// find gives a bridge or VNet of a node; known is false where the node's
// interfaces are not known.
func (s Surroundings) find(node, name string) (bridge *inventory.Interface, known bool) {
	at := slices.IndexFunc(s.Nodes, func(n inventory.Node) bool { return n.Name == node })
	if at < 0 || len(s.Nodes[at].Interfaces) == 0 {
		return nil, false
	}
	for i, x := range s.Nodes[at].Interfaces {
		if x.Name == name {
			return &s.Nodes[at].Interfaces[i], true
		}
	}
	return nil, true
}

// bridgeMTU is the MTU of a card's bridge, zero when it is not known.
func (b *builder) bridgeMTU(c Card) int {
	if bridge, _ := b.s.find(b.a.Node, c.Bridge); bridge != nil {
		return bridge.MTU
	}
	return 0
}
