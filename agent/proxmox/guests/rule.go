package guests

import (
	"cmp"
	"net/url"
	"strings"
)

// Rule is one rule of a guest's firewall, as the server gives it.
type Rule struct {
	// Pos is its place, from zero; it shifts with every rule that is made or
	// deleted.
	Pos int
	// Type is in, out, forward or group; Action of a group is its name.
	Type, Action string
	Enable       bool
	Iface        string
	Source, Dest string
	// Macro is a name that stands for protocols and ports.
	Macro, Proto, SPort, DPort, ICMPType string
	Log, Comment                         string
}

// same says whether both rules do the same, whatever their places, comments and
// logging are.
func (r Rule) same(o Rule) bool {
	return r.Type == o.Type && r.Action == o.Action && r.Enable == o.Enable && r.Iface == o.Iface &&
		sameSource(r.Source, o.Source) && r.Dest == o.Dest && r.Macro == o.Macro && r.Proto == o.Proto &&
		r.SPort == o.SPort && r.DPort == o.DPort && r.ICMPType == o.ICMPType
}

func sameSource(a, b string) bool {
	if a == b {
		return true
	}
	p, ok := literal(a)
	q, too := literal(b)
	return ok && too && p == q
}

// params are what makes the rule. A rule is disabled unless it says otherwise.
func (r Rule) params() url.Values {
	v := url.Values{"type": {r.Type}, "action": {r.Action}, "enable": {"1"}}
	for _, x := range []struct{ key, value string }{
		{"iface", r.Iface}, {"source", r.Source}, {"proto", r.Proto}, {"sport", r.SPort}, {"dport", r.DPort}, {"comment", r.Comment},
	} {
		if x.value != "" {
			v.Set(x.key, x.value)
		}
	}
	return v
}

// String says what the rule does, as an operator would.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Type + " " + r.Action)
	if !r.Enable {
		b.WriteString(" (disabled)")
	}
	for _, x := range []struct{ before, value string }{
		{" macro ", r.Macro}, {" ", r.Proto}, {" type ", r.ICMPType}, {" from port ", r.SPort}, {" to port ", r.DPort},
		{" from ", r.Source}, {" to ", r.Dest}, {" on ", r.Iface},
	} {
		if x.value != "" {
			b.WriteString(x.before + x.value)
		}
	}
	return b.String()
}

// blocks says that the rule can keep something from coming in or going out: it
// denies, or it is a group, whose rules are not known here.
func (r Rule) blocks() bool {
	return r.Enable && (r.Type == "group" || r.Action == "DROP" || r.Action == "REJECT")
}

// reaches says whether a rule of somebody else's can match what the opening lets
// in. What cannot be told counts as a match.
func (r Rule) reaches(o Rule) bool {
	if r.Type == "group" {
		return true
	}
	plain := func(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }
	ports := r.DPort == "" || o.DPort == "" || r.DPort == o.DPort || strings.ContainsAny(r.DPort, ":,") || !digits(r.DPort)
	return r.Type == o.Type && plain(r.Iface, o.Iface) && plain(r.Proto, o.Proto) && ports && sourcesMeet(r.Source, o.Source)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func sourcesMeet(a, b string) bool {
	p, ok := literal(cmp.Or(a, "0.0.0.0/0"))
	q, too := literal(cmp.Or(b, "0.0.0.0/0"))
	return !ok || !too || p.Overlaps(q)
}
