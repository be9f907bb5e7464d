package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// AddNode adds a node with the two bridges of the fresh state.
func (st *State) AddNode(name string) {
	st.nodes.set(name, newNode(name, len(st.nodes.all())+1))
}

// EditNode changes a node.
func (st *State) EditNode(name string, edit func(*Node)) error {
	old, ok := st.nodes.get(name)
	if !ok {
		return fmt.Errorf("no node %s", name)
	}
	n := *old
	n.Interfaces = slices.Clone(old.Interfaces)
	edit(&n)
	st.nodes.set(name, &n)
	return nil
}

// AddGuest adds a guest or replaces the one of that number. Node must exist, and
// so must Pool when it is given.
func (st *State) AddGuest(g Guest) error {
	if g.Kind != QEMU && g.Kind != LXC {
		return fmt.Errorf("guest %d: kind %q is neither %s nor %s", g.VMID, g.Kind, QEMU, LXC)
	}
	if g.VMID < 100 || g.VMID > 999999999 {
		return fmt.Errorf("guest %d: a number is 100 to 999999999", g.VMID)
	}
	if _, ok := st.nodes.get(g.Node); !ok {
		return fmt.Errorf("guest %d: no node %q", g.VMID, g.Node)
	}
	if _, ok := st.pools.get(g.Pool); g.Pool != "" && !ok {
		return fmt.Errorf("guest %d: no pool %q", g.VMID, g.Pool)
	}
	st.guests.set(g.VMID, g.clone())
	return nil
}

// EditGuest changes a guest.
func (st *State) EditGuest(vmid int, edit func(*Guest)) error {
	old, ok := st.guests.get(vmid)
	if !ok {
		return fmt.Errorf("no guest %d", vmid)
	}
	g := old.clone()
	g.Live = slices.Clone(old.Live)
	edit(g)
	st.guests.set(vmid, g)
	return nil
}

// Start lets a guest run; what was pending is then in force.
func (st *State) Start(vmid int) error {
	return st.EditGuest(vmid, func(g *Guest) {
		g.settle()
		g.Running = true
	})
}

// Guest gives a copy of a guest.
func (st *State) Guest(vmid int) (Guest, bool) {
	g, ok := st.guests.get(vmid)
	if !ok {
		return Guest{}, false
	}
	return *g.clone(), true
}

// AddVLAN adds what a bridge's VLAN looks like on a node that was set up by hand:
// the interface UPLINK.TAG, and with a bridge's name a bridge of its own on it.
func (st *State) AddVLAN(node, uplink string, tag int, bridge, cidr string) error {
	name := uplink + "." + strconv.Itoa(tag)
	return st.EditNode(node, func(n *Node) {
		vlan := Interface{Name: name, Type: "vlan", VLAN: tag, Raw: uplink}
		if bridge == "" {
			vlan.CIDR = cidr
			n.Interfaces = append(n.Interfaces, vlan)
			return
		}
		n.Interfaces = append(n.Interfaces, vlan, Interface{Name: bridge, Type: "bridge", Ports: []string{name}, CIDR: cidr})
	})
}

// editSDN changes the configuration and, as if it were applied, what runs.
func (st *State) editSDN(change func(*sdnConfig)) {
	for _, which := range []string{"config", "running"} {
		old, _ := st.sdn.get(which)
		next := old.clone()
		change(next)
		st.sdn.set(which, next)
	}
}

// AddZone adds an SDN zone, applied. Its properties are as the API has them: for
// one on a bridge {"type": "vlan", "bridge": "vmbr0", "ipam": "pve"}.
func (st *State) AddZone(name string, p map[string]string) {
	st.editSDN(func(s *sdnConfig) { s.Zones[name] = maps.Clone(p) })
}

// AddVNet adds a VNet, applied; a tag of zero is none.
func (st *State) AddVNet(name, zone string, tag int) {
	p := properties{"type": "vnet", "zone": zone}
	if tag != 0 {
		p["tag"] = strconv.Itoa(tag)
	}
	st.editSDN(func(s *sdnConfig) { s.VNets[name] = maps.Clone(p) })
}

// AddSubnet adds a subnet of a VNet, applied, and makes it known to IPAM. The
// gateway may be empty; a range is two addresses with a dash between them.
func (st *State) AddSubnet(vnet, cidr, gateway string, dhcp ...string) error {
	config, _ := st.sdn.get("config")
	v, ok := config.VNets[vnet]
	if !ok {
		return fmt.Errorf("subnet %s: no vnet %q", cidr, vnet)
	}
	zone := v["zone"]
	p := properties{"type": "subnet", "vnet": vnet, "zone": zone, "cidr": cidr}
	sub := ipamSubnet{}
	if gateway != "" {
		p["gateway"], sub[gateway] = gateway, ipamEntry{Gateway: true}
	}
	var list []string
	for _, r := range dhcp {
		first, last, _ := strings.Cut(r, "-")
		list = append(list, "start-address="+first+",end-address="+last)
	}
	if len(list) > 0 {
		p["dhcp-range"] = strings.Join(list, " ")
	}
	st.editSDN(func(s *sdnConfig) { s.Subnets[zone+"-"+strings.Replace(cidr, "/", "-", 1)] = maps.Clone(p) })
	st.ipam.set(ipamKey(zone, cidr), sub)
	return nil
}

// AddIP adds an address to SDN's IPAM as a guest's.
func (st *State) AddIP(zone, cidr, ip, mac, hostname string, vmid int) error {
	sub, ok := st.ipam.get(ipamKey(zone, cidr))
	if !ok {
		return fmt.Errorf("address %s: IPAM has no subnet %s in zone %s", ip, cidr, zone)
	}
	next := maps.Clone(sub)
	next[ip] = ipamEntry{MAC: mac, VMID: vmid, Hostname: hostname}
	st.ipam.set(ipamKey(zone, cidr), next)
	return nil
}

// AddPool adds a resource pool or changes its comment.
func (st *State) AddPool(id, comment string) { st.pools.set(id, Pool{Comment: comment}) }

// Pools gives the pools by id.
func (st *State) Pools() map[string]Pool { return maps.Clone(st.pools.all()) }

// Nodes gives the names of the nodes, ascending.
func (st *State) Nodes() []string { return st.nodes.keys() }
