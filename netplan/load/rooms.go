package load

import (
	"slices"
	"strings"
)

// room is one place in the file's tree: a key of the table at its own or its
// second place, and what may stand in it.
type room struct {
	key *key
	// second says that this is key.also.
	second bool
	// strict is the section's own or that of one above.
	strict   bool
	children map[string]*room
	order    []string // of children, as the table has them
	wild     *room    // for names of the operator's
}

// rooms builds the tree of all keys of a cluster.yaml.
func rooms() *room { return roomsOf(keys) }

// roomsOf builds the tree of a table's keys.
func roomsOf(table []key) *room {
	root := &room{key: &key{}}
	for i := range table {
		k := &table[i]
		root.insert(k.path, k, false)
		if k.also != "" {
			root.insert(k.also, k, true)
		}
	}
	root.inherit(false)
	return root
}

func (r *room) insert(path string, k *key, second bool) {
	at := r
	for _, name := range strings.Split(path, ".") {
		at = at.enter(name)
	}
	at.key, at.second = k, second
}

// enter gives the child of that name, made where it is missing.
func (r *room) enter(name string) *room {
	if name == "*" {
		if r.wild == nil {
			r.wild = &room{}
		}
		return r.wild
	}
	if r.children == nil {
		r.children = map[string]*room{}
	}
	if r.children[name] == nil {
		r.children[name] = &room{}
		r.order = append(r.order, name)
	}
	return r.children[name]
}

func (r *room) inherit(strict bool) {
	r.strict = strict || r.key.strict
	for _, c := range r.children {
		c.inherit(r.strict)
	}
	if r.wild != nil {
		r.wild.inherit(r.strict)
	}
}

// path is the room's place as a pattern.
func (r *room) path() string {
	if r.second {
		return r.key.also
	}
	return r.key.path
}

// last is the name at the end of a path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// parent is the path without its last name, empty at the top.
func parent(path string) string {
	at := strings.LastIndexAny(path, ".[")
	return path[:max(at, 0)]
}

// within says whether path is above or below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// elsewhere gives the paths of keys with that name which the operator may have
// meant: those of the same link where the key stands in cluster or external.
// Only the network sections are looked through, for only there a key has more
// than one room that seems right.
func elsewhere(name, at string) []string {
	var all, same []string
	link := last(parent(at))
	for _, k := range keys {
		if last(k.path) != name || !inNetwork(k.path) || k.path == at {
			continue
		}
		all = append(all, k.path)
		if last(parent(k.path)) == link || last(parent(k.also)) == link {
			same = append(same, k.path)
		}
	}
	if len(same) > 0 {
		return same
	}
	return all
}

func inNetwork(path string) bool {
	return slices.ContainsFunc([]string{"network", "proxmox.network"}, func(s string) bool { return within(path, s) })
}
