package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// hotplug gives the features that a running VM's changes are made by.
func (g *Guest) hotplug() []string {
	switch v := g.Config["hotplug"]; v {
	case "", "1":
		return []string{"network", "disk", "usb"}
	case "0":
		return nil
	default:
		return splitList(v)
	}
}

// settle makes the pending changes that can be made now: all in a guest that does
// not run, what can be changed under it in one that does. It gives the NICs that a
// running VM lost, got or lost and got again.
func (g *Guest) settle() (replugged []string) {
	for _, key := range slices.Sorted(maps.Keys(g.Pending)) {
		value, old := g.Pending[key], g.Config[key]
		switch {
		case value == old:
		case !g.canChange(key, value):
			continue
		case g.replugs(key, value):
			replugged = append(replugged, key)
		}
		g.Config[key] = value
		delete(g.Pending, key)
	}
	g.Deleted = slices.DeleteFunc(g.Deleted, func(key string) bool {
		if !g.canChange(key, "") {
			return false
		}
		if g.replugs(key, "") {
			replugged = append(replugged, key)
		}
		delete(g.Config, key)
		return true
	})
	return replugged
}

// replugs says whether a change takes a NIC from under a running VM: one of model,
// MAC, queues or MTU does, and so do coming and going; another bridge, tag, rate
// or firewall flag does not.
func (g *Guest) replugs(key, value string) bool {
	if !g.Running || g.Kind != QEMU || !netKey(key) {
		return false
	}
	old := g.Config[key]
	if old == "" || value == "" {
		return true
	}
	before, after := parseNIC(old), parseNIC(value)
	for _, part := range []string{"model", "macaddr", "queues", "mtu"} {
		if before[part] != after[part] {
			return true
		}
	}
	return false
}

// atOnce are the options, without their numbers, that change in a running guest.
var atOnce = map[GuestKind][]string{
	QEMU: strings.Fields(`name description tags onboot startup protection hotplug lock ipconfig ciuser cipassword sshkeys nameserver
		searchdomain balloon shares cpulimit cpuunits hookscript`),
	LXC: strings.Fields(`net hostname nameserver searchdomain memory swap cores cpulimit cpuunits description tags onboot startup lock
		protection`),
}

// canChange says whether an option can have another value now.
func (g *Guest) canChange(key, value string) bool {
	if !g.Running {
		return true
	}
	if g.Kind == QEMU && netKey(key) {
		return !g.replugs(key, value) || slices.Contains(g.hotplug(), "network")
	}
	return slices.Contains(atOnce[g.Kind], strings.TrimRight(key, "0123456789"))
}
