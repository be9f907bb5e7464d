//go:build linux

package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/nftables/expr"

	"homeward/netplan"
)

// nft: iifname "LINK" ip daddr @ingress4 ct direction original counter ct mark set ct mark or MARK
func markExprs(t netplan.MarkTable, c netplan.Counter) []expr.Any {
	return slices.Concat(
		iifname(t.Interface),
		daddrIn(netplan.NFTablesSet),
		ctDirection(directionOriginal),
		counter(c),
		ctMarkOr(t.Mark),
	)
}

// nft: ct direction original ct mark and MASK == MARK meta mark set meta mark and ^MARK
func clearExprs(t netplan.MarkTable) []expr.Any {
	return slices.Concat(
		ctDirection(directionOriginal),
		ctMarkIs(t.Mask, t.Mark),
		metaMarkAnd(^t.Mark),
	)
}

// nft: ct direction reply ct mark and MASK == MARK counter meta mark set meta mark or MARK
func restoreExprs(t netplan.MarkTable, c netplan.Counter) []expr.Any {
	return slices.Concat(
		ctDirection(directionReply),
		ctMarkIs(t.Mask, t.Mark),
		counter(c),
		metaMarkOr(t.Mark),
	)
}

// nft: counter packets P bytes B
func counter(c netplan.Counter) []expr.Any {
	return []expr.Any{&expr.Counter{Packets: c.Packets, Bytes: c.Bytes}}
}

// ruleText gives a listed rule in nft's words. An expression that is none of our
// fragments stands in brackets as the library has it, so that a rule that is not
// ours never reads like one.
//
// The library leaves out expressions it does not know; a rule that differs from
// ours by nothing else is taken for ours.
func ruleText(e []expr.Any) string {
	readers := []func([]expr.Any) fragment{
		readIifname, readDaddrIn, readCtDirection, readCtMarkIs, readMarkOr, readMarkAnd, readCounter,
	}
	var words []string
	for len(e) > 0 {
		next := fragment{text: fmt.Sprintf("[%T %+v]", e[0], e[0]), n: 1}
		for _, read := range readers {
			if f := read(e); f.n > 0 {
				next = f
				break
			}
		}
		words = append(words, next.text)
		e = e[next.n:]
	}
	return strings.Join(words, " ")
}

// ruleCounter gives a rule's counter, when it has one.
func ruleCounter(e []expr.Any) (netplan.Counter, bool) {
	for _, x := range e {
		if c, ok := x.(*expr.Counter); ok {
			return netplan.Counter{Packets: c.Packets, Bytes: c.Bytes}, true
		}
	}
	return netplan.Counter{}, false
}

// ruleInterface gives the link's name in a rule that marks, else "".
func ruleInterface(e []expr.Any) string {
	if readIifname(e).n == 0 {
		return ""
	}
	c, _ := at[expr.Cmp](e, 1)
	return strings.TrimRight(string(c.Data), "\x00")
}
