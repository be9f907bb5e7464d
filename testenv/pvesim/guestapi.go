package pvesim

import (
	"slices"
	"strconv"
	"strings"
)

// guest gives the guest of the path. One that is elsewhere, or of the other kind,
// does not exist on that node.
func (c *call) guest() (*Guest, error) {
	kind := c.kind()
	g, ok := c.state.guestByName(c.params["vmid"])
	if !ok || g.Kind != kind || g.Node != c.params["node"] {
		return nil, refuse("Configuration file 'nodes/%s/%s/%s.conf' does not exist", c.params["node"], kind.directory(), c.params["vmid"])
	}
	return g, nil
}

func listGuests(c *call) (any, error) {
	kind := GuestKind(strings.TrimPrefix(c.method.Path, "/nodes/{node}/"))
	list := []entry{}
	for _, id := range c.state.guests.keys() {
		g, _ := c.state.guests.get(id)
		if g.Kind == kind && g.Node == c.params["node"] && c.state.may(c.token, "/vms/"+strconv.Itoa(id), "VM.Audit") {
			e := c.summary(g)
			if kind == LXC {
				e["type"] = "lxc"
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// getGuestConfig shows the configuration of the next start; current=1 the one in
// force.
func getGuestConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if name := c.params["snapshot"]; name != "" {
		return nil, refuse("snapshot '%s' does not exist", name)
	}
	config := g.future()
	if c.params["current"] == "1" {
		config = g.Config
	}
	e := entry{"digest": g.digest()}
	for k, v := range config {
		e[k] = configValue(k, v)
	}
	return e, nil
}

// textKeys are those whose value is text even when it looks like a number.
var textKeys = []string{"name", "hostname", "description", "tags", "ostype", "digest", "memory", "cpulimit", "ciuser", "cipassword", "lock", "agent", "hotplug"}

func configValue(key, value string) any {
	if slices.Contains(textKeys, key) || strings.Trim(key, "0123456789") != key {
		return value
	}
	return scalar(value)
}

func getGuestPending(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	list := []entry{}
	for _, key := range sorted(g.Config) {
		e := entry{"key": key, "value": configValue(key, g.Config[key])}
		if v, ok := g.Pending[key]; ok {
			e["pending"] = configValue(key, v)
		}
		if slices.Contains(g.Deleted, key) {
			e["delete"] = 1
		}
		list = append(list, e)
	}
	for _, key := range sorted(g.Pending) {
		if _, ok := g.Config[key]; !ok {
			list = append(list, entry{"key": key, "pending": configValue(key, g.Pending[key])})
		}
	}
	return append(list, entry{"key": "digest", "value": g.digest()}), nil
}

func getGuestStatus(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	e := c.summary(g)
	e["ha"] = entry{"managed": 0}
	if g.Kind == QEMU {
		e["qmpstatus"] = g.status()
		if g.hasAgent() {
			e["agent"] = 1
		}
	} else {
		e["type"] = "lxc"
	}
	return e, nil
}

// hasAgent says whether the configuration switches the agent on.
func (g *Guest) hasAgent() bool {
	for _, part := range strings.Split(g.Config["agent"], ",") {
		if part == "1" || part == "enabled=1" {
			return true
		}
	}
	return false
}

func getAgentInterfaces(c *call) (any, error) {
	g, err := c.guest()
	switch {
	case err != nil:
		return nil, err
	case !g.hasAgent():
		return nil, refuse("No QEMU guest agent configured")
	case !g.Running:
		return nil, refuse("VM %d is not running", g.VMID)
	case !g.Agent:
		return nil, refuse("QEMU guest agent is not running")
	}
	list := []entry{{"name": "lo", "hardware-address": "00:00:00:00:00:00", "ip-addresses": []entry{agentAddress("127.0.0.1/8")}}}
	for _, i := range g.Live {
		list = append(list, i.entry())
	}
	return entry{"result": list}, nil
}

func (i LiveInterface) entry() entry {
	addresses := []entry{}
	for _, a := range i.Addresses {
		addresses = append(addresses, agentAddress(a))
	}
	return entry{"name": i.Name, "hardware-address": strings.ToLower(i.MAC), "ip-addresses": addresses}
}

func agentAddress(cidr string) entry {
	host, bits, _ := strings.Cut(cidr, "/")
	kind := "ipv4"
	if strings.Contains(host, ":") {
		kind = "ipv6"
	}
	return entry{"ip-address": host, "ip-address-type": kind, "prefix": scalar(bits)}
}

// getContainerInterfaces gives null for a container that does not run.
func getContainerInterfaces(c *call) (any, error) {
	g, err := c.guest()
	if err != nil || !g.Running {
		return nil, err
	}
	list := []entry{{"name": "lo", "hwaddr": "00:00:00:00:00:00", "hardware-address": "00:00:00:00:00:00", "inet": "127.0.0.1/8", "ip-addresses": []entry{containerAddress("127.0.0.1/8")}}}
	for _, i := range g.Live {
		e := entry{"name": i.Name, "hwaddr": strings.ToLower(i.MAC), "hardware-address": strings.ToLower(i.MAC)}
		addresses := []entry{}
		for _, a := range i.Addresses {
			addresses = append(addresses, containerAddress(a))
			if key := map[bool]string{true: "inet6", false: "inet"}[strings.Contains(a, ":")]; e[key] == nil {
				e[key] = a
			}
		}
		e["ip-addresses"] = addresses
		list = append(list, e)
	}
	return list, nil
}

// containerAddress names the families as the kernel does.
func containerAddress(cidr string) entry {
	e := agentAddress(cidr)
	e["ip-address-type"] = map[any]string{"ipv4": "inet", "ipv6": "inet6"}[e["ip-address-type"]]
	return e
}
