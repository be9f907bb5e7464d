package talosgen

import (
	_ "embed"
	"fmt"
	"strings"

	"homeward/netplan"
)

// nftScriptBody is the loop of the nft pod. It needs the assignments that
// nftScript puts before it.
//
//go:embed nftscript.sh
var nftScriptBody string

// tableText is the nft text of our table in the parts that the script puts
// together: the marking rule needs the kernel's name of the external NIC, which
// only the node knows.
type tableText struct {
	// before is the set and the head of chain prerouting.
	before string
	// marking is the marking rule without its `iifname "..."`.
	marking string
	// after is the rest of chain prerouting and chain output.
	after string
}

func newTableText(p *netplan.Plan, m netplan.Machine) tableText {
	mark, mask := p.ReturnPath.Mark, p.ReturnPath.Mask
	unmark := fmt.Sprintf("ct direction original ct mark and %s == %s meta mark set meta mark and %s", mask, mark, ^mark)
	restore := fmt.Sprintf("ct direction reply ct mark and %s == %s counter meta mark set meta mark or %s", mask, mark, mark)
	lines := func(l ...string) string { return strings.Join(l, "\n") }
	return tableText{
		before: lines(
			"\tset "+netplan.NFTablesSet+" {",
			"\t\ttype ipv4_addr",
			"\t\tflags interval",
			"\t\telements = { "+strings.Join(nftElements(p.Destinations(m)), ", ")+" }",
			"\t}",
			"\tchain prerouting {",
			fmt.Sprintf("\t\ttype filter hook prerouting priority %d; policy accept;", netplan.NFTablesPriority),
		),
		marking: fmt.Sprintf("ip daddr @%s ct direction original counter ct mark set ct mark or %s", netplan.NFTablesSet, mark),
		after: lines(
			"\t\t"+unmark,
			"\t\t"+restore,
			"\t}",
			"\tchain output {",
			fmt.Sprintf("\t\ttype route hook output priority %d; policy accept;", netplan.NFTablesPriority),
			"\t\t"+restore,
			"\t}",
		),
	}
}

// nftElements gives ranges as nft's interval sets take them.
func nftElements(set netplan.AddressSet) []string {
	out := make([]string, 0, len(set))
	for _, r := range set {
		if r.First == r.Last {
			out = append(out, r.First.String())
			continue
		}
		out = append(out, r.First.String()+"-"+r.Last.String())
	}
	return out
}

// nftScript is what the nft pod's shell runs on a machine. With the largest pool
// that netplan allows it still is one argument (MAX_ARG_STRLEN, 128 KiB). It has no
// "$$" and no "$(NAME)", which the kubelet would expand.
func nftScript(p *netplan.Plan, m netplan.Machine) string {
	t := newTableText(p, m)
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"name", netplan.PodName},
		{"table", netplan.NFTablesTable},
		{"scratch", netplan.NFTablesScratchTable},
		{"mac", m.MACs.External.String()},
		{"alias", netplan.AliasExternal},
		{"sender", externalAddress(m).String()},
		{"before", t.before},
		{"marking", t.marking},
		{"after", t.after},
	} {
		b.WriteString(v.name + "=" + shellQuote(v.value) + "\n")
	}
	b.WriteString(nftScriptBody)
	return b.String()
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
