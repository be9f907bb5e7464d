//go:build linux

package demo

import (
	"fmt"

	"homeward/testenv/netlab"
)

// Agent is Homeward's own agent from a binary, with the flags that the generated
// static pod would give it on the node, no server, and what else is given.
func Agent(binary string, more ...string) Program {
	return Program{
		Name:    "homeward",
		Command: func(n *netlab.Node) []string { return append(agentLine(binary, n), more...) },
		Needs:   []string{binary},
		Steered: true,
	}
}

func agentLine(binary string, n *netlab.Node) []string {
	a := netlab.DefaultAddresses()
	// The VIP stands right below the pool: one range.
	destinations := fmt.Sprintf("%s-%s", a.VIP, a.Pool[len(a.Pool)-1])
	return []string{
		binary, "node",
		"--external-mac=" + n.ExternalMAC.String(),
		"--cidr=" + a.External.String(),
		"--gateway=" + a.ExternalGateway.String(),
		"--vip=" + a.VIP.String(),
		"--destinations=" + destinations,
		"--routes=check",
		"--listen=0",
	}
}
