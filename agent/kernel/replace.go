//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"homeward/netplan"
)

// The two chains of our table, named for their hooks.
const (
	chainPrerouting = "prerouting"
	chainOutput     = "output"
)

func ourTable() *nftables.Table {
	return &nftables.Table{Name: netplan.NFTablesTable, Family: nftables.TableFamilyINet}
}

// ReplaceMarkTable puts the table in place of whatever has its name, in one
// transaction: there is no moment without it. The counters start from c.
//
// An error does not mean that nothing was done: ENOBUFS is returned for a lost
// acknowledgement too. List again.
func (k *Kernel) ReplaceMarkTable(ctx context.Context, t netplan.MarkTable, s netplan.Stamp, c netplan.Counters) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	conn, err := k.nft()
	if err != nil {
		return err
	}
	// Deleting what is not there would fail the transaction, so add, delete, add.
	conn.AddTable(ourTable())
	conn.DelTable(ourTable())
	table := conn.AddTable(ourTable())
	if err := addSet(conn, table, t.Destinations); err != nil {
		return fmt.Errorf("compiling set %s: %w", netplan.NFTablesSet, err)
	}
	addChains(conn, table, t, s, c)
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("replacing table inet %s: %w", netplan.NFTablesTable, err)
	}
	return nil
}

// nft: set ingress4 { type ipv4_addr; flags interval; elements = { A-B, ... } }
func addSet(conn *nftables.Conn, table *nftables.Table, destinations netplan.AddressSet) error {
	set := &nftables.Set{
		Table: table, Name: netplan.NFTablesSet, KeyType: nftables.TypeIPAddr, Interval: true,
	}
	return conn.AddSet(set, elements(destinations))
}

// elements gives an interval set's elements: where each range starts, and the
// address behind its end. A range up to the last address has no end.
func elements(s netplan.AddressSet) []nftables.SetElement {
	var out []nftables.SetElement
	for _, r := range s.Merged() {
		first := r.First.As4()
		out = append(out, nftables.SetElement{Key: first[:]})
		if end := r.Last.Next(); end.IsValid() {
			behind := end.As4()
			out = append(out, nftables.SetElement{Key: behind[:], IntervalEnd: true})
		}
	}
	return out
}

// addChains adds both chains with their rules.
func addChains(conn *nftables.Conn, table *nftables.Table, t netplan.MarkTable, s netplan.Stamp, c netplan.Counters) {
	add := func(chain *nftables.Chain, exprs []expr.Any) {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: exprs, UserData: marshalStamp(s)})
	}
	accept := nftables.ChainPolicyAccept

	// nft: chain prerouting { type filter hook prerouting priority -149; policy accept; }
	prerouting := conn.AddChain(&nftables.Chain{
		Name: chainPrerouting, Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRef(netplan.NFTablesPriority), Policy: &accept,
	})
	if t.Interface != "" {
		add(prerouting, markExprs(t, c.Marked))
	}
	add(prerouting, clearExprs(t))
	add(prerouting, restoreExprs(t, c.Forwarded))

	// nft: chain output { type route hook output priority -149; policy accept; }
	output := conn.AddChain(&nftables.Chain{
		Name: chainOutput, Table: table, Type: nftables.ChainTypeRoute,
		Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityRef(netplan.NFTablesPriority), Policy: &accept,
	})
	add(output, restoreExprs(t, c.Local))
}

// DeleteMarkTable removes our table; that it is gone already is no error.
func (k *Kernel) DeleteMarkTable(ctx context.Context) error {
	return k.deleteTable(ctx, ourTable())
}

func (k *Kernel) deleteTable(ctx context.Context, t *nftables.Table) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	conn, err := k.nft()
	if err != nil {
		return err
	}
	conn.DelTable(t)
	if err := conn.Flush(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting table %s: %w", t.Name, err)
	}
	return nil
}

// addrOf reads an element's key.
func addrOf(key []byte) (netip.Addr, bool) {
	if len(key) != 4 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(key)), true
}
