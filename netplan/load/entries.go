package load

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// entry is one key of a map, aliases and merge keys followed.
type entry struct {
	name  string
	value *yaml.Node // never an alias
	line  int        // of the key
}

// entries lists a map's keys in file order, what merge keys bring in last. The
// map's own keys go before merged ones, earlier merged maps before later ones.
func (d *document) entries(m *yaml.Node, p place) []entry {
	var own []entry
	var merged []*yaml.Node
	lines := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := follow(m.Content[i]), follow(m.Content[i+1])
		line := m.Content[i].Line
		switch {
		case k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge":
			merged = append(merged, d.mergeSources(v, line, p)...)
		case k.Kind != yaml.ScalarNode:
			d.structure(p, line, "a key here is %s, not text", describe(k))
		case isNull(k):
			d.structure(p, line, "a value here has no key")
		case lines[k.Value] > 0:
			d.duplicate(p, k.Value, line, lines[k.Value])
		default:
			lines[k.Value] = line
			own = append(own, entry{name: k.Value, value: v, line: line})
		}
	}
	for _, source := range merged {
		for _, e := range d.entries(source, p) {
			if lines[e.name] == 0 {
				lines[e.name] = e.line
				own = append(own, e)
			}
		}
	}
	return own
}

// mergeSources gives the maps behind a merge key.
func (d *document) mergeSources(v *yaml.Node, line int, p place) []*yaml.Node {
	candidates := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		candidates = v.Content
	}
	var maps []*yaml.Node
	for _, c := range candidates {
		if c = follow(c); c.Kind == yaml.MappingNode {
			maps = append(maps, c)
		} else {
			d.structure(p, line, "the merge key << brings in %s: it takes a map or a list of maps", describe(c))
		}
	}
	return maps
}

// structure notes a mistake in the way a map is written.
func (d *document) structure(p place, line int, format string, args ...any) {
	if p.path == "" {
		p.canonical = "<<"
	}
	p.line = line
	d.fault(p, format, args...)
}

// duplicate notes a key that stands twice in one map; a known one counts as
// unknown from then on, for nobody can say which of the two is meant.
func (d *document) duplicate(p place, name string, line, first int) {
	child := p.room.children[name]
	if child == nil {
		child = p.room.wild
	}
	if child == nil {
		child = &room{key: &key{path: join(p.room.path(), "*")}}
	}
	q := p.below(child, name, line)
	d.fault(q, "is given twice, first on line %d: keep one of the two", first)
}

// follow gives what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// element is a name as part of a path: quoted where it could be misread.
func element(name string) string {
	if quoted := netplan.Quote(name); quoted != `"`+name+`"` || name == "" || strings.ContainsAny(name, ".[]:") {
		return quoted
	}
	return name
}
