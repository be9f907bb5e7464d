package guests

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"homeward/agent/ledger/inventory"
)

// filter adds what the external NIC's set lacks, and gives what is stale in it.
func (b *builder) filter(key string) (stale []Step) {
	name, staging := filterSet(key), stagingSet(key)
	set, exists := b.a.Sets[name]
	built, half := b.a.Sets[staging]
	if half && !b.m.made(built.Comment) {
		b.item([]string{pvesh("delete", b.a.plainPath("firewall/ipset/"+staging), map[string]string{"force": "1"})},
			"the set %s is not this cluster's, and stands where %s would be built", staging, name)
		return nil
	}
	// Without any filter and without a firewall of ours there is nothing to let
	// through; a set would only begin to filter.
	if !b.a.filtered(key) && !half && !b.a.on("enable") && !b.d.Governs() {
		return nil
	}
	if len(set.Members) == 0 {
		return b.build(name, staging, built, half, exists)
	}
	for _, m := range b.missing(set) {
		b.addMember(name, m)
	}
	stale = b.staleMembers(name, set)
	if half {
		drop := Step{Guest: b.a.String(), Words: "delete the half-built set", part: partSets,
			Request: remove(b.path("firewall", "ipset", staging), url.Values{"force": {"1"}})}
		stale = append(stale, drop)
	}
	b.foreignMembers(name, set)
	return stale
}

// build makes the set whole under another name, then gives it its own: the firewall
// never sees it without one of its members. An empty set in its place filters IPv4
// already and ARP not yet, and makes room only when the other is whole.
func (b *builder) build(name, staging string, built Set, half, exists bool) []Step {
	comment := b.m.comment(forFilter)
	if !half {
		b.step(partSets, post(b.path("firewall", "ipset"), url.Values{"name": {staging}, "comment": {comment}}), "begin the set that becomes %s", name)
	}
	for _, m := range b.missing(built) {
		b.addMember(staging, m)
	}
	b.Steps = append(b.Steps, b.staleMembers(staging, built)...)
	if exists {
		// Without force: should it have members by now, the server refuses.
		b.step(partSets, remove(b.path("firewall", "ipset", name), nil), "delete the empty set in its place")
	}
	b.step(partSets, post(b.path("firewall", "ipset"), url.Values{"name": {name}, "rename": {staging}, "comment": {comment}}),
		"put the whole set in force").guard(b.a.SetsDigest)
	return nil
}

func (b *builder) addMember(set string, m Member) {
	b.step(partSets, post(b.path("firewall", "ipset", set), url.Values{"cidr": {canonical(m.Prefix)}, "comment": {b.m.comment(m.For)}}),
		"let %s out (%s)", canonical(m.Prefix), m.For)
}

// wanted says that a member of ours belongs in the set.
func (b *builder) wanted(m inventory.Member) bool {
	p, ok := literal(m.CIDR)
	return ok && !m.NoMatch && slices.ContainsFunc(b.d.Members, func(w Member) bool { return w.Prefix == p })
}

// missing are the wanted members that neither stand in the set nor are covered by
// what stays in it. One that stands there as an exception cannot be added beside it:
// the server takes both for the same.
func (b *builder) missing(set Set) []Member {
	var stays, exceptions []netip.Prefix
	for _, m := range set.Members {
		p, ok := literal(m.CIDR)
		switch {
		case ok && m.NoMatch:
			exceptions = append(exceptions, p)
		case ok && (!b.m.made(m.Comment) || b.wanted(m)):
			stays = append(stays, p)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.d.Members), func(m Member) bool {
		return covers(stays, m.Prefix) || slices.Contains(exceptions, m.Prefix)
	})
}

// staleMembers are deletions of members of ours that the plan has no more.
func (b *builder) staleMembers(name string, set Set) []Step {
	var out []Step
	for _, m := range set.Members {
		if !b.m.made(m.Comment) || b.wanted(m) {
			continue
		}
		s := Step{Guest: b.a.String(), Words: plain("let " + m.CIDR + " out no more"), part: partSets,
			Request: remove(b.path("firewall", "ipset", name, m.CIDR), nil)}
		s.guard(set.Digest)
		out = append(out, s)
	}
	return out
}

// foreignMembers reports what others put into the set that harms.
func (b *builder) foreignMembers(name string, set Set) {
	for _, m := range set.Members {
		p, ok := literal(m.CIDR)
		path := b.a.plainPath("firewall/ipset/" + name + "/" + m.CIDR)
		switch {
		case !ok:
			b.item([]string{pvesh("delete", path, nil)},
				"%s holds the alias %s: the older firewall then skips the whole layer-2 filter of this guest; add what it stands for as addresses, then delete it", name, m.CIDR)
		case m.NoMatch && slices.ContainsFunc(b.d.Members, func(w Member) bool { return w.Prefix.Overlaps(p) }):
			b.item([]string{pvesh("delete", path, nil)}, "%s holds %s as an exception (nomatch), which is the plan's: it is not let out", name, m.CIDR)
		}
	}
}

// privateFilterFault says how a filter on the private NIC would cut the guest off;
// empty where there is none that does.
func (b *builder) privateFilterFault(key string) string {
	if !b.a.filtered(key) {
		return ""
	}
	set, exists := b.a.Sets[filterSet(key)]
	if !exists {
		return "ipfilter is on and there is no set " + filterSet(key) + ", so that the private NIC may send from no address"
	}
	var without []string
	for _, m := range b.d.PrivateMembers {
		if !covers(set.literals(), m.Prefix) {
			without = append(without, canonical(m.Prefix))
		}
	}
	if len(without) > 0 || len(set.Members) == 0 {
		return filterSet(key) + " does not let the private NIC send from " + strings.Join(append(without, b.unknownAddress()...), ", ")
	}
	return ""
}

// unknownAddress names a private address that DHCP gives.
func (b *builder) unknownAddress() []string {
	if b.d.Machine.Address.IsValid() {
		return nil
	}
	return []string{"its address (which DHCP gives it)"}
}

// privateFilter reports such a filter where the firewall is in force already: the
// private NIC's set is not ours, as pods may send from addresses of their own.
func (b *builder) privateFilter(key string) {
	why := b.privateFilterFault(key)
	if why == "" {
		return
	}
	name := filterSet(key)
	var commands []string
	if _, exists := b.a.Sets[name]; !exists && len(b.d.PrivateMembers) > 0 {
		commands = append(commands, pvesh("create", b.a.plainPath("firewall/ipset"), map[string]string{"name": name}))
	}
	for _, m := range b.d.PrivateMembers {
		commands = append(commands, pvesh("create", b.a.plainPath("firewall/ipset/"+name), map[string]string{"cidr": canonical(m.Prefix)}))
	}
	for _, what := range b.unknownAddress() {
		why += "; add " + what + " to that set"
	}
	b.item(commands, "%s; with pods that are routed and not tunnelled, add their addresses too", why)
}
