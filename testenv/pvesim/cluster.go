package pvesim

import (
	"strconv"
)

func getVersion(*call) (any, error) {
	return entry{"version": "9.2.1", "release": "9.2", "repoid": "51e4b1a9c7d6f3a2"}, nil
}

func getClusterStatus(c *call) (any, error) {
	list := []entry{{"type": "cluster", "id": "cluster", "name": c.state.name, "version": 3, "nodes": len(c.state.nodes.all()), "quorate": number01(c.state.quorate)}}
	for _, name := range c.state.nodes.keys() {
		n, _ := c.state.nodes.get(name)
		list = append(list, entry{"type": "node", "id": "node/" + name, "name": name, "nodeid": n.ID, "ip": n.Address, "online": number01(n.Online), "local": number01(name == c.node), "level": ""})
	}
	return list, nil
}

func getNextID(c *call) (any, error) {
	if given, ok := c.params["vmid"]; ok {
		if _, taken := c.state.guestByName(given); taken {
			return nil, wrongParam("vmid", "VM %s already exists", given)
		}
		return given, nil
	}
	for id := 100; ; id++ {
		if _, taken := c.state.guests.get(id); !taken {
			return strconv.Itoa(id), nil
		}
	}
}

// getResources lists what the token may see: guests by VM.Audit, pools by
// Pool.Audit, SDN zones by SDN.Audit.
func getResources(c *call) (any, error) {
	want := c.params["type"]
	list := []entry{}
	if want == "" {
		for _, name := range c.state.pools.keys() {
			if c.state.may(c.token, "/pool/"+name, "Pool.Audit") {
				list = append(list, entry{"id": "/pool/" + name, "type": "pool", "pool": name})
			}
		}
	}
	if want == "" || want == "vm" {
		for _, id := range c.state.guests.keys() {
			g, _ := c.state.guests.get(id)
			if c.state.may(c.token, "/vms/"+strconv.Itoa(id), "VM.Audit") {
				list = append(list, c.resource(g))
			}
		}
	}
	if want == "" || want == "node" {
		for _, name := range c.state.nodes.keys() {
			n, _ := c.state.nodes.get(name)
			list = append(list, entry{"id": "node/" + name, "type": "node", "node": name, "status": n.status(), "level": ""})
		}
	}
	if want == "" || want == "sdn" {
		list = append(list, c.zoneResources()...)
	}
	return list, nil
}

// zoneResources are the applied zones on each node.
func (c *call) zoneResources() []entry {
	list := []entry{}
	running, _ := c.state.sdn.get("running")
	for _, name := range c.state.nodes.keys() {
		for _, zone := range append([]string{"localnetwork"}, sorted(running.Zones)...) {
			if c.state.may(c.token, "/sdn/zones/"+zone, "SDN.Audit") {
				n, _ := c.state.nodes.get(name)
				list = append(list, entry{"id": "sdn/" + name + "/" + zone, "type": "sdn", "node": name, "sdn": zone, "status": n.zoneStatus(zone)})
			}
		}
	}
	return list
}

// resource is a guest in the list of all.
func (c *call) resource(g *Guest) entry {
	vmid := strconv.Itoa(g.VMID)
	e := c.summary(g)
	e["id"], e["type"], e["node"] = string(g.Kind)+"/"+vmid, string(g.Kind), g.Node
	if n, ok := c.state.nodes.get(g.Node); ok && !n.Online {
		e["status"] = "unknown"
	}
	if g.Pool != "" {
		e["pool"] = g.Pool
	}
	return e
}

// summary is what every list says of a guest.
func (c *call) summary(g *Guest) entry {
	e := entry{"vmid": g.VMID, "status": g.status(), "template": 0, "maxmem": 2147483648, "maxcpu": 2, "uptime": 3600 * number01(g.Running)}
	if g.Config["template"] == "1" {
		e["template"] = 1
	}
	name := g.name()
	if name == "" {
		name = map[GuestKind]string{QEMU: "VM ", LXC: "CT"}[g.Kind] + strconv.Itoa(g.VMID)
	}
	e["name"] = name
	if tags := g.Config["tags"]; tags != "" {
		e["tags"] = tags
	}
	if lock := g.Config["lock"]; lock != "" {
		e["lock"] = lock
	}
	return e
}

func (g *Guest) status() string {
	if g.Running {
		return "running"
	}
	return "stopped"
}
