package pvesim

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// firewall is what a firewall file says: the datacenter's, a node's or a guest's.
// Every write renders it to text and reads that text back, as the server does:
// what a newline in a comment makes of it shows at once.
type firewall struct {
	options map[string]string
	// aliases and sets by lower-case name.
	aliases map[string]alias
	sets    map[string]ipset
	groups  map[string]group
	rules   []rule
}

type alias struct{ name, cidr, comment string }

type ipset struct {
	comment string
	members []member
}

type member struct {
	cidr, comment string
	nomatch       bool
}

type group struct {
	comment string
	rules   []rule
}

// firewallFile is a file and what it says; neither ever changes.
type firewallFile struct {
	text string
	conf *firewall
}

// emptyFirewall is the file that does not exist.
var emptyFirewall = &firewallFile{conf: &firewall{}}

// newFirewallFile writes and reads back.
func newFirewallFile(f *firewall, env environment) *firewallFile {
	text := f.render()
	return &firewallFile{text: text, conf: parseFirewall(text, env)}
}

// clone gives a copy whose maps and lists can be changed.
func (f *firewall) clone() *firewall {
	c := &firewall{options: maps.Clone(f.options), aliases: maps.Clone(f.aliases), sets: maps.Clone(f.sets), groups: maps.Clone(f.groups), rules: slices.Clone(f.rules)}
	if c.options == nil {
		c.options = map[string]string{}
	}
	if c.aliases == nil {
		c.aliases = map[string]alias{}
	}
	if c.sets == nil {
		c.sets = map[string]ipset{}
	}
	if c.groups == nil {
		c.groups = map[string]group{}
	}
	return c
}

// render writes the file.
func (f *firewall) render() string {
	var b strings.Builder
	if len(f.options) > 0 {
		b.WriteString("[OPTIONS]\n\n")
		for _, k := range slices.Sorted(maps.Keys(f.options)) {
			b.WriteString(k + ": " + f.options[k] + "\n")
		}
		b.WriteString("\n")
	}
	if len(f.aliases) > 0 {
		b.WriteString("[ALIASES]\n\n")
		for _, k := range slices.Sorted(maps.Keys(f.aliases)) {
			a := f.aliases[k]
			b.WriteString(a.name + " " + a.cidr + trailing(a.comment) + "\n")
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(f.sets)) {
		s := f.sets[name]
		b.WriteString("[IPSET " + name + "]" + heading(s.comment) + "\n\n")
		s.render(&b)
		b.WriteString("\n")
	}
	if len(f.rules) > 0 {
		b.WriteString("[RULES]\n\n")
		renderRules(&b, f.rules, true)
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		g := f.groups[name]
		b.WriteString("[group " + name + "]" + heading(g.comment) + "\n\n")
		renderRules(&b, g.rules, false)
		b.WriteString("\n")
	}
	return b.String()
}

// render writes the members in order of their text; of two of one text the first
// stays.
func (s ipset) render(b *strings.Builder) {
	members := slices.Clone(s.members)
	slices.SortStableFunc(members, func(x, y member) int { return cmp.Compare(x.cidr, y.cidr) })
	members = slices.CompactFunc(members, func(x, y member) bool { return x.cidr == y.cidr })
	for _, m := range members {
		if m.nomatch {
			b.WriteByte('!')
		}
		b.WriteString(m.cidr + trailing(m.comment) + "\n")
	}
}

// heading is the comment of a section, trailing that of a line; blank ones of
// lines are not written.
func heading(comment string) string {
	if comment == "" {
		return ""
	}
	return " # " + comment
}

func trailing(comment string) string {
	if strings.TrimSpace(comment) == "" {
		return ""
	}
	return " # " + comment
}

// entry is one thing of a list as the API shows it.
type entry map[string]any

// listWithDigest hashes a list over its entries' keys and values, and puts the
// hash into each. An empty list has a hash too, but nobody can see it.
func listWithDigest(list []entry) (shown []entry, digest string) {
	h := sha1.New()
	for _, e := range list {
		for _, k := range slices.Sorted(maps.Keys(e)) {
			h.Write([]byte(k + ":" + text(e[k]) + "\n"))
		}
	}
	digest = hex.EncodeToString(h.Sum(nil))
	for _, e := range list {
		e["digest"] = digest
	}
	return list, digest
}
