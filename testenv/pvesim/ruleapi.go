package pvesim

import (
	"slices"
	"strconv"
)

// ruleList gives the rules that a call is about, a security group's or the file's own.
func (c *call) ruleList() ([]rule, error) {
	name, ok := c.params["group"]
	if !ok {
		return c.wall().rules, nil
	}
	g, ok := c.wall().groups[name]
	if !ok {
		return nil, refuse("no such security group '%s'", name)
	}
	return g.rules, nil
}

func (c *call) saveRules(rules []rule) {
	f := c.wall().clone()
	if name, ok := c.params["group"]; ok {
		g := f.groups[name]
		g.rules = rules
		f.groups[name] = g
	} else {
		f.rules = rules
	}
	c.saveWall(f)
}

func ruleEntries(rules []rule) (list []entry, digest string) {
	list = make([]entry, len(rules))
	for i, r := range rules {
		list[i] = r.entry()
	}
	list, digest = listWithDigest(list)
	for i := range list {
		list[i]["pos"] = i // not part of the digest
	}
	return list, digest
}

func listRules(c *call) (any, error) {
	rules, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	list, _ := ruleEntries(rules)
	return list, nil
}

// at gives the rules and the position of the call, once the digest is right.
func (c *call) at() (rules []rule, pos int, err error) {
	if rules, err = c.ruleList(); err != nil {
		return nil, 0, err
	}
	if _, digest := ruleEntries(rules); unchanged(c, digest) != nil {
		return nil, 0, errModified()
	}
	pos, err = strconv.Atoi(c.params["pos"])
	if err != nil || pos >= len(rules) {
		return nil, 0, refuse("no rule at position %s", c.params["pos"])
	}
	return slices.Clone(rules), pos, nil
}

func getRule(c *call) (any, error) {
	rules, pos, err := c.at()
	if err != nil {
		return nil, err
	}
	list, _ := ruleEntries(rules)
	return list[pos], nil
}

// createRule puts the rule first and switched off, unless the request says
// enable; it looks neither at pos nor at digest.
func createRule(c *call) (any, error) {
	rules, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	var r rule
	r.take(c.params)
	_, env := c.scope()
	if err := r.check(c, env, c.wall()); err != nil {
		return nil, err
	}
	c.saveRules(append([]rule{r}, rules...))
	return nil, nil
}

// putRule changes a rule, or moves it before another.
func putRule(c *call) (any, error) {
	rules, pos, err := c.at()
	if err != nil {
		return nil, err
	}
	if to, ok := c.params["moveto"]; ok && to != c.params["pos"] {
		target, err := strconv.Atoi(to)
		if err != nil {
			return nil, wrongParam("moveto", "type check ('integer') failed - got '%s'", to)
		}
		c.saveRules(moved(rules, pos, target))
		return nil, nil
	}
	r := rules[pos]
	r.take(c.params)
	for _, name := range splitList(c.params["delete"]) {
		r.take(map[string]string{name: ""})
	}
	_, env := c.scope()
	if err := r.check(c, env, c.wall()); err != nil {
		return nil, err
	}
	rules[pos] = r
	c.saveRules(rules)
	return nil, nil
}

// moved puts the rule at from before the one at to, or last.
func moved(rules []rule, from, to int) []rule {
	r := rules[from]
	var out []rule
	for i, other := range rules {
		if i == from {
			continue
		}
		if i == to {
			out = append(out, r)
		}
		out = append(out, other)
	}
	if to >= len(rules) {
		out = append(out, r)
	}
	return out
}

func deleteRule(c *call) (any, error) {
	rules, pos, err := c.at()
	if err != nil {
		return nil, err
	}
	c.saveRules(slices.Delete(rules, pos, pos+1))
	return nil, nil
}
