//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/nftables"
	"github.com/mdlayher/netlink"

	"homeward/netplan"
)

// listTries bounds how often a listing is made again because the ruleset changed
// in the middle of it.
const listTries = 5

// MarkTable lists our table. A listing takes several questions; it counts when
// the ruleset's generation stood still meanwhile, or when two in a row say the
// same (on a node whose kube-proxy never rests).
func (k *Kernel) MarkTable(ctx context.Context) (listing netplan.TableListing, err error) {
	// One socket for all the questions: opening and closing costs more than they do.
	conn, err := nftables.New(nftables.AsLasting())
	if err != nil {
		return netplan.TableListing{}, fmt.Errorf("opening nftables: %w", err)
	}
	defer func() { err = errors.Join(err, conn.CloseLasting()) }()
	var last []netplan.TableObject
	for try := range listTries {
		if err := errDone(ctx); err != nil {
			return netplan.TableListing{}, err
		}
		before, err := conn.GetGen()
		if err != nil {
			return netplan.TableListing{}, fmt.Errorf("reading the ruleset's generation: %w", err)
		}
		listing, listErr := listTable(conn)
		after, err := conn.GetGen()
		if err != nil {
			return netplan.TableListing{}, fmt.Errorf("reading the ruleset's generation: %w", err)
		}
		still := before.ID == after.ID
		if listErr != nil && (still || try == listTries-1) {
			return netplan.TableListing{}, fmt.Errorf("listing table inet %s: %w", netplan.NFTablesTable, listErr)
		}
		if listErr == nil && (still || try > 0 && slices.Equal(last, listing.Objects)) {
			return listing, nil
		}
		last = listing.Objects
	}
	return netplan.TableListing{}, fmt.Errorf("listing table inet %s: the ruleset changed %d times meanwhile", netplan.NFTablesTable, listTries)
}

// listTable lists our table once.
func listTable(conn *nftables.Conn) (netplan.TableListing, error) {
	var out netplan.TableListing
	table, err := conn.ListTableOfFamily(netplan.NFTablesTable, nftables.TableFamilyINet)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Present = true
	set, err := listSet(conn, table)
	if err != nil {
		return out, err
	}
	var chains, rules []netplan.TableObject
	for _, name := range []string{chainPrerouting, chainOutput} {
		chain, err := conn.ListChain(table, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		chains = append(chains, netplan.TableObject{Kind: netplan.KindChain, Text: chainText(chain)})
		listed, err := listRules(conn, table, chain, &out)
		if err != nil {
			return out, err
		}
		rules = append(rules, listed...)
	}
	known := len(chains)
	if len(set) > 0 {
		known++
	}
	head := netplan.TableObject{Kind: netplan.KindTable, Text: tableText(table, known)}
	out.Objects = slices.Concat([]netplan.TableObject{head}, set, chains, rules)
	return out, nil
}

// tableText gives the table, with what it holds besides the known objects.
func tableText(t *nftables.Table, known int) string {
	s := "inet " + t.Name
	if t.Flags != 0 {
		s += fmt.Sprintf(" flags 0x%x", uint32(t.Flags))
	}
	if extra := int(t.Use) - known; extra > 0 {
		s += fmt.Sprintf(" with %d foreign objects", extra)
	}
	return s
}

// listRules lists one chain and takes stamp, counters and the link's name out of
// its rules.
func listRules(conn *nftables.Conn, table *nftables.Table, chain *nftables.Chain, out *netplan.TableListing) ([]netplan.TableObject, error) {
	rules, err := conn.GetRules(table, chain)
	if err != nil {
		return undecodable(netplan.KindRule, err)
	}
	var objects []netplan.TableObject
	for _, r := range rules {
		objects = append(objects, netplan.TableObject{Kind: netplan.KindRule, Where: chain.Name, Text: ruleText(r.Exprs)})
		if s, ok := parseStamp(r.UserData); ok && (out.Stamp == nil || out.Stamp.Start < s.Start) {
			out.Stamp = &s
		}
		count, counts := ruleCounter(r.Exprs)
		name := ruleInterface(r.Exprs)
		switch {
		case name != "" && chain.Name == chainPrerouting:
			out.Interface = name
			out.Counters.Marked = count
		case !counts:
		case chain.Name == chainOutput:
			out.Counters.Local = count
		default:
			out.Counters.Forwarded = count
		}
	}
	return objects, nil
}

// chainText gives a chain in nft's words.
func chainText(c *nftables.Chain) string {
	if c.Hooknum == nil || c.Priority == nil || c.Policy == nil {
		return c.Name + " without a hook"
	}
	policy := "drop"
	if *c.Policy == nftables.ChainPolicyAccept {
		policy = "accept"
	}
	hook := fmt.Sprint(*c.Hooknum)
	switch *c.Hooknum {
	case *nftables.ChainHookPrerouting:
		hook = "prerouting"
	case *nftables.ChainHookOutput:
		hook = "output"
	}
	return fmt.Sprintf("%s type %s hook %s priority %d policy %s", c.Name, c.Type, hook, *c.Priority, policy)
}

// listSet lists the set of destinations: itself, then its elements; nil when it
// is not there.
func listSet(conn *nftables.Conn, table *nftables.Table) (out []netplan.TableObject, err error) {
	// The library panics on user data that is cut short, which anyone may have
	// given a set of this name.
	defer func() {
		if p := recover(); p != nil {
			out, err = undecodable(netplan.KindSet, fmt.Errorf("user data: %v", p))
		}
	}()
	set, err := conn.GetSetByName(table, netplan.NFTablesSet)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return undecodable(netplan.KindSet, err)
	}
	listed, err := conn.GetSetElements(set)
	if err != nil {
		return undecodable(netplan.KindSet, err)
	}
	out = append(out, netplan.TableObject{Kind: netplan.KindSet, Text: setText(set)})
	for _, text := range elementTexts(listed) {
		out = append(out, netplan.TableObject{Kind: netplan.KindElement, Where: set.Name, Text: text})
	}
	return out, nil
}

// undecodable tells what the kernel refused, an error, from what the library
// cannot read: someone put something odd there, and it is to be replaced.
func undecodable(kind netplan.ObjectKind, err error) ([]netplan.TableObject, error) {
	var refused *netlink.OpError
	if errors.As(err, &refused) {
		return nil, err
	}
	return []netplan.TableObject{{Kind: kind, Text: "unreadable: " + err.Error()}}, nil
}
