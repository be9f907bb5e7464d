package pvesim

import (
	"maps"
	"strings"
)

func listSubnets(c *call) (any, error) {
	if _, err := c.vnet("SDN.Audit", "SDN.Allocate"); err != nil {
		return nil, err
	}
	list := []entry{}
	all := c.objects("subnet")
	for _, id := range sorted(all) {
		if all[id]["vnet"] == c.params["vnet"] {
			list = append(list, all[id])
		}
	}
	return list, nil
}

func getSubnet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Audit", "SDN.Allocate"); err != nil {
		return nil, err
	}
	s, ok := c.objects("subnet")[c.params["subnet"]]
	if !ok {
		return nil, refuse("sdn subnet '%s' does not exist", c.params["subnet"])
	}
	if s["vnet"] != c.params["vnet"] {
		return nil, wrongParam("vnet", "wrong vnet")
	}
	return s, nil
}

// createSubnet makes the subnet known to IPAM at once, its gateway included; that
// addresses of it can be handed out it must be applied as well.
func createSubnet(c *call) (any, error) {
	v, err := c.vnet("SDN.Allocate")
	if err != nil {
		return nil, err
	}
	zone, cidr := v["zone"], c.params["subnet"]
	id := zone + "-" + strings.Replace(cidr, "/", "-", 1)
	config, _ := c.state.sdn.get("config")
	if _, ok := config.Subnets[id]; ok {
		return nil, refuse("create sdn subnet object failed: sdn subnet object ID '%s' already defined", id)
	}
	p := c.given("subnet")
	p["type"], p["cidr"], p["zone"] = "subnet", cidr, zone
	if gateway := p["gateway"]; gateway != "" && !within(cidr, gateway) {
		return nil, refuse("create sdn subnet object failed: gateway %s is not in subnet %s", gateway, cidr)
	}
	c.edit(func(s *sdnConfig) { s.Subnets[id] = p })
	if config.Zones[zone]["ipam"] != "" {
		sub := ipamSubnet{}
		if old, ok := c.state.ipam.get(ipamKey(zone, cidr)); ok {
			sub = maps.Clone(old)
		}
		if gateway := p["gateway"]; gateway != "" {
			sub[gateway] = ipamEntry{Gateway: true}
		}
		c.state.ipam.set(ipamKey(zone, cidr), sub)
	}
	return nil, nil
}

func putSubnet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Allocate"); err != nil {
		return nil, err
	}
	return c.update("subnet", c.params["subnet"])
}

// deleteSubnet refuses while IPAM has more of it than the gateway.
func deleteSubnet(c *call) (any, error) {
	if _, err := c.vnet("SDN.Allocate"); err != nil {
		return nil, err
	}
	id := c.params["subnet"]
	config, _ := c.state.sdn.get("config")
	p, ok := config.Subnets[id]
	if !ok {
		return nil, refuse("delete sdn subnet object failed: sdn subnet '%s' does not exist", id)
	}
	key := ipamKey(p["zone"], p["cidr"])
	if sub, ok := c.state.ipam.get(key); ok {
		for _, e := range sub {
			if !e.Gateway {
				return nil, refuse("delete sdn subnet object failed: cannot delete subnet '%s', not empty", p["cidr"])
			}
		}
		c.state.ipam.drop(key)
	}
	c.edit(func(s *sdnConfig) { delete(s.Subnets, id) })
	return nil, nil
}
