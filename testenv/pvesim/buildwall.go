package pvesim

import (
	"slices"
	"strconv"
)

// Scopes of firewall files.
const ClusterScope = "cluster"

// GuestScope is a guest's own firewall, NodeScope a node's.
func GuestScope(vmid int) string { return "guest/" + strconv.Itoa(vmid) }

// NodeScope is a node's own firewall.
func NodeScope(node string) string { return "host/" + node }

// environmentOf says what kind of file a scope has.
func environmentOf(scope string) environment {
	switch {
	case scope == ClusterScope:
		return clusterEnv
	case len(scope) > 5 && scope[:5] == "host/":
		return hostEnv
	}
	return guestEnv
}

// SetFirewall replaces a firewall file by its text; the empty text takes it away.
// Text that the server could not read is passed over, as the server does.
func (st *State) SetFirewall(scope, text string) {
	st.saveFirewall(scope, &firewallFile{text: text, conf: parseFirewall(text, environmentOf(scope))})
}

// Firewall gives the text of a firewall file, empty when there is none.
func (st *State) Firewall(scope string) string { return st.firewallOf(scope).text }

// Member is one line of an IPSet.
type Member struct {
	CIDR, Comment string
	NoMatch       bool
}

// AddSet makes an IPSet with these members, in place of one of that name.
func (st *State) AddSet(scope, name, comment string, members ...Member) {
	f := st.firewallOf(scope).conf.clone()
	s := ipset{comment: comment}
	for _, m := range members {
		s.members = append(s.members, member{cidr: m.CIDR, comment: m.Comment, nomatch: m.NoMatch})
	}
	f.sets[name] = s
	st.saveFirewall(scope, newFirewallFile(f, environmentOf(scope)))
}

// DropSet takes an IPSet away, with all its members.
func (st *State) DropSet(scope, name string) {
	f := st.firewallOf(scope).conf.clone()
	delete(f.sets, name)
	st.saveFirewall(scope, newFirewallFile(f, environmentOf(scope)))
}

// Set gives an IPSet's members in the order of the file; false when there is no
// such set.
func (st *State) Set(scope, name string) ([]Member, bool) {
	s, ok := st.firewallOf(scope).conf.sets[name]
	if !ok {
		return nil, false
	}
	var list []Member
	for _, m := range s.members {
		list = append(list, Member{CIDR: m.cidr, Comment: m.comment, NoMatch: m.nomatch})
	}
	return list, true
}

// Sets gives the names of the IPSets, ascending.
func (st *State) Sets(scope string) []string {
	return slices.Clone(sorted(st.firewallOf(scope).conf.sets))
}

// AddAlias names an address or network.
func (st *State) AddAlias(scope, name, cidr, comment string) {
	f := st.firewallOf(scope).conf.clone()
	f.aliases[name] = alias{name: name, cidr: cidr, comment: comment}
	st.saveFirewall(scope, newFirewallFile(f, environmentOf(scope)))
}

// SetOption sets an option of a firewall; the empty value takes it away.
func (st *State) SetOption(scope, name, value string) {
	f := st.firewallOf(scope).conf.clone()
	f.options[name] = value
	if value == "" {
		delete(f.options, name)
	}
	st.saveFirewall(scope, newFirewallFile(f, environmentOf(scope)))
}
