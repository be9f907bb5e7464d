package returnpath

import (
	"net/netip"

	"homeward/netplan"
)

// State is what a node shall look like.
type State struct {
	// Uplink is the external link, nil while it is missing.
	Uplink *netplan.Link
	// Table is the nftables table, and Objects the same as the kernel will list it.
	Table   netplan.MarkTable
	Objects []netplan.TableObject
	// Rules in the order in which they are added: those that fail closed first.
	Rules []netplan.Rule
	// Routes in the order in which they are added; nil while the link is missing,
	// which means that nothing is known of them, not that there shall be none.
	Routes []netplan.Route
}

// Desired gives the state for these settings. uplink is nil while the external
// link is missing; its name is then lastName, which may be empty, so that the
// table stays as it was.
func Desired(s Settings, uplink *netplan.Link, lastName string) State {
	name := lastName
	if uplink != nil {
		name = uplink.Name
	}
	table := netplan.MarkTable{
		Interface:    name,
		Destinations: s.Destinations.Merged(),
		Mark:         s.Mark,
		Mask:         s.Mask,
	}
	return State{
		Uplink:  uplink,
		Table:   table,
		Objects: Objects(table),
		Rules:   desiredRules(s),
		Routes:  desiredRoutes(s, uplink),
	}
}

// desiredRules gives the rules that steer marked replies, and the VIP's, into
// our table, and behind each the one that stops a packet when that table is
// empty: the external link is gone, and the reply would leak out of the private
// one. With PreferMain a marked packet first looks into the main table, without
// its default routes: a reverse-path check that uses the mark then finds the way
// back to a backend where it is.
func desiredRules(s Settings) []netplan.Rule {
	everywhere := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	mark := netplan.Rule{
		Priority: s.Priorities.Mark, Source: everywhere, Mark: s.Mark, Mask: s.Mask,
		Action: netplan.ActionLookup, Table: s.Table, Protocol: netplan.AgentProtocol,
	}
	rules := []netplan.Rule{unreachable(mark, s.Priorities.MarkUnreachable)}
	lookups := []netplan.Rule{mark}
	if s.VIP.IsValid() {
		vip := netplan.Rule{
			Priority: s.Priorities.VIP, Source: netip.PrefixFrom(s.VIP, 32),
			Action: netplan.ActionLookup, Table: s.Table, Protocol: netplan.AgentProtocol,
		}
		rules = append(rules, unreachable(vip, s.Priorities.VIPUnreachable))
		lookups = append(lookups, vip)
	}
	if s.PreferMain {
		main := mark
		main.Priority, main.Table, main.SuppressDefault = s.Priorities.PreferMain(), mainTable, true
		lookups = append(lookups, main)
	}
	return append(rules, lookups...)
}

// mainTable is the kernel's RT_TABLE_MAIN.
const mainTable netplan.TableID = 254

// unreachable is the rule behind r that fails closed.
func unreachable(r netplan.Rule, p netplan.Priority) netplan.Rule {
	r.Priority, r.Action, r.Table = p, netplan.ActionUnreachable, 0
	return r
}

// desiredRoutes gives what our table holds: the external network on the link,
// and everything else by its gateway. The kernel takes a gateway only when it
// already has a way to it, so that way comes first.
func desiredRoutes(s Settings, uplink *netplan.Link) []netplan.Route {
	if uplink == nil {
		return nil
	}
	onLink := func(p netip.Prefix) netplan.Route {
		return netplan.Route{
			Table: s.Table, Destination: p.Masked(), Link: uplink.Index, Scope: netplan.ScopeLink,
			Metric: netplan.AgentRouteMetric, Protocol: netplan.AgentProtocol,
		}
	}
	routes := []netplan.Route{onLink(s.CIDR)}
	if !s.CIDR.Contains(s.Gateway) {
		routes = append(routes, onLink(netip.PrefixFrom(s.Gateway, 32)))
	}
	byGateway := onLink(netip.PrefixFrom(netip.IPv4Unspecified(), 0))
	byGateway.Gateway, byGateway.Scope = s.Gateway, netplan.ScopeGlobal
	return append(routes, byGateway)
}
