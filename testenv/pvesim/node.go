package pvesim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Node is one Proxmox host.
type Node struct {
	Name string `json:"name"`
	ID   int    `json:"id"`
	// Address is where the cluster knows it.
	Address string `json:"address"`
	Online  bool   `json:"online"`
	// SDNFailed says that the last reload of SDN went wrong here.
	SDNFailed  bool        `json:"sdn_failed,omitempty"`
	Interfaces []Interface `json:"interfaces"`
}

// Interface is a network interface of a node.
type Interface struct {
	Name string `json:"name"`
	// Type is eth, bridge, bond, vlan and so on.
	Type string `json:"type"`
	// Ports are a bridge's, or a bond's slaves.
	Ports []string `json:"ports,omitempty"`
	// CIDR is its IPv4 address, Gateway the default route's.
	CIDR    string `json:"cidr,omitempty"`
	Gateway string `json:"gateway,omitempty"`
	// VLANAware and VIDs are a bridge's, VLAN and Raw a vlan's.
	VLANAware bool   `json:"vlan_aware,omitempty"`
	VIDs      string `json:"vids,omitempty"`
	VLAN      int    `json:"vlan,omitempty"`
	Raw       string `json:"raw,omitempty"`
	MTU       int    `json:"mtu,omitempty"`
	Comments  string `json:"comments,omitempty"`
	Inactive  bool   `json:"inactive,omitempty"`
}

// newNode is a node of the fresh state.
func newNode(name string, id int) *Node {
	host := strconv.Itoa(10 + id)
	return &Node{Name: name, ID: id, Address: "10.255.0." + host, Online: true, Interfaces: []Interface{
		{Name: "eno1", Type: "eth"},
		{Name: "eno2", Type: "eth"},
		{Name: "vmbr0", Type: "bridge", Ports: []string{"eno1"}, CIDR: "10.255.0." + host + "/24", Gateway: "10.255.0.1", VLANAware: true, VIDs: "2-4094"},
		{Name: "vmbr1", Type: "bridge", Ports: []string{"eno2"}, VLANAware: true, VIDs: "2-4094"},
	}}
}

// entry is the interface as the API shows it: mtu and vlan-id are text.
func (i Interface) entry(priority int) entry {
	e := entry{"iface": i.Name, "type": i.Type, "method": "manual", "method6": "manual", "families": []string{"inet"}, "priority": priority, "exists": 1}
	if !i.Inactive {
		e["active"] = 1
	}
	if i.Type != "eth" {
		e["autostart"] = 1
	}
	if i.CIDR != "" {
		host, _, _ := strings.Cut(i.CIDR, "/")
		e["method"], e["address"], e["netmask"], e["cidr"] = "static", host, strings.TrimPrefix(i.CIDR, host+"/"), i.CIDR
	}
	if i.Gateway != "" {
		e["gateway"] = i.Gateway
	}
	if i.MTU != 0 {
		e["mtu"] = strconv.Itoa(i.MTU)
	}
	if i.Comments != "" {
		e["comments"] = i.Comments + "\n"
	}
	switch i.Type {
	case "bridge":
		e["bridge_ports"], e["bridge_stp"], e["bridge_fd"] = strings.Join(i.Ports, " "), "off", "0"
		if i.VLANAware {
			e["bridge_vlan_aware"], e["bridge_vids"] = 1, i.VIDs
		}
	case "bond":
		e["slaves"], e["bond_mode"] = strings.Join(i.Ports, " "), "active-backup"
	case "vlan":
		e["vlan-id"], e["vlan-raw-device"] = strconv.Itoa(i.VLAN), i.Raw
	}
	return e
}

func (i Interface) isBridge() bool { return i.Type == "bridge" || i.Type == "OVSBridge" }

// listInterfaces leaves out the bridges on which the token has no right, without a
// word about it.
func listInterfaces(c *call) (any, error) {
	n, err := c.nodeOf()
	if err != nil {
		return nil, err
	}
	want := c.params["type"]
	list := []entry{}
	for at, i := range n.Interfaces {
		if i.isBridge() && !c.state.mayBridge(c.token, "localnetwork", i.Name, "SDN.Audit", "SDN.Use") {
			continue
		}
		if want == "" || want == "include_sdn" || want == i.Type || i.isBridge() && (want == "any_bridge" || want == "any_local_bridge") {
			list = append(list, i.entry(at+3))
		}
	}
	if want == "include_sdn" || want == "any_bridge" || want == "vnet" {
		list = append(list, c.localVNets()...)
	}
	return list, nil
}

// localVNets are the applied VNets that the token may see, as interfaces.
func (c *call) localVNets() []entry {
	list := []entry{}
	running, _ := c.state.sdn.get("running")
	for _, name := range sorted(running.VNets) {
		v := running.VNets[name]
		if !c.state.mayBridge(c.token, v["zone"], name, "SDN.Audit", "SDN.Use") {
			continue
		}
		comment := v["alias"]
		if comment == "" {
			comment = name
		}
		list = append(list, entry{"iface": name, "type": "vnet", "active": 1, "comments": comment})
	}
	return list
}

func getInterface(c *call) (any, error) {
	n, err := c.nodeOf()
	if err != nil {
		return nil, err
	}
	for at, i := range n.Interfaces {
		if i.Name == c.params["iface"] {
			e := i.entry(at + 3)
			delete(e, "iface")
			return e, nil
		}
	}
	return nil, wrongParam("iface", "interface does not exist")
}

// nodeOf gives the node of the path, which is one of the cluster.
func (c *call) nodeOf() (*Node, error) {
	n, ok := c.state.nodes.get(c.params["node"])
	if !ok {
		return nil, refuse("no such cluster node '%s'", c.params["node"])
	}
	return n, nil
}

func listNodes(c *call) (any, error) {
	list := []entry{}
	for _, name := range c.state.nodes.keys() {
		n, _ := c.state.nodes.get(name)
		list = append(list, entry{"node": name, "id": "node/" + name, "type": "node", "status": n.status(), "level": "", "ssl_fingerprint": fakeFingerprint(n.ID)})
	}
	return list, nil
}

func (n *Node) status() string {
	if n.Online {
		return "online"
	}
	return "offline"
}

func fakeFingerprint(id int) string {
	return strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%02X:", id), 32), ":")
}

// bridgePorts are a bridge's ports: the node's own, and those of running guests.
func (c *call) bridgePorts(n *Node, bridge string) []entry {
	ports := []entry{}
	at := slices.IndexFunc(n.Interfaces, func(i Interface) bool { return i.Name == bridge })
	aware := at >= 0 && n.Interfaces[at].VLANAware
	port := func(name string) entry {
		e := entry{"name": name}
		if aware {
			e["primary_vlan"], e["vlans"] = 1, []string{n.Interfaces[at].VIDs}
		}
		return e
	}
	if at >= 0 {
		for _, name := range n.Interfaces[at].Ports {
			ports = append(ports, port(name))
		}
	}
	for _, id := range c.state.guests.keys() {
		g, _ := c.state.guests.get(id)
		if g.Node != n.Name || !g.Running {
			continue
		}
		for _, key := range sorted(g.Config) {
			nic := parseNIC(g.Config[key])
			if !netKey(key) || nic["bridge"] != bridge {
				continue
			}
			e := port(map[GuestKind]string{QEMU: "tap", LXC: "veth"}[g.Kind] + strconv.Itoa(id) + "i" + key[3:])
			e["vmid"], e["index"] = id, key[3:]
			if tag, err := strconv.Atoi(nic["tag"]); err == nil && aware {
				e["primary_vlan"], e["vlans"] = tag, []string{}
			}
			ports = append(ports, e)
		}
	}
	return ports
}
