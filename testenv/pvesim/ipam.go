package pvesim

import (
	"maps"
	"net/netip"
	"strconv"
	"strings"
)

// ipamSubnet are the addresses of one subnet in SDN's own IPAM, by address.
type ipamSubnet map[string]ipamEntry

type ipamEntry struct {
	MAC      string `json:"mac,omitempty"`
	VMID     int    `json:"vmid,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Gateway  bool   `json:"gateway,omitempty"`
}

func ipamKey(zone, cidr string) string { return zone + " " + cidr }

func within(cidr, address string) bool {
	p, err := netip.ParsePrefix(cidr)
	a, errA := netip.ParseAddr(address)
	return err == nil && errA == nil && p.Contains(a)
}

func listIPAMs(c *call) (any, error) {
	list := []entry{}
	if c.shows("/sdn/ipams/pve") && (c.params["type"] == "" || c.params["type"] == "pve") {
		list = append(list, entry{"ipam": "pve", "type": "pve"})
	}
	return list, nil
}

func getIPAM(c *call) (any, error) {
	if c.params["ipam"] != "pve" {
		return nil, refuse("sdn '%s' does not exist", c.params["ipam"])
	}
	return entry{"ipam": "pve", "type": "pve"}, nil
}

// getIPAMStatus lists the entries of zones that have DHCP; those of others count
// as taken all the same.
func getIPAMStatus(c *call) (any, error) {
	if c.params["ipam"] != "pve" {
		return nil, refuse("Currently only PVE IPAM is supported!")
	}
	config, _ := c.state.sdn.get("config")
	running, _ := c.state.sdn.get("running")
	list := []entry{}
	for _, key := range c.state.ipam.keys() {
		zone, cidr, _ := strings.Cut(key, " ")
		if z := config.Zones[zone]; z["dhcp"] == "" || z["ipam"] != "pve" {
			continue
		}
		vnet := running.Subnets[zone+"-"+strings.Replace(cidr, "/", "-", 1)]["vnet"]
		if vnet == "" || !c.shows("/sdn/zones/"+zone+"/"+vnet) {
			continue
		}
		sub, _ := c.state.ipam.get(key)
		for _, ip := range sorted(sub) {
			e := sub[ip].entry()
			e["zone"], e["subnet"], e["ip"], e["vnet"] = zone, cidr, ip, vnet
			list = append(list, e)
		}
	}
	return list, nil
}

func (i ipamEntry) entry() entry {
	e := entry{}
	if i.Gateway {
		e["gateway"] = 1
	}
	if i.MAC != "" {
		e["mac"] = i.MAC
	}
	if i.VMID != 0 {
		e["vmid"] = strconv.Itoa(i.VMID)
	}
	if i.Hostname != "" {
		e["hostname"] = i.Hostname
	}
	return e
}

// ipamOf finds the subnet of an address: among those that run, so that one which
// is not applied yet is not there. The key is empty in a zone without IPAM, where
// the server is content and does nothing.
func (c *call) ipamOf(ip string) (key string, sub ipamSubnet, err error) {
	running, _ := c.state.sdn.get("running")
	config, _ := c.state.sdn.get("config")
	for _, id := range sorted(running.Subnets) {
		p := running.Subnets[id]
		if p["vnet"] != c.params["vnet"] || !within(p["cidr"], ip) {
			continue
		}
		if config.Zones[p["zone"]]["ipam"] == "" {
			return "", nil, nil
		}
		key = ipamKey(p["zone"], p["cidr"])
		sub, ok := c.state.ipam.get(key)
		if !ok {
			return "", nil, refuse("subnet '%s' doesn't exist in IPAM DB", p["cidr"])
		}
		return key, sub, nil
	}
	return "", nil, refuse("can't find any subnet for ip %s", ip)
}

// createIP takes an address exactly once.
func createIP(c *call) (any, error) {
	ip := canonical(c.params["ip"])
	key, sub, err := c.ipamOf(ip)
	if err != nil || key == "" {
		return nil, err
	}
	if _, taken := sub[ip]; taken {
		return nil, refuse("IP '%s' already exist", ip)
	}
	next := maps.Clone(sub)
	next[ip] = ipamEntry{MAC: c.params["mac"]}
	c.state.ipam.set(key, next)
	return nil, nil
}

// putIP gives the address to a MAC, which loses the one it had.
func putIP(c *call) (any, error) {
	ip, mac := canonical(c.params["ip"]), c.params["mac"]
	key, sub, err := c.ipamOf(ip)
	if err != nil || key == "" {
		return nil, err
	}
	next := maps.Clone(sub)
	maps.DeleteFunc(next, func(_ string, e ipamEntry) bool { return mac != "" && e.MAC == mac })
	if _, taken := next[ip]; taken {
		return nil, refuse("IP '%s' already exist", ip)
	}
	vmid, _ := strconv.Atoi(c.params["vmid"]) // verified; absent is none
	next[ip] = ipamEntry{MAC: mac, VMID: vmid}
	c.state.ipam.set(key, next)
	return nil, nil
}

func deleteIP(c *call) (any, error) {
	ip := canonical(c.params["ip"])
	key, sub, err := c.ipamOf(ip)
	if err != nil || key == "" {
		return nil, err
	}
	if _, ok := sub[ip]; !ok {
		return nil, refuse("IP '%s' does not exist in IPAM DB", ip)
	}
	next := maps.Clone(sub)
	delete(next, ip)
	c.state.ipam.set(key, next)
	return nil, nil
}

func canonical(ip string) string {
	if a, err := netip.ParseAddr(ip); err == nil {
		return a.String()
	}
	return ip
}
