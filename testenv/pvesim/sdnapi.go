package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// notOptions are parameters of SDN requests that are no properties.
var notOptions = []string{"lock-token", "digest", "delete", "type"}

// given are the properties that a request sets.
func (c *call) given(except ...string) properties {
	p := properties{}
	for k, v := range c.params {
		if !slices.Contains(notOptions, k) && !slices.Contains(except, k) {
			p[k] = v
		}
	}
	for k, v := range c.lists {
		p[k] = strings.Join(v, " ")
	}
	return p
}

// shows says whether the token may see an object; zones are seen by rights on the
// zone, VNets by those on the VNet.
func (c *call) shows(path string) bool {
	return c.state.may(c.token, path, "SDN.Audit", "SDN.Allocate")
}

func listZones(c *call) (any, error) {
	list := []entry{}
	all := c.objects("zone")
	for _, id := range sorted(all) {
		if c.shows("/sdn/zones/"+id) && (c.params["type"] == "" || c.params["type"] == all[id]["type"]) {
			list = append(list, all[id])
		}
	}
	return list, nil
}

func getZone(c *call) (any, error) {
	z, ok := c.objects("zone")[c.params["zone"]]
	if !ok {
		return nil, refuse("sdn '%s' does not exist", c.params["zone"])
	}
	return z, nil
}

func createZone(c *call) (any, error) {
	id := c.params["zone"]
	config, _ := c.state.sdn.get("config")
	if _, ok := config.Zones[id]; ok {
		return nil, refuse("create sdn zone object failed: sdn zone object ID '%s' already defined", id)
	}
	kind := c.params["type"]
	if needs := map[string]string{"vlan": "bridge", "qinq": "bridge", "vxlan": "peers", "evpn": "controller"}[kind]; needs != "" && c.params[needs] == "" {
		return nil, wrongParam(needs, "missing value for required option '%s'", needs)
	}
	p := c.given("zone")
	p["type"] = kind
	if p["ipam"] == "" {
		p["ipam"] = "pve"
	}
	c.edit(func(s *sdnConfig) { s.Zones[id] = p })
	return nil, nil
}

func putZone(c *call) (any, error) { return c.update("zone", c.params["zone"]) }

func deleteZone(c *call) (any, error) {
	id := c.params["zone"]
	config, _ := c.state.sdn.get("config")
	if _, ok := config.Zones[id]; !ok {
		return nil, refuse("delete sdn zone object failed: sdn '%s' does not exist", id)
	}
	for _, v := range sorted(config.VNets) {
		if config.VNets[v]["zone"] == id {
			return nil, refuse("delete sdn zone object failed: zone %s is used by vnet %s", id, v)
		}
	}
	c.edit(func(s *sdnConfig) { delete(s.Zones, id) })
	return nil, nil
}

// update changes the properties of an object that exists.
func (c *call) update(kind, id string) (any, error) {
	config, _ := c.state.sdn.get("config")
	old, ok := config.part(kind)[id]
	if !ok {
		return nil, refuse("update sdn %s object failed: sdn %s '%s' does not exist", kind, kind, id)
	}
	if unchanged(c, config.digest(kind)) != nil {
		return nil, errModified()
	}
	p := maps.Clone(old)
	for _, name := range splitList(c.params["delete"]) {
		delete(p, name)
	}
	maps.Copy(p, c.given(kind, "vnet"))
	c.edit(func(s *sdnConfig) { s.part(kind)[id] = p })
	return nil, nil
}

// vnet gives the configured VNet of the path, once the token has a right on it.
func (c *call) vnet(anyOf ...string) (properties, error) {
	id := c.params["vnet"]
	config, _ := c.state.sdn.get("config")
	v, ok := config.VNets[id]
	if !ok {
		return nil, refuse("sdn vnet '%s' does not exist", id)
	}
	path := "/sdn/zones/" + v["zone"] + "/" + id
	if !c.state.may(c.token, path, anyOf...) {
		return nil, forbidden(path, anyOf...)
	}
	return v, nil
}

func listVNets(c *call) (any, error) {
	list := []entry{}
	all := c.objects("vnet")
	for _, id := range sorted(all) {
		zone, _ := all[id]["zone"].(string)
		if c.shows("/sdn/zones/" + zone + "/" + id) {
			list = append(list, all[id])
		}
	}
	return list, nil
}

func getVNet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Audit", "SDN.Allocate"); err != nil {
		return nil, err
	}
	v, ok := c.objects("vnet")[c.params["vnet"]]
	if !ok {
		return nil, refuse("sdn vnet '%s' does not exist", c.params["vnet"])
	}
	return v, nil
}

func createVNet(c *call) (any, error) {
	id, zone := c.params["vnet"], c.params["zone"]
	config, _ := c.state.sdn.get("config")
	z, ok := config.Zones[zone]
	switch _, exists := config.VNets[id]; {
	case exists:
		return nil, refuse("create sdn vnet object failed: sdn vnet object ID '%s' already defined", id)
	case !ok:
		return nil, refuse("create sdn vnet object failed: sdn '%s' does not exist", zone)
	case c.params["tag"] == "" && z["type"] != "simple":
		return nil, refuse("create sdn vnet object failed: missing vlan tag")
	case c.params["tag"] != "" && z["type"] == "simple":
		return nil, refuse("create sdn vnet object failed: vlan tag is not allowed on simple zone")
	}
	for _, other := range sorted(config.VNets) {
		if v := config.VNets[other]; v["zone"] == zone && v["tag"] == c.params["tag"] && v["tag"] != "" {
			return nil, refuse("create sdn vnet object failed: tag %s already exist in zone %s", v["tag"], zone)
		}
	}
	p := c.given("vnet")
	p["type"] = "vnet"
	c.edit(func(s *sdnConfig) { s.VNets[id] = p })
	return nil, nil
}

func putVNet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Allocate"); err != nil {
		return nil, err
	}
	return c.update("vnet", c.params["vnet"])
}

func deleteVNet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Allocate"); err != nil {
		return nil, err
	}
	id := c.params["vnet"]
	config, _ := c.state.sdn.get("config")
	for _, sub := range sorted(config.Subnets) {
		if config.Subnets[sub]["vnet"] == id {
			return nil, refuse("delete sdn vnet object failed: can't delete vnet if subnets exists")
		}
	}
	c.edit(func(s *sdnConfig) { delete(s.VNets, id) })
	return nil, nil
}
