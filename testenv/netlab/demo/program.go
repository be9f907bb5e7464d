//go:build linux

package demo

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"time"

	"homeward/testenv/netlab"
)

// Program is a contender.
type Program struct {
	// Name heads its column.
	Name string
	// Command gives the program and its arguments for a node; nil is a contender
	// that does nothing.
	Command func(n *netlab.Node) []string
	// Needs are programs that must be in PATH, or the contender is skipped.
	Needs []string
	// Steered says that the lab makes the routing rules and table 251, as Talos
	// does; a program that owns routes itself wants none.
	Steered bool
}

// Nothing is a cluster without any return path.
func Nothing() Program { return Program{Name: "nothing"} }

// missing says which program the contender lacks; empty for none.
func (p Program) missing() string {
	for _, name := range p.Needs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Sprintf("needs the program %s, which is not in PATH", name)
		}
	}
	return ""
}

// readyTimeout is how long a contender may take until a client is answered.
const readyTimeout = 20 * time.Second

// waitAnswered waits until a client behind the router is answered by the pod of
// the announcing node.
func waitAnswered(ctx context.Context, c *netlab.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		try, cancelTry := context.WithTimeout(ctx, 100*time.Millisecond)
		err := c.Behind.Request(try, netlab.UDP, podHere(c), netlab.SmallestReply)
		cancelTry()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// podHere is where the pod of the announcing node is served.
func podHere(c *netlab.Cluster) netip.AddrPort {
	for _, s := range c.MatrixServices(c.Nodes[0]) {
		if s.Node == 0 && !s.HostNetwork && s.Policy == netlab.PolicyCluster {
			return netip.AddrPortFrom(s.Address, s.Port)
		}
	}
	return netip.AddrPort{}
}
