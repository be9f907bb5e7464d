package pvesim

import (
	"strconv"
	"strings"
)

// listPools gives the pools that the token may see; with poolid that one with its
// members.
func listPools(c *call) (any, error) {
	if id, ok := c.params["poolid"]; ok {
		p, err := c.pool()
		if err != nil {
			return nil, err
		}
		if !c.state.may(c.token, "/pool/"+id, "Pool.Audit") {
			return nil, forbidden("/pool/"+id, "Pool.Audit")
		}
		e := poolEntry(id, p)
		e["members"] = c.members(id)
		return []entry{e}, nil
	}
	list := []entry{}
	for _, id := range c.state.pools.keys() {
		if c.state.may(c.token, "/pool/"+id, "Pool.Audit") {
			p, _ := c.state.pools.get(id)
			list = append(list, poolEntry(id, p))
		}
	}
	return list, nil
}

func poolEntry(id string, p Pool) entry {
	e := entry{"poolid": id}
	if p.Comment != "" {
		e["comment"] = p.Comment
	}
	return e
}

func getPool(c *call) (any, error) {
	p, err := c.pool()
	if err != nil {
		return nil, err
	}
	e := poolEntry("", p)
	delete(e, "poolid")
	e["members"] = c.members(c.params["poolid"])
	return e, nil
}

func (c *call) pool() (Pool, error) {
	p, ok := c.state.pools.get(c.params["poolid"])
	if !ok {
		return p, refuse("pool '%s' does not exist", c.params["poolid"])
	}
	return p, nil
}

func (c *call) members(pool string) []entry {
	list := []entry{}
	want := c.params["type"]
	for _, id := range c.state.guests.keys() {
		g, _ := c.state.guests.get(id)
		if g.Pool == pool && (want == "" || want == string(g.Kind)) {
			list = append(list, c.resource(g))
		}
	}
	return list
}

// createPool is exclusive; a nested pool needs its parent.
func createPool(c *call) (any, error) {
	id := c.params["poolid"]
	if _, ok := c.state.pools.get(id); ok {
		return nil, refuse("create pool failed: pool '%s' already exists", id)
	}
	if at := strings.LastIndexByte(id, '/'); at >= 0 {
		if _, ok := c.state.pools.get(id[:at]); !ok {
			return nil, refuse("create pool failed: parent '%s' of pool '%s' does not exist", id[:at], id)
		}
	}
	c.state.pools.set(id, Pool{Comment: c.params["comment"]})
	return nil, nil
}

// putPool replaces the comment, and adds or takes guests.
func putPool(c *call) (any, error) {
	id := c.params["poolid"]
	p, ok := c.state.pools.get(id)
	if !ok {
		return nil, refuse("update pools failed: pool '%s' does not exist", id)
	}
	if comment, ok := c.params["comment"]; ok {
		p.Comment = comment
	}
	for _, vmid := range splitList(c.params["vms"]) {
		if err := c.movePool(vmid, id); err != nil {
			return nil, err
		}
	}
	c.state.pools.set(id, p)
	return nil, nil
}

func (c *call) movePool(vmid, pool string) error {
	if path := "/vms/" + vmid; !c.state.may(c.token, path, "Permissions.Modify", "VM.Allocate") {
		return forbidden(path, "Permissions.Modify", "VM.Allocate")
	}
	g, ok := c.state.guestByName(vmid)
	if !ok {
		return refuse("update pools failed: VM %s does not exist", vmid)
	}
	next := g.clone()
	next.Pool = pool
	switch {
	case c.params["delete"] == "1":
		if g.Pool != pool {
			return refuse("update pools failed: VM %s is not a pool member", vmid)
		}
		next.Pool = ""
	case g.Pool == pool:
		return refuse("update pools failed: VM %s is already a pool member", vmid)
	case g.Pool != "" && c.params["allow-move"] != "1":
		return refuse("update pools failed: VM %s belongs already to pool '%s'", vmid, g.Pool)
	}
	c.state.guests.set(g.VMID, next)
	return nil
}

func deletePool(c *call) (any, error) {
	id := c.params["poolid"]
	if _, ok := c.state.pools.get(id); !ok {
		return nil, refuse("delete pool failed: pool '%s' does not exist", id)
	}
	for _, other := range c.state.pools.keys() {
		if strings.HasPrefix(other, id+"/") {
			return nil, refuse("delete pool failed: pool '%s' is not empty (contains pool '%s')", id, other)
		}
	}
	for _, vmid := range c.state.guests.keys() {
		if g, _ := c.state.guests.get(vmid); g.Pool == id {
			return nil, refuse("delete pool failed: pool '%s' is not empty (contains VM %s)", id, strconv.Itoa(vmid))
		}
	}
	c.state.pools.drop(id)
	return nil, nil
}
