package pvesim

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// GuestKind is how a guest runs, as it stands in paths.
type GuestKind string

// The kinds of guests.
const (
	QEMU GuestKind = "qemu"
	LXC  GuestKind = "lxc"
)

// Guest is a virtual machine or container.
type Guest struct {
	Kind GuestKind `json:"kind"`
	VMID int       `json:"vmid"`
	Node string    `json:"node"`
	// Running guests have their live addresses, and changes that cannot be made in
	// a running guest wait in Pending.
	Running bool `json:"running,omitempty"`
	// Agent says that the agent inside a VM answers.
	Agent bool `json:"agent,omitempty"`
	// Pool is the resource pool the guest is in, empty for none.
	Pool string `json:"pool,omitempty"`
	// Config is the configuration in force, key to property string.
	Config map[string]string `json:"config,omitempty"`
	// Pending are the values of the next start, Deleted the keys that go with it.
	Pending map[string]string `json:"pending,omitempty"`
	Deleted []string          `json:"deleted,omitempty"`
	// Live is what the interfaces inside say.
	Live []LiveInterface `json:"live,omitempty"`
}

// LiveInterface is an interface inside a running guest, with its addresses as CIDR.
type LiveInterface struct {
	Name      string   `json:"name"`
	MAC       string   `json:"mac"`
	Addresses []string `json:"addresses,omitempty"`
}

// clone gives a copy to change.
func (g *Guest) clone() *Guest {
	c := *g
	c.Config, c.Pending = maps.Clone(g.Config), maps.Clone(g.Pending)
	if c.Config == nil {
		c.Config = map[string]string{}
	}
	if c.Pending == nil {
		c.Pending = map[string]string{}
	}
	c.Deleted = slices.Clone(g.Deleted)
	return &c
}

// name is the guest's, empty when it has none.
func (g *Guest) name() string {
	if g.Kind == LXC {
		return g.Config["hostname"]
	}
	return g.Config["name"]
}

// conf is the guest's file in /etc/pve.
func (g *Guest) conf() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(g.Config)) {
		b.WriteString(key + ": " + g.Config[key] + "\n")
	}
	if len(g.Pending)+len(g.Deleted) == 0 {
		return b.String()
	}
	b.WriteString("\n[PENDING]\n")
	if len(g.Deleted) > 0 {
		b.WriteString("delete: " + strings.Join(g.Deleted, ",") + "\n")
	}
	for _, key := range slices.Sorted(maps.Keys(g.Pending)) {
		b.WriteString(key + ": " + g.Pending[key] + "\n")
	}
	return b.String()
}

// digest guards writes to the configuration, whatever is pending in it included.
func (g *Guest) digest() string {
	sum := sha1.Sum([]byte(g.conf()))
	return hex.EncodeToString(sum[:])
}

// future is the configuration after the next start.
func (g *Guest) future() map[string]string {
	c := maps.Clone(g.Config)
	for _, key := range g.Deleted {
		delete(c, key)
	}
	maps.Copy(c, g.Pending)
	return c
}

// directory is where the guest's file is, and what the server calls it when it
// misses it.
func (k GuestKind) directory() string {
	if k == LXC {
		return "lxc"
	}
	return "qemu-server"
}
