package pvesim

import (
	"maps"
	"slices"
	"strings"
)

func (f *firewall) aliasEntries() (list []entry, digest string) {
	list = make([]entry, 0, len(f.aliases))
	for _, key := range slices.Sorted(maps.Keys(f.aliases)) {
		list = append(list, f.aliases[key].entry())
	}
	return listWithDigest(list)
}

func (a alias) entry() entry {
	e := entry{"name": a.name, "cidr": a.cidr, "ipversion": 4}
	if strings.Contains(a.cidr, ":") {
		e["ipversion"] = 6
	}
	if a.comment != "" {
		e["comment"] = a.comment
	}
	return e
}

func listAliases(c *call) (any, error) {
	list, _ := c.wall().aliasEntries()
	return list, nil
}

func getAlias(c *call) (any, error) {
	a, ok := c.wall().aliases[strings.ToLower(c.params["name"])]
	if !ok {
		return nil, wrongParam("name", "no such alias")
	}
	return a.entry(), nil
}

func createAlias(c *call) (any, error) {
	f := c.wall().clone()
	name := c.params["name"]
	if _, ok := f.aliases[strings.ToLower(name)]; ok {
		return nil, wrongParam("name", "alias '%s' already exists", name)
	}
	f.aliases[strings.ToLower(name)] = alias{name: name, cidr: c.params["cidr"], comment: c.params["comment"]}
	c.saveWall(f)
	return nil, nil
}

func putAlias(c *call) (any, error) {
	f := c.wall().clone()
	name := c.params["name"]
	if _, digest := f.aliasEntries(); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	a, ok := f.aliases[strings.ToLower(name)]
	if !ok {
		return nil, wrongParam("name", "no such alias")
	}
	a.cidr, a.comment = c.params["cidr"], c.params["comment"]
	if to := c.params["rename"]; to != "" && !strings.EqualFold(to, name) {
		if _, ok := f.aliases[strings.ToLower(to)]; ok {
			return nil, wrongParam("rename", "alias '%s' already exists", to)
		}
		delete(f.aliases, strings.ToLower(name))
		a.name, name = to, to
	}
	f.aliases[strings.ToLower(name)] = a
	c.saveWall(f)
	return nil, nil
}

func deleteAlias(c *call) (any, error) {
	f := c.wall().clone()
	if _, digest := f.aliasEntries(); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	delete(f.aliases, strings.ToLower(c.params["name"]))
	c.saveWall(f)
	return nil, nil
}

// listRefs gives what rules may refer to: own aliases and sets, and the
// datacenter's.
func listRefs(c *call) (any, error) {
	list := []entry{}
	want := c.params["type"]
	add := func(f *firewall, scope, prefix string) {
		for _, key := range slices.Sorted(maps.Keys(f.aliases)) {
			if want == "" || want == "alias" {
				list = append(list, entry{"type": "alias", "name": f.aliases[key].name, "ref": prefix + f.aliases[key].name, "scope": scope, "comment": f.aliases[key].comment})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(f.sets)) {
			if want == "" || want == "ipset" {
				list = append(list, entry{"type": "ipset", "name": name, "ref": "+" + prefix + name, "scope": scope, "comment": f.sets[name].comment})
			}
		}
	}
	if _, env := c.scope(); env == guestEnv {
		add(c.wall(), "guest", "guest/")
	}
	add(c.state.firewallOf("cluster").conf, "dc", "dc/")
	return list, nil
}

func (f *firewall) optionEntry() (e entry, digest string) {
	e = entry{}
	for k, v := range f.options {
		e[k] = scalar(v)
	}
	_, digest = listWithDigest([]entry{e})
	return e, digest
}

func getOptions(c *call) (any, error) {
	e, _ := c.wall().optionEntry()
	return e, nil
}

func putOptions(c *call) (any, error) {
	_, env := c.scope()
	f := c.wall().clone()
	if _, digest := f.optionEntry(); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	kinds := optionKinds(env)
	for _, name := range splitList(c.params["delete"]) {
		if kinds[name] == "" {
			return nil, wrongParam("delete", "no such option '%s'", name)
		}
		delete(f.options, name)
	}
	for name := range kinds {
		if v, ok := c.params[name]; ok {
			f.options[name] = v
		}
	}
	c.saveWall(f)
	return nil, nil
}

func groupIndex(f *firewall) []entry {
	list := make([]entry, 0, len(f.groups))
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		e := entry{"group": name}
		if comment := f.groups[name].comment; comment != "" {
			e["comment"] = comment
		}
		list = append(list, e)
	}
	return list
}

func listGroups(c *call) (any, error) {
	list, _ := listWithDigest(groupIndex(c.wall()))
	return list, nil
}

func createGroup(c *call) (any, error) {
	f := c.wall().clone()
	name, from := c.params["group"], c.params["rename"]
	g, exists := f.groups[name]
	switch {
	case from == "" && exists:
		return nil, wrongParam("group", "Security group '%s' already exists", name)
	case from != "":
		if _, digest := listWithDigest(groupIndex(f)); unchanged(c, digest) != nil {
			return nil, errModified()
		}
		old, ok := f.groups[from]
		if !ok {
			return nil, wrongParam("group", "Security group '%s' does not exist", from)
		}
		if exists && name != from {
			return nil, wrongParam("group", "Security group '%s' already exists", name)
		}
		delete(f.groups, from)
		g = old
	}
	if comment, ok := c.params["comment"]; ok {
		g.comment = comment
	}
	f.groups[name] = g
	c.saveWall(f)
	return nil, nil
}

func deleteGroup(c *call) (any, error) {
	f := c.wall().clone()
	g, ok := f.groups[c.params["group"]]
	if !ok {
		return nil, refuse("no such security group '%s'", c.params["group"])
	}
	if len(g.rules) > 0 {
		return nil, refuse("Security group '%s' is not empty", c.params["group"])
	}
	delete(f.groups, c.params["group"])
	c.saveWall(f)
	return nil, nil
}
