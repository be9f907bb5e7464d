package pvesim

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// control are parameters of a configuration request that are no options.
var control = []string{"node", "vmid", "delete", "digest", "revert", "force", "skiplock", "background_delay", "import-working-storage"}

// putGuestConfigLater is the asynchronous form: its answer is a task.
func putGuestConfigLater(c *call) (any, error) {
	if _, err := putGuestConfig(c); err != nil {
		return nil, err
	}
	return upid(c.params["node"], "qmconfig", c.params["vmid"], c.token.ID), nil
}

// putGuestConfig changes options of a guest. In a running one what cannot be
// changed under it waits for the next start.
func putGuestConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if unchanged(c, g.digest()) != nil {
		return nil, errModified()
	}
	if lock := g.Config["lock"]; lock != "" && c.params["skiplock"] != "1" {
		return nil, refuse("%s is locked (%s)", g.Kind.called(), lock)
	}
	sets, drops, err := c.changes()
	if err != nil {
		return nil, err
	}
	next := g.clone()
	for _, key := range splitList(c.params["revert"]) {
		delete(next.Pending, key)
		next.Deleted = slices.DeleteFunc(next.Deleted, func(k string) bool { return k == key })
	}
	for _, key := range drops {
		delete(next.Pending, key)
		if _, ok := next.Config[key]; ok && !slices.Contains(next.Deleted, key) {
			next.Deleted = append(next.Deleted, key)
		}
	}
	for key, value := range sets {
		next.Pending[key] = value
		next.Deleted = slices.DeleteFunc(next.Deleted, func(k string) bool { return k == key })
	}
	slices.Sort(next.Deleted)
	for _, nic := range next.settle() {
		c.sim.journal.note(func(j *journal) { j.replugs = append(j.replugs, Replug{VMID: g.VMID, NIC: nic}) })
	}
	c.state.guests.set(g.VMID, next)
	return nil, nil
}

// changes gives the options that a request sets and deletes, once the token may.
func (c *call) changes() (sets map[string]string, drops []string, err error) {
	sets = map[string]string{}
	for key, value := range c.params {
		if slices.Contains(control, key) || slices.Contains(creation, key) {
			continue
		}
		if err := c.mayOption(key); err != nil {
			return nil, nil, err
		}
		if netKey(key) {
			p := c.method.property(key)
			nic, _ := p.parseKeys(value) // checked with the other parameters
			if err := c.mayAttach(nic["bridge"], nic["tag"]); err != nil {
				return nil, nil, err
			}
			value = completeNIC(p, nic, c.params["vmid"]+key)
		}
		sets[key] = value
	}
	drops = splitList(c.params["delete"])
	for _, key := range drops {
		if c.method.property(key) == nil || slices.Contains(control, key) {
			return nil, nil, wrongParam("delete", "unknown option '%s'", key)
		}
		if _, both := sets[key]; both {
			return nil, nil, wrongParam("delete", "duplicate parameter - you can't use '%s' and '-delete %s' at the same time", key, key)
		}
		if err := c.mayOption(key); err != nil {
			return nil, nil, err
		}
	}
	return sets, drops, nil
}

// mayOption checks the privilege that an option needs.
func (c *call) mayOption(key string) error {
	privilege := "VM.Config.Options"
	switch strings.TrimRight(key, "0123456789") {
	case "net", "ipconfig", "nameserver", "searchdomain", "hostname":
		privilege = "VM.Config.Network"
	case "scsi", "virtio", "sata", "ide", "unused", "rootfs", "mp", "efidisk", "tpmstate":
		privilege = "VM.Config.Disk"
	case "cores", "sockets", "cpu", "cpulimit", "cpuunits", "vcpus", "numa":
		privilege = "VM.Config.CPU"
	case "memory", "balloon", "swap":
		privilege = "VM.Config.Memory"
	case "vga", "serial", "machine", "bios", "scsihw", "usb", "rng", "hostpci", "watchdog":
		privilege = "VM.Config.HWType"
	case "ciuser", "cipassword", "sshkeys", "citype", "ciupgrade", "cicustom":
		privilege = "VM.Config.Cloudinit"
	}
	path := "/vms/" + c.params["vmid"]
	if privilege == "VM.Config.Network" && strings.HasPrefix(key, "ipconfig") && c.mayGuest("VM.Config.Cloudinit") {
		return nil
	}
	if !c.mayGuest(privilege) {
		return forbidden(path, privilege)
	}
	return nil
}

// mayAttach checks SDN.Use on the bridge or VNet, or on its VLAN.
func (c *call) mayAttach(bridge, tag string) error {
	if bridge == "" {
		return nil
	}
	zone := "localnetwork"
	running, _ := c.state.sdn.get("running")
	if v, ok := running.VNets[bridge]; ok {
		zone = v["zone"]
	}
	path := "/sdn/zones/" + zone + "/" + bridge
	if tag != "" {
		path += "/" + tag
	}
	if !c.state.may(c.token, path, "SDN.Use") {
		return forbidden(path, "SDN.Use")
	}
	return nil
}

func netKey(key string) bool {
	digits, ok := strings.CutPrefix(key, "net")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// parseNIC reads a stored netN; a VM's model and MAC are under model and macaddr.
func parseNIC(text string) map[string]string {
	nic := map[string]string{}
	for i, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		if i == 0 && strings.Count(value, ":") == 5 && key != "hwaddr" && key != "macaddr" {
			nic["model"], key = key, "macaddr"
		}
		nic[key] = value
	}
	return nic
}

// completeNIC writes a NIC as it is stored, with a MAC when it came without: the
// same one for the same guest and NIC, so that tests can be repeated.
func completeNIC(p *property, nic map[string]string, seed string) string {
	key := "hwaddr"
	if p.Keys["macaddr"] != nil {
		key = "macaddr"
	}
	if nic[key] == "" {
		sum := sha256.Sum256([]byte(seed))
		nic[key] = fmt.Sprintf("BC:24:11:%02X:%02X:%02X", sum[0], sum[1], sum[2])
	}
	return p.printKeys(nic)
}
