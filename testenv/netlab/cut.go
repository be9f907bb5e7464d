//go:build linux

package netlab

import (
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

const cutTable = "cut"

// Cut drops every IPv4 packet that arrives at the host for an address, before
// anything else sees it, until Mend. ARP goes on.
func (h *Host) Cut(address netip.Addr) error {
	return h.nftables(func(conn *nftables.Conn) error {
		t := replaceTable(conn, nftables.TableFamilyIPv4, cutTable)
		const early = -400
		in := hookChain(conn, t, "prerouting", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, early)
		// ip daddr ADDRESS drop
		addRule(conn, in, matchAddress(offsetIPDestination, address), verdict(expr.VerdictDrop))
		return nil
	})
}

// Mend takes back what Cut did.
func (h *Host) Mend() error { return h.DeleteTable(cutTable) }
