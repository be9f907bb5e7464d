package pvesim

import (
	"net/netip"
	"strings"
)

// rule is one line of a list of rules.
type rule struct {
	kind, action, macro            string
	iface, source, dest            string
	proto, dport, sport, log, icmp string
	comment                        string
	enable                         bool
}

// ruleFields ties a rule's parts to the API's names, in the order of the file.
var ruleFields = []struct {
	name, flag string
	of         func(*rule) *string
}{
	{"type", "", func(r *rule) *string { return &r.kind }},
	{"action", "", func(r *rule) *string { return &r.action }},
	{"macro", "", func(r *rule) *string { return &r.macro }},
	{"iface", "-i", func(r *rule) *string { return &r.iface }},
	{"source", "-source", func(r *rule) *string { return &r.source }},
	{"dest", "-dest", func(r *rule) *string { return &r.dest }},
	{"proto", "-p", func(r *rule) *string { return &r.proto }},
	{"dport", "-dport", func(r *rule) *string { return &r.dport }},
	{"sport", "-sport", func(r *rule) *string { return &r.sport }},
	{"log", "-log", func(r *rule) *string { return &r.log }},
	{"icmp-type", "-icmp-type", func(r *rule) *string { return &r.icmp }},
	{"comment", "", func(r *rule) *string { return &r.comment }},
}

// renderRules writes the lines; those of a security group have no interface.
func renderRules(b *strings.Builder, rules []rule, withInterface bool) {
	for _, r := range rules {
		if !r.enable {
			b.WriteByte('|')
		}
		b.WriteString(strings.ToUpper(r.kind) + " ")
		if r.macro != "" {
			b.WriteString(r.macro + "(" + r.action + ")")
		} else {
			b.WriteString(r.action)
		}
		for _, f := range ruleFields {
			value := *f.of(&r)
			isInterface := f.name == "iface"
			if f.flag == "" || value == "" || r.kind == "group" && !isInterface || isInterface && !withInterface {
				continue
			}
			b.WriteString(" " + f.flag + " " + value)
		}
		b.WriteString(trailing(r.comment) + "\n")
	}
}

// parseRule reads one line; false when it is none.
func parseRule(line string) (rule, bool) {
	line, comment := cutComment(line)
	r := rule{comment: comment, enable: true}
	if rest, ok := strings.CutPrefix(line, "|"); ok {
		line, r.enable = rest, false
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return r, false
	}
	r.kind, r.action = strings.ToLower(words[0]), words[1]
	if r.kind != "in" && r.kind != "out" && r.kind != "forward" && r.kind != "group" {
		return r, false
	}
	if macro, action, ok := strings.Cut(r.action, "("); ok {
		r.macro, r.action = macro, strings.TrimSuffix(action, ")")
	}
	for words = words[2:]; len(words) > 0; words = words[2:] {
		if len(words) < 2 || !r.flag(words[0], words[1]) {
			return r, false
		}
	}
	return r, true
}

func (r *rule) flag(flag, value string) bool {
	flag = strings.Replace(flag, "--", "-", 1)
	if flag == "-proto" {
		flag = "-p"
	}
	for _, f := range ruleFields {
		if f.flag == flag && f.flag != "" {
			*f.of(r) = value
			return true
		}
	}
	return false
}

// entry is the rule as the API shows it.
func (r rule) entry() entry {
	e := entry{"enable": number01(r.enable)}
	for _, f := range ruleFields {
		if value := *f.of(&r); value != "" {
			e[f.name] = value
		}
	}
	for _, end := range []string{r.source, r.dest} {
		host, _, _ := strings.Cut(strings.Split(end, ",")[0], "/")
		host, _, _ = strings.Cut(host, "-")
		if a, err := netip.ParseAddr(host); err == nil {
			e["ipversion"] = map[bool]int{true: 4, false: 6}[a.Is4()]
		}
	}
	return e
}

// take copies what a request says into the rule; an empty value or a dash takes
// the field away.
func (r *rule) take(params map[string]string) {
	for _, f := range ruleFields {
		value, ok := params[f.name]
		if !ok {
			continue
		}
		if value == "-" {
			value = ""
		}
		*f.of(r) = value
	}
	if value, ok := params["enable"]; ok {
		r.enable = strings.Trim(value, "+0") != ""
	}
}

// check refuses a rule that the server would not take.
func (r rule) check(c *call, env environment, own *firewall) error {
	faults := map[string]string{}
	if r.kind == "group" {
		if _, ok := c.state.firewallOf("cluster").conf.groups[strings.ToLower(r.action)]; !ok {
			faults["action"] = "security group '" + r.action + "' does not exist"
		}
	} else if r.action != "ACCEPT" && r.action != "DROP" && r.action != "REJECT" {
		faults["action"] = "unknown action '" + r.action + "'"
	}
	if r.iface != "" && env == guestEnv && (len(r.iface) < 4 || r.iface[:3] != "net" || strings.Trim(r.iface[3:], "0123456789") != "") {
		faults["iface"] = "value does not match the regex pattern 'net\\d+'"
	}
	if (r.dport != "" || r.sport != "") && r.proto == "" {
		faults["proto"] = "missing property - required by '" + map[bool]string{true: "dport", false: "sport"}[r.dport != ""] + "'"
	}
	for name, end := range map[string]string{"source": r.source, "dest": r.dest} {
		if err := c.resolve(end, own); err != nil {
			faults[name] = err.Error()
		}
	}
	if len(faults) > 0 {
		return wrong(faults)
	}
	return nil
}
