package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scope says whose firewall file a call is about.
func (c *call) scope() (name string, env environment) {
	switch {
	case c.params["vmid"] != "":
		return "guest/" + c.params["vmid"], guestEnv
	case c.params["node"] != "":
		return "host/" + c.params["node"], hostEnv
	}
	return "cluster", clusterEnv
}

// wall gives the firewall of a call's scope.
func (c *call) wall() *firewall {
	name, _ := c.scope()
	return c.state.firewallOf(name).conf
}

// saveWall writes it.
func (c *call) saveWall(f *firewall) {
	name, env := c.scope()
	c.state.saveFirewall(name, newFirewallFile(f, env))
}

// saveFirewall puts a file in place; an empty one goes.
func (st *State) saveFirewall(scope string, f *firewallFile) {
	if f.text == "" {
		st.firewall.drop(scope)
		return
	}
	st.firewall.set(scope, f)
}

// set gives the call's IPSet. The name must be as it is stored: in lower case.
func (c *call) set() (ipset, error) {
	s, ok := c.wall().sets[c.params["name"]]
	if !ok {
		return s, refuse("no such IPSet '%s'", c.params["name"])
	}
	return s, nil
}

func (c *call) saveSet(s ipset) {
	f := c.wall().clone()
	f.sets[c.params["name"]] = s
	c.saveWall(f)
}

func setIndex(f *firewall) []entry {
	list := make([]entry, 0, len(f.sets))
	for _, name := range slices.Sorted(maps.Keys(f.sets)) {
		e := entry{"name": name}
		if comment := f.sets[name].comment; comment != "" {
			e["comment"] = comment
		}
		list = append(list, e)
	}
	return list
}

func listSets(c *call) (any, error) {
	list, _ := listWithDigest(setIndex(c.wall()))
	return list, nil
}

func createSet(c *call) (any, error) {
	f := c.wall().clone()
	name, from := c.params["name"], c.params["rename"]
	comment, commented := c.params["comment"]
	if from == "" {
		if _, ok := f.sets[name]; ok {
			return nil, wrongParam("name", "IPSet '%s' already exists", name)
		}
		f.sets[name] = ipset{comment: comment}
		c.saveWall(f)
		return nil, nil
	}
	if _, digest := listWithDigest(setIndex(f)); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	s, ok := f.sets[from]
	if !ok {
		return nil, wrongParam("name", "IPSet '%s' does not exist", from)
	}
	if _, ok := f.sets[name]; ok && name != from {
		return nil, wrongParam("name", "IPSet '%s' already exists", name)
	}
	delete(f.sets, from)
	if commented {
		s.comment = comment
	}
	f.sets[name] = s
	c.saveWall(f)
	return nil, nil
}

func deleteSet(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	if len(s.members) > 0 && c.params["force"] != "1" {
		return nil, refuse("IPSet '%s' is not empty", c.params["name"])
	}
	f := c.wall().clone()
	delete(f.sets, c.params["name"])
	c.saveWall(f)
	return nil, nil
}

func (s ipset) entries() (list []entry, digest string) {
	list = make([]entry, 0, len(s.members))
	for _, m := range s.members {
		e := entry{"cidr": m.cidr}
		if m.comment != "" {
			e["comment"] = m.comment
		}
		if m.nomatch {
			e["nomatch"] = 1
		}
		list = append(list, e)
	}
	return listWithDigest(list)
}

func (s ipset) find(cidr string) int {
	return slices.IndexFunc(s.members, func(m member) bool { return m.cidr == cidr })
}

func listMembers(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	list, _ := s.entries()
	return list, nil
}

func getMember(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	i := s.find(c.params["cidr"])
	if i < 0 {
		return nil, wrongParam("cidr", "no such IP/Network")
	}
	list, _ := s.entries()
	return list[i], nil
}

// addMember is the test-and-set on which reservations rest: on the exact string,
// once a single address has lost its prefix and a network its host bits.
func addMember(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	cidr := c.params["cidr"]
	if scopedAlias.MatchString(cidr) {
		if err := c.resolve(cidr, c.wall()); err != nil {
			return nil, refuse("%s", err)
		}
	} else {
		cidr = cleanCIDR(cidr)
	}
	if s.find(cidr) >= 0 {
		return nil, wrongParam("cidr", "address '%s' already exists", cidr)
	}
	if strings.HasSuffix(cidr, "/0") {
		return nil, wrongParam("cidr", "a zero prefix is not allowed in ipset entries")
	}
	m := member{cidr: cidr, comment: c.params["comment"], nomatch: c.params["nomatch"] == "1"}
	s.members = append([]member{m}, s.members...)
	c.saveSet(s)
	return nil, nil
}

// putMember replaces both comment and nomatch, also when the request has neither.
func putMember(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	if _, digest := s.entries(); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	i := s.find(c.params["cidr"])
	if i < 0 {
		return nil, wrongParam("cidr", "no such IP/Network")
	}
	s.members = slices.Clone(s.members)
	s.members[i].comment, s.members[i].nomatch = c.params["comment"], c.params["nomatch"] == "1"
	c.saveSet(s)
	return nil, nil
}

// deleteMember takes the member of exactly that text away, and is content when
// there is none.
func deleteMember(c *call) (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	if _, digest := s.entries(); unchanged(c, digest) != nil {
		return nil, errModified()
	}
	s.members = slices.DeleteFunc(slices.Clone(s.members), func(m member) bool { return m.cidr == c.params["cidr"] })
	c.saveSet(s)
	return nil, nil
}

// resolve says whether what a rule or set refers to exists.
func (c *call) resolve(text string, own *firewall) error {
	cluster := c.state.firewallOf("cluster").conf
	for _, word := range splitList(text) {
		name, isSet := strings.CutPrefix(word, "+")
		m := scopedAlias.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		key := strings.ToLower(m[2])
		_, here := own.aliases[key]
		_, above := cluster.aliases[key]
		what := "alias"
		if isSet {
			what = "ipset"
			_, here = own.sets[key]
			_, above = cluster.sets[key]
		}
		if !(here && m[1] != "dc/" || above && m[1] != "guest/") {
			return fmt.Errorf("no such %s '%s'", what, name)
		}
	}
	return nil
}
