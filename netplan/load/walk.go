package load

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// value is one known key as the file has it.
type value struct {
	key *key
	// above is the canonical path of what it stands in.
	above string
	// path and line are the file's own; they differ from the canonical path
	// where the key stands in its second place.
	path string
	line int
	// parsed has the Go type of the key's kind; nil where it could not be read.
	parsed any
	// names are the operator's names in a section, in file order.
	names []string
}

// document is a file as flat values, and all that was wrong in it.
type document struct {
	root *room
	// values by canonical path, with the operator's names as they are.
	values map[string]*value
	faults collector
	// tainted are canonical paths that already have a fault, blamed those whose
	// faults may follow from it: what netplan says about these is no second
	// mistake.
	tainted, blamed map[string]bool
	// meant are keys that an unknown key was probably meant to be; while they
	// are not given themselves, they count as tainted.
	meant map[string]bool
	// encrypted is the first encrypted value, and how many there are.
	encrypted struct {
		first Located
		count int
	}
	// compared is how many unknown keys were compared with the known ones.
	compared int
	unused   []Key
	warnings []netplan.Warning
}

// walk reads a whole cluster.yaml against the table of keys.
func walk(root *yaml.Node) *document { return walkBy(rooms(), root) }

// walkBy reads a whole file against the keys of a tree.
func walkBy(known *room, root *yaml.Node) *document {
	d := &document{root: known, values: map[string]*value{}, tainted: map[string]bool{}, blamed: map[string]bool{}, meant: map[string]bool{}}
	d.walkSection(root, place{room: d.root, line: root.Line})
	if n := d.encrypted.count; n > 0 {
		l := d.encrypted.first
		l.Message = "the value is encrypted: decrypt the file first (sops -d)"
		switch {
		case n == 2:
			l.Message += "; so is 1 more"
		case n > 2:
			l.Message += fmt.Sprintf("; so are %d more", n-1)
		}
		d.faults.add(l.Path, l)
	}
	slices.SortStableFunc(d.unused, func(a, b Key) int { return a.Line - b.Line })
	return d
}

// place is where the walk stands.
type place struct {
	room      *room
	above     string // the canonical path of what it stands in
	canonical string
	path      string
	line      int
}

// below gives the place of a child of that name.
func (p place) below(r *room, name string, line int) place {
	q := place{room: r, above: p.canonical, canonical: join(p.canonical, name), path: join(p.path, element(name)), line: line}
	if !pathName(r, name) {
		q.canonical = join(p.canonical, element(name))
	}
	if r.second {
		q.canonical = r.key.path
		q.above = parent(q.canonical)
	}
	return q
}

// pathName says that a name can stand in a canonical path as it is. A section's
// with a dot would be taken for the path of another key; only hosts, which have
// nothing below them, may have any.
func pathName(r *room, name string) bool {
	return !strings.ContainsAny(name, "[]") && !strings.HasPrefix(name, "hosts.") && (r.key.kind != section || !strings.Contains(name, "."))
}

// misnamed refuses a name of the operator's that cannot stand in a path.
func (d *document) misnamed(p place, name string) bool {
	if pathName(p.room, name) {
		return false
	}
	d.fault(p, "the name holds a dot or a bracket: give letters, digits and dashes")
	return true
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fault notes a mistake at a place, whose value then counts as unknown.
func (d *document) fault(p place, format string, args ...any) {
	d.taint(p.canonical, p.room.key)
	if d.faults.countOnly(p.room.path()) {
		return
	}
	d.faults.add(p.room.path(), Located{Line: max(p.line, 1), Path: p.path, Message: fmt.Sprintf(format, args...)})
}

// taint marks a path, what k blames, and where a section is the second place of
// other keys, these keys too.
func (d *document) taint(canonical string, k *key) {
	d.tainted[canonical] = true
	for _, b := range k.blames {
		d.blamed[b] = true
	}
	for _, path := range secondsIn(canonical) {
		d.tainted[path] = true
	}
}

// secondsIn gives the canonical paths of keys whose second place is in a section.
func secondsIn(canonical string) []string {
	var paths []string
	for i := range keys {
		if k := &keys[i]; k.also != "" && within(k.also, canonical) {
			paths = append(paths, k.path)
		}
	}
	return paths
}

// walkSection reads a map.
func (d *document) walkSection(n *yaml.Node, p place) {
	entries := d.entries(n, p)
	if p.room.wild != nil && len(entries) > maxEntries {
		d.fault(p, "the section has %d entries: give at most %d", len(entries), maxEntries)
		return
	}
	given := map[string]bool{}
	for _, e := range entries {
		given[e.name] = true
	}
	for _, e := range entries {
		child := p.room.children[e.name]
		if child == nil {
			child = p.room.wild
		}
		if child == nil {
			d.unknown(p, e, given)
			continue
		}
		q := p.below(child, e.name, e.line)
		if v := d.values[p.canonical]; v != nil && child == p.room.wild && !d.misnamed(q, e.name) {
			v.names = append(v.names, e.name)
		}
		d.walkKey(e.value, q)
	}
}

// walkKey reads one known key.
func (d *document) walkKey(n *yaml.Node, p place) {
	k := p.room.key
	if isNull(n) && n.Value != "" {
		return
	}
	if before := d.values[p.canonical]; before != nil {
		d.fault(p, "is also given as %s on line %d: keep one of the two", before.path, before.line)
		return
	}
	v := &value{key: k, above: p.above, path: p.path, line: p.line}
	d.values[p.canonical] = v
	switch {
	case k.kind == foreign:
		d.unused = append(d.unused, Key{Path: p.path, Line: p.line})
	case k.kind == credential:
		advice := credentialAdvice
		if within(k.path, "openstack") {
			advice = cloudCredentialAdvice
		}
		d.warnings = append(d.warnings, netplan.Warning{Path: p.path, Line: p.line, Message: advice})
	case isNull(n) && !k.bare:
		d.fault(p, "has no value: give %s, or remove the key", k.wanted())
	case isNull(n):
	case k.kind == section:
		if n.Kind != yaml.MappingNode {
			d.notMap(n, p)
			return
		}
		d.walkSection(n, p)
	default:
		v.parsed = d.parseValue(n, p)
	}
}

// notMap refuses a value where a section should be.
func (d *document) notMap(n *yaml.Node, p place) {
	if p.canonical == "security.firewall" && n.Kind == yaml.ScalarNode {
		d.fault(p, "the key does not belong here: give it at talos.firewall")
		return
	}
	d.fault(p, "is %s%s", describe(n), p.room.key.wantedMap(n))
}

// What to do with a credential that stands in the plan.
const (
	credentialAdvice      = "is not read here: credentials belong in secrets.yaml beside this file or in " + EnvTokenID + " and " + EnvTokenSecret
	cloudCredentialAdvice = "is not read here: credentials belong in secrets.yaml beside this file, in " + EnvCredentialID + " and " + EnvCredentialSecret + ", or in clouds.yaml"
)
