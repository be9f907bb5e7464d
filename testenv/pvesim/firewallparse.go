package pvesim

import (
	"regexp"
	"slices"
	"strings"
)

// environment is whose firewall file it is: that decides about sections and options.
type environment string

const (
	clusterEnv environment = "cluster"
	hostEnv    environment = "host"
	guestEnv   environment = "guest"
)

// heads are the section headers of groups and sets.
var (
	setHead   = regexp.MustCompile(`(?i)^\[ipset\s+(\S+)\]\s*(?:#\s*(.*?)\s*)?$`)
	groupHead = regexp.MustCompile(`(?i)^\[group\s+(\S+)\]\s*(?:#\s*(.*?)\s*)?$`)
	aliasLine = regexp.MustCompile(`^(\S+)\s(\S+)$`)
	setLine   = regexp.MustCompile(`^(!)?\s*(\S+)\s*$`)
)

// firewallParser is where in a file the reader is.
type firewallParser struct {
	env     environment
	f       *firewall
	section string
	name    string
}

// parseFirewall reads a file. As on the server what cannot be read is passed over,
// names become lower case, and a second section of one name replaces the first.
func parseFirewall(text string, env environment) *firewall {
	p := firewallParser{env: env, f: (&firewall{}).clone()}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Trim(line, " \t")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line[0] != '[' || !p.head(line) {
			p.line(line)
		}
	}
	return p.f
}

// head takes a section header, and says whether it was one.
func (p *firewallParser) head(line string) bool {
	lower := strings.ToLower(line)
	switch {
	case lower == "[options]", lower == "[rules]", lower == "[aliases]" && p.env != hostEnv:
		p.section = strings.Trim(lower, "[]")
		return true
	case p.env != hostEnv && setHead.MatchString(line):
		m := setHead.FindStringSubmatch(line)
		if p.enter("ipset", m[1], 64) {
			p.f.sets[p.name] = ipset{comment: m[2]}
		}
		return true
	case p.env == clusterEnv && groupHead.MatchString(line):
		m := groupHead.FindStringSubmatch(line)
		if p.enter("group", m[1], 18) {
			p.f.groups[p.name] = group{comment: m[2]}
		}
		return true
	}
	return false
}

// enter begins a named section; what follows a name that is none is passed over.
func (p *firewallParser) enter(section, name string, longest int) bool {
	p.section, p.name = section, strings.ToLower(name)
	if len(name) > longest || !aliasName.MatchString(name) {
		p.section = ""
		return false
	}
	return true
}

func (p *firewallParser) line(line string) {
	switch p.section {
	case "options":
		if k, v, ok := parseOption(line, p.env); ok {
			p.f.options[k] = v
		}
	case "aliases":
		line, comment := cutComment(line)
		m := aliasLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return
		}
		if cidr, ok := readCIDR(m[2]); ok {
			p.f.aliases[strings.ToLower(m[1])] = alias{name: m[1], cidr: cidr, comment: comment}
		}
	case "rules":
		if r, ok := parseRule(line); ok {
			p.f.rules = append(p.f.rules, r)
		}
	case "group":
		if r, ok := parseRule(line); ok {
			g := p.f.groups[p.name]
			g.rules = append(g.rules, r)
			p.f.groups[p.name] = g
		}
	case "ipset":
		p.member(line)
	}
}

func (p *firewallParser) member(line string) {
	line, comment := cutComment(line)
	m := setLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	cidr := m[2]
	if !scopedAlias.MatchString(cidr) {
		if read, ok := readCIDR(cidr); ok {
			cidr = read
		}
	}
	s := p.f.sets[p.name]
	s.members = append(s.members, member{cidr: cidr, comment: comment, nomatch: m[1] != ""})
	p.f.sets[p.name] = s
}

// cutComment parts a line at its first number sign.
func cutComment(line string) (rest, comment string) {
	rest, comment, _ = strings.Cut(line, "#")
	return rest, strings.TrimSpace(comment)
}

var (
	policies  = []string{"ACCEPT", "DROP", "REJECT"}
	logLevels = []string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "nolog"}
)

// optionKinds are the options of each kind of file and what their values are.
func optionKinds(env environment) map[string]string {
	switch env {
	case clusterEnv:
		return map[string]string{"enable": "int", "ebtables": "bool", "policy_in": "policy", "policy_out": "policy", "policy_forward": "policy", "log_ratelimit": "word"}
	case hostEnv:
		return map[string]string{"enable": "bool", "nosmurfs": "bool", "tcpflags": "bool", "ndp": "bool", "nftables": "bool", "log_nf_conntrack": "bool",
			"nf_conntrack_allow_invalid": "bool", "protection_synflood": "bool", "protection_synflood_rate": "int", "protection_synflood_burst": "int",
			"nf_conntrack_max": "int", "nf_conntrack_tcp_timeout_established": "int", "nf_conntrack_tcp_timeout_syn_recv": "int", "nf_conntrack_helpers": "word",
			"log_level_in": "level", "log_level_out": "level", "log_level_forward": "level", "tcp_flags_log_level": "level", "smurf_log_level": "level"}
	}
	return map[string]string{"enable": "bool", "dhcp": "bool", "ndp": "bool", "radv": "bool", "macfilter": "bool", "ipfilter": "bool",
		"policy_in": "policy", "policy_out": "policy", "log_level_in": "level", "log_level_out": "level"}
}

func parseOption(line string, env environment) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	key, value = strings.ToLower(key), strings.TrimSpace(value)
	if !ok {
		return "", "", false
	}
	switch optionKinds(env)[key] {
	case "bool":
		return key, value, value == "0" || value == "1"
	case "int":
		return key, value, value != "" && strings.Trim(value, "0123456789") == ""
	case "policy":
		value = strings.ToUpper(value)
		return key, value, slices.Contains(policies, value)
	case "level":
		value = strings.ToLower(value)
		return key, value, value == "" || slices.Contains(logLevels, value)
	case "word":
		return key, value, value != "" && !strings.ContainsAny(value, " \t")
	}
	return "", "", false
}
