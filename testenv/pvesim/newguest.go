package pvesim

import (
	"net/http"
	"strconv"
	"strings"
)

// creation are parameters of making a guest that are no options of it.
var creation = []string{"archive", "bwlimit", "ha-managed", "ignore-unpack-errors", "live-restore", "ostemplate", "password", "pool",
	"restore", "ssh-public-keys", "start", "storage", "unique"}

// taskPrefix begins the names of tasks, and called is how messages call a guest.
func (k GuestKind) taskPrefix() string { return map[GuestKind]string{QEMU: "qm", LXC: "vz"}[k] }
func (k GuestKind) called() string     { return map[GuestKind]string{QEMU: "VM", LXC: "CT"}[k] }

// kind is that of the guest in the path.
func (c *call) kind() GuestKind {
	if strings.HasPrefix(c.method.Path, "/nodes/{node}/lxc") {
		return LXC
	}
	return QEMU
}

// done names the task of what has been done to the guest of a call.
func (c *call) done(what string) string {
	return upid(c.params["node"], c.kind().taskPrefix()+what, c.params["vmid"], c.token.ID)
}

// createGuest makes a VM or a container.
func createGuest(c *call) (any, error) {
	kind, pool := c.kind(), c.params["pool"]
	if c.params["restore"] == "1" || c.params["archive"] != "" {
		return nil, &problem{status: http.StatusNotImplemented, message: "the simulator has no backups to restore guests from"}
	}
	if _, ok := c.state.pools.get(pool); pool != "" && !ok {
		return nil, refuse("pool '%s' does not exist", pool)
	}
	if !c.mayGuest("VM.Allocate") {
		return nil, &problem{status: http.StatusForbidden, message: "Permission check failed"}
	}
	if kind == LXC {
		if err := c.containerDefaults(); err != nil {
			return nil, err
		}
	}
	config, _, err := c.changes()
	if err != nil {
		return nil, err
	}
	if old, ok := c.state.guestByName(c.params["vmid"]); ok {
		return nil, refuse("unable to create %s %s - %s %s already exists on node '%s'", kind.called(), c.params["vmid"], old.Kind.called(), c.params["vmid"], old.Node)
	}
	vmid, err := strconv.Atoi(c.params["vmid"])
	if err != nil {
		return nil, err // the schema has held it to be a number
	}
	g := &Guest{Kind: kind, VMID: vmid, Node: c.params["node"], Pool: pool, Config: config}
	if c.params["start"] == "1" {
		g.begin()
	}
	c.state.guests.set(g.VMID, g)
	return c.done("create"), nil
}

// containerDefaults fills in what a container has without being asked, and holds
// that one with the host's own root is for who may change the host.
func (c *call) containerDefaults() error {
	if c.params["unprivileged"] == "" {
		c.params["unprivileged"] = "1"
	}
	if c.params["unprivileged"] == "0" && !c.state.may(c.token, "/", "Sys.Modify") {
		return forbidden("/", "Sys.Modify")
	}
	if c.params["hostname"] == "" {
		c.params["hostname"] = "CT" + c.params["vmid"]
	}
	return nil
}

// destroyGuest takes away a guest that does not run, its firewall and its place in
// a pool.
func destroyGuest(c *call) (any, error) {
	g, err := c.unlocked()
	if err != nil {
		return nil, err
	}
	if g.Config["protection"] == "1" {
		return nil, refuse("can't remove %s %d - protection mode enabled", g.Kind.called(), g.VMID)
	}
	if g.Running && g.Kind == QEMU {
		return nil, refuse("VM %d is running - destroy failed", g.VMID)
	}
	if g.Running && c.params["force"] != "1" {
		return nil, refuse("unable to destroy CT %d - container is running", g.VMID)
	}
	c.state.guests.drop(g.VMID)
	c.state.SetFirewall(GuestScope(g.VMID), "")
	return c.done("destroy"), nil
}

// startGuest refuses a guest that runs, which a real cluster would say in the task.
func startGuest(c *call) (any, error) {
	g, err := c.unlocked()
	if err != nil {
		return nil, err
	}
	if g.Running {
		return nil, refuse("%s %d already running", g.Kind.called(), g.VMID)
	}
	next := g.clone()
	next.begin()
	c.state.guests.set(g.VMID, next)
	return c.done("start"), nil
}

// stopGuest does nothing to a VM that does not run, and refuses such a container.
func stopGuest(c *call) (any, error) {
	g, err := c.unlocked()
	if err != nil {
		return nil, err
	}
	if !g.Running && g.Kind == LXC {
		return nil, refuse("CT %d not running", g.VMID)
	}
	next := g.clone()
	next.settle()
	next.Running = false
	next.settle()
	c.state.guests.set(g.VMID, next)
	return c.done("stop"), nil
}

// unlocked gives the guest of the path, once nothing else has it in hand.
func (c *call) unlocked() (*Guest, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if lock := g.Config["lock"]; lock != "" && c.params["skiplock"] != "1" {
		return nil, refuse("%s is locked (%s)", g.Kind.called(), lock)
	}
	return g, nil
}

// begin lets a guest run with what was pending. A container then has the addresses
// that its configuration gives it; a VM's are what its own system makes of them,
// which the state says.
func (g *Guest) begin() {
	g.settle()
	g.Running = true
	if g.Kind != LXC {
		return
	}
	g.Live = nil
	for _, key := range sorted(g.Config) {
		if !netKey(key) {
			continue
		}
		nic := parseNIC(g.Config[key])
		live := LiveInterface{Name: nic["name"], MAC: nic["hwaddr"]}
		for _, address := range []string{nic["ip"], nic["ip6"]} {
			if strings.Contains(address, "/") { // not dhcp, manual or auto
				live.Addresses = append(live.Addresses, address)
			}
		}
		g.Live = append(g.Live, live)
	}
}

// mayGuest checks a privilege on the guest of a call or, when it is being made, on
// the pool it will be in.
func (c *call) mayGuest(privilege string) bool {
	pool := c.params["pool"]
	return c.state.may(c.token, "/vms/"+c.params["vmid"], privilege) || pool != "" && c.state.may(c.token, "/pool/"+pool, privilege)
}
