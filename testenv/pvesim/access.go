package pvesim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// getPermissions is what clients ask before they believe that something is not
// there: a path on which there is no right is left out.
func getPermissions(c *call) (any, error) {
	t := c.token
	if id, ok := c.params["userid"]; ok && id != t.ID {
		other, found := c.state.tokens.get(id)
		if !found || !c.state.may(t, "/access", "Sys.Audit") {
			return nil, forbidden("/access", "Sys.Audit")
		}
		t = other
	}
	if path, ok := c.params["path"]; ok {
		return map[string]any{cleanPath(path): numbers(c.state.rights(t, cleanPath(path)))}, nil
	}
	paths := map[string]bool{}
	for _, p := range strings.Fields("/ /access /access/groups /mapping /nodes /pool /sdn /storage /vms") {
		paths[p] = true
	}
	for _, other := range c.state.tokens.all() {
		for _, g := range other.Grants {
			paths[cleanPath(g.Path)] = true
		}
	}
	for _, g := range c.state.guests.all() {
		if g.Pool != "" {
			paths["/vms/"+strconv.Itoa(g.VMID)] = true
		}
	}
	tree := map[string]any{}
	for path := range paths {
		if rights := c.state.rights(t, path); len(rights) > 0 {
			tree[path] = numbers(rights)
		}
	}
	return tree, nil
}

func numbers(rights map[string]bool) map[string]int {
	out := make(map[string]int, len(rights))
	for p, propagate := range rights {
		out[p] = number01(propagate)
	}
	return out
}

// number01 is a boolean as the API writes it.
func number01(b bool) int {
	if b {
		return 1
	}
	return 0
}

func getACL(c *call) (any, error) {
	list := []any{}
	for _, id := range slices.Sorted(maps.Keys(c.state.tokens.all())) {
		t, _ := c.state.tokens.get(id)
		for _, g := range t.Grants {
			if !c.state.may(c.token, cleanPath(g.Path), "Permissions.Modify") {
				continue
			}
			role := g.Role
			if role == "" {
				role = strings.Join(g.Privileges, ",")
			}
			list = append(list, map[string]any{"path": g.Path, "type": "token", "ugid": id, "roleid": role, "propagate": number01(g.Propagate)})
		}
	}
	return list, nil
}
