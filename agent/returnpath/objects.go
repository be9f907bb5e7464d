package returnpath

import (
	"fmt"
	"strconv"

	"homeward/netplan"
)

// The two chains of our table, as nft names their hooks.
const (
	chainPrerouting = "prerouting"
	chainOutput     = "output"
)

// Objects gives a table as the kernel lists it, in normal form.
func Objects(t netplan.MarkTable) []netplan.TableObject {
	out := []netplan.TableObject{
		{Kind: netplan.KindTable, Text: "inet " + netplan.NFTablesTable},
		{Kind: netplan.KindSet, Text: netplan.NFTablesSet + " type ipv4_addr flags interval"},
	}
	for _, r := range t.Destinations.Merged() {
		out = append(out, netplan.TableObject{Kind: netplan.KindElement, Where: netplan.NFTablesSet, Text: element(r)})
	}
	out = append(out, chain(chainPrerouting, "filter"), chain(chainOutput, "route"))
	if t.Interface != "" {
		out = append(out, rule(chainPrerouting, markLine(t)))
	}
	return append(out, rule(chainPrerouting, clearLine(t)), rule(chainPrerouting, restoreLine(t)), rule(chainOutput, restoreLine(t)))
}

// markLine marks a connection by its original packets: by interface and
// address, because the addresses are not local. The bit is set, never assigned.
func markLine(t netplan.MarkTable) string {
	return fmt.Sprintf("iifname %s ip daddr @%s ct direction original counter ct mark set ct mark or %s",
		strconv.Quote(t.Interface), netplan.NFTablesSet, t.Mark)
}

// clearLine takes our bit off the original packets of a marked connection. We never
// set it there; others do who put a connection's mark on all its packets, and such a
// packet would go back to the gateway.
func clearLine(t netplan.MarkTable) string {
	return fmt.Sprintf("ct direction original ct mark and %s == %s meta mark set meta mark and %s", t.Mask, t.Mark, ^t.Mark)
}

// restoreLine marks the reply packets of a marked connection. Original packets
// must not be marked: the rewritten request would go back to the gateway.
func restoreLine(t netplan.MarkTable) string {
	return fmt.Sprintf("ct direction reply ct mark and %s == %s counter meta mark set meta mark or %s", t.Mask, t.Mark, t.Mark)
}

func element(r netplan.Range) string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.First.String() + "-" + r.Last.String()
}

func chain(hook, kind string) netplan.TableObject {
	text := fmt.Sprintf("%s type %s hook %s priority %d policy accept", hook, kind, hook, netplan.NFTablesPriority)
	return netplan.TableObject{Kind: netplan.KindChain, Text: text}
}

func rule(in, text string) netplan.TableObject {
	return netplan.TableObject{Kind: netplan.KindRule, Where: in, Text: text}
}
