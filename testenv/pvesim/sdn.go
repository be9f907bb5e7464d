package pvesim

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// properties are those of one SDN object, by name. A dhcp-range is one text, its
// ranges parted by spaces.
type properties map[string]string

// sdnConfig are zones, VNets and subnets by id. There are two: what is configured,
// and what runs since it was last applied. It is never changed in place.
type sdnConfig struct {
	Zones   map[string]properties `json:"zones,omitempty"`
	VNets   map[string]properties `json:"vnets,omitempty"`
	Subnets map[string]properties `json:"subnets,omitempty"`
}

func (s *sdnConfig) clone() *sdnConfig {
	deep := func(m map[string]properties) map[string]properties {
		out := make(map[string]properties, len(m))
		for k, v := range m {
			out[k] = maps.Clone(v)
		}
		return out
	}
	return &sdnConfig{Zones: deep(s.Zones), VNets: deep(s.VNets), Subnets: deep(s.Subnets)}
}

// sorted gives a map's keys in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// part gives one of the three kinds of objects.
func (s *sdnConfig) part(kind string) map[string]properties {
	switch kind {
	case "zone":
		return s.Zones
	case "vnet":
		return s.VNets
	}
	return s.Subnets
}

// numeric are the properties that the API gives as numbers.
var numeric = []string{"tag", "vlanaware", "mtu", "snat", "isolate-ports", "advertise-subnets", "vrf-vxlan", "vxlan-port"}

// object is an SDN object as the API shows it.
func object(kind, id string, p properties, digest string) entry {
	e := entry{kind: id, "digest": digest}
	for k, v := range p {
		e[k] = v
		if slices.Contains(numeric, k) {
			e[k] = scalar(v)
		}
	}
	if kind == "subnet" {
		e["id"] = id
		e["dhcp-range"] = ranges(p["dhcp-range"])
		_, network, _ := strings.Cut(p["cidr"], "/")
		e["network"], e["mask"] = strings.TrimSuffix(p["cidr"], "/"+network), network
	}
	return e
}

func ranges(text string) []entry {
	list := []entry{}
	for _, word := range strings.Fields(text) {
		e := entry{}
		for _, part := range strings.Split(word, ",") {
			k, v, _ := strings.Cut(part, "=")
			e[k] = v
		}
		list = append(list, e)
	}
	return list
}

// objects gives those of one kind as a request wants them: as configured, as they
// run, or with pending=1 both and what differs.
func (c *call) objects(kind string) map[string]entry {
	config, _ := c.state.sdn.get("config")
	running, _ := c.state.sdn.get("running")
	wanted, run := config.part(kind), running.part(kind)
	digest := config.digest(kind)
	out := map[string]entry{}
	if c.params["running"] == "1" && c.params["pending"] != "1" {
		for id, p := range run {
			out[id] = object(kind, id, p, digest)
		}
		return out
	}
	for id, p := range wanted {
		out[id] = object(kind, id, p, digest)
		if c.params["pending"] == "1" {
			mark(out[id], p, run[id])
		}
	}
	if c.params["pending"] == "1" {
		for id, p := range run {
			if _, ok := wanted[id]; !ok {
				out[id] = object(kind, id, p, digest)
				out[id]["state"] = "deleted"
			}
		}
	}
	return out
}

// mark says how an object differs from the one that runs.
func mark(e entry, wanted, run properties) {
	pending := entry{}
	for k, v := range wanted {
		if run[k] != v {
			pending[k] = v
		}
	}
	for k := range run {
		if _, ok := wanted[k]; !ok {
			pending[k] = "deleted"
		}
	}
	if len(pending) > 0 {
		e["pending"] = pending
		e["state"] = map[bool]string{true: "new", false: "changed"}[run == nil]
	}
}

// digest is that of the file of one kind.
func (s *sdnConfig) digest(kind string) string {
	text, err := json.Marshal(s.part(kind))
	if err != nil {
		panic("pvesim: properties that are no JSON: " + err.Error())
	}
	sum := sha1.Sum(text)
	return hex.EncodeToString(sum[:])
}

// edit changes the configuration.
func (c *call) edit(change func(*sdnConfig)) {
	config, _ := c.state.sdn.get("config")
	next := config.clone()
	change(next)
	c.state.sdn.set("config", next)
}

// applySDN makes the configuration the one that runs; its answer is a task. The
// task ends well even when a node could not reload.
func applySDN(c *call) (any, error) {
	config, _ := c.state.sdn.get("config")
	c.state.sdn.set("running", config.clone())
	return upid(c.node, "reloadnetworkall", "", c.token.ID), nil
}

// zoneStatus is a zone's on one node.
func (n *Node) zoneStatus(zone string) string {
	if n.SDNFailed && zone != "localnetwork" {
		return "error"
	}
	return "available"
}

func listNodeZones(c *call) (any, error) {
	n, err := c.nodeOf()
	if err != nil {
		return nil, err
	}
	list := []entry{}
	running, _ := c.state.sdn.get("running")
	for _, zone := range append([]string{"localnetwork"}, sorted(running.Zones)...) {
		if c.state.may(c.token, "/sdn/zones/"+zone, "SDN.Audit") {
			list = append(list, entry{"zone": zone, "status": n.zoneStatus(zone)})
		}
	}
	return list, nil
}

func getZoneContent(c *call) (any, error) {
	n, err := c.nodeOf()
	if err != nil {
		return nil, err
	}
	list := []entry{}
	zone := c.params["zone"]
	if zone == "localnetwork" {
		for _, i := range n.Interfaces {
			if i.isBridge() && c.state.mayBridge(c.token, zone, i.Name, "SDN.Audit") {
				list = append(list, entry{"vnet": i.Name, "status": n.zoneStatus(zone)})
			}
		}
		return list, nil
	}
	running, _ := c.state.sdn.get("running")
	for _, name := range sorted(running.VNets) {
		if running.VNets[name]["zone"] == zone && c.state.mayBridge(c.token, zone, name, "SDN.Audit") {
			list = append(list, entry{"vnet": name, "status": n.zoneStatus(zone)})
		}
	}
	return list, nil
}

func getZoneBridges(c *call) (any, error) {
	n, err := c.nodeOf()
	if err != nil {
		return nil, err
	}
	list := []entry{}
	zone := c.params["zone"]
	if zone == "localnetwork" {
		for _, i := range n.Interfaces {
			if i.isBridge() {
				list = append(list, entry{"name": i.Name, "vlan_filtering": scalarText(i.VLANAware), "ports": c.bridgePorts(n, i.Name)})
			}
		}
		return list, nil
	}
	running, _ := c.state.sdn.get("running")
	if _, ok := running.Zones[zone]; !ok {
		return nil, refuse("SDN zone '%s' does not exist", zone)
	}
	for _, name := range sorted(running.VNets) {
		if v := running.VNets[name]; v["zone"] == zone {
			list = append(list, entry{"name": name, "vlan_filtering": scalarText(v["vlanaware"] == "1"), "ports": c.bridgePorts(n, name)})
		}
	}
	return list, nil
}

func scalarText(b bool) string { return map[bool]string{true: "1", false: "0"}[b] }
