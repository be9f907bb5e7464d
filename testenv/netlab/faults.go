//go:build linux

package netlab

import (
	"fmt"
	"net/netip"

	"github.com/google/nftables"
)

// FlushRuleset is "nft flush ruleset" on a node. The stand-in for kube-proxy is
// put back in the same transaction: a real one comes back by itself, and no test
// of a return path means to test that.
func (n *Node) FlushRuleset() error {
	return n.nftables(func(conn *nftables.Conn) error {
		conn.FlushRuleset()
		n.proxyRules(conn, n.cluster.services)
		return nil
	})
}

// DeleteTable deletes an nftables table, of whatever family.
func (h *Host) DeleteTable(name string) error {
	return h.changeTable(name, func(conn *nftables.Conn, t *nftables.Table) error {
		conn.DelTable(t)
		return nil
	})
}

// DeleteChain deletes a chain and its rules from an nftables table.
func (h *Host) DeleteChain(table, chain string) error {
	return h.changeTable(table, func(conn *nftables.Conn, t *nftables.Table) error {
		c, err := conn.ListChain(t, chain)
		if err != nil {
			return err
		}
		conn.FlushChain(c)
		conn.DelChain(c)
		return nil
	})
}

// DeleteNFTRule deletes the rule at a position, from zero, of a chain.
func (h *Host) DeleteNFTRule(table, chain string, position int) error {
	return h.changeTable(table, func(conn *nftables.Conn, t *nftables.Table) error {
		rules, err := conn.GetRules(t, &nftables.Chain{Table: t, Name: chain})
		if err != nil {
			return err
		}
		if position < 0 || position >= len(rules) {
			return fmt.Errorf("chain %s has %d rules, none at %d", chain, len(rules), position)
		}
		return conn.DelRule(rules[position])
	})
}

// DeleteElement deletes a range of addresses from an interval set.
func (h *Host) DeleteElement(table, set string, first, last netip.Addr) error {
	return h.changeSet(table, set, func(conn *nftables.Conn, s *nftables.Set) error {
		return conn.SetDeleteElements(s, interval(first, last))
	})
}

// AddElement adds a range of addresses to an interval set, as a hand would.
func (h *Host) AddElement(table, set string, first, last netip.Addr) error {
	return h.changeSet(table, set, func(conn *nftables.Conn, s *nftables.Set) error {
		return conn.SetAddElements(s, interval(first, last))
	})
}

// AddForeignTable adds an inet table of somebody else's, with a base chain at
// prerouting and one at output, both at a hook priority, that accept everything.
func (h *Host) AddForeignTable(name string, priority int32) error {
	return h.nftables(func(conn *nftables.Conn) error {
		t := replaceTable(conn, nftables.TableFamilyINet, name)
		hookChain(conn, t, "prerouting", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, priority)
		hookChain(conn, t, "output", nftables.ChainTypeFilter, nftables.ChainHookOutput, priority)
		return nil
	})
}

// Shadow adds a rule that sends every packet to the main table before any rule of
// a higher priority is asked.
func (h *Host) Shadow(priority int) error {
	return h.AddRule(Rule{Priority: priority, Table: mainTable})
}

// mainTable is the kernel's RT_TABLE_MAIN.
const mainTable = 254

// changeTable finds a table by its name and changes it.
func (h *Host) changeTable(name string, change func(*nftables.Conn, *nftables.Table) error) error {
	return h.nftables(func(conn *nftables.Conn) error {
		tables, err := conn.ListTables()
		if err != nil {
			return err
		}
		for _, t := range tables {
			if t.Name == name {
				return change(conn, t)
			}
		}
		return fmt.Errorf("no table %s among %d", name, len(tables))
	})
}

func (h *Host) changeSet(table, name string, change func(*nftables.Conn, *nftables.Set) error) error {
	return h.changeTable(table, func(conn *nftables.Conn, t *nftables.Table) error {
		s, err := conn.GetSetByName(t, name)
		if err != nil {
			return fmt.Errorf("finding set %s: %w", name, err)
		}
		return change(conn, s)
	})
}

// interval is a range as the kernel holds it: its first address, and an end mark
// at the address after its last.
func interval(first, last netip.Addr) []nftables.SetElement {
	return []nftables.SetElement{
		{Key: first.AsSlice()},
		{Key: last.Next().AsSlice(), IntervalEnd: true},
	}
}
