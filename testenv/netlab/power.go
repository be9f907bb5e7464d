//go:build linux

package netlab

import (
	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
)

// PowerOff silences a node at once, as the loss of its power does: both NICs stop,
// and what its kernel knew of rules, nftables and connections is gone. Programs on
// it are the caller's to kill.
func (n *Node) PowerOff() error {
	return inOrder(
		func() error { return n.SetDown(n.PrivateLink) },
		n.Unplug,
		func() error {
			return n.nftables(func(conn *nftables.Conn) error { conn.FlushRuleset(); return nil })
		},
		n.forgetRules,
		n.FlushConntrack,
	)
}

// PowerOn gives the node its NICs and routes again, as [NewCluster] made them.
func (n *Node) PowerOn() error {
	return inOrder(
		func() error { return n.SetUp(n.PrivateLink) },
		n.wireRoutes,
		n.Plug,
	)
}

// forgetRules removes every routing rule but the kernel's own three.
func (n *Node) forgetRules() error {
	rules, err := n.nl.RuleList(netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.Table == 255 || r.Priority == 32766 || r.Priority == 32767 {
			continue
		}
		if err := n.nl.RuleDel(&r); err != nil {
			return err
		}
	}
	return nil
}
