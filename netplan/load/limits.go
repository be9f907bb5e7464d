package load

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

const (
	// maxDepth is how deep maps and lists may nest, aliases followed.
	maxDepth = 64
	// maxNodes is how many values a file may have, aliases followed.
	maxNodes = 1_000_000
)

// size is what a node expands to.
type size struct {
	nodes, depth int
}

// measurer sums up sizes; each anchored node is looked at once.
type measurer struct {
	done map[*yaml.Node]size
	open map[*yaml.Node]bool
}

// measure refuses a document that is too deep, expands too far or contains
// itself. After it, following aliases ends.
func measure(root *yaml.Node) *Located {
	m := measurer{done: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}
	_, fault := m.size(root, 0)
	return fault
}

func (m *measurer) size(n *yaml.Node, level int) (size, *Located) {
	if n.Kind == yaml.AliasNode {
		target := n.Alias
		if m.open[target] {
			return size{}, whole(n.Line, "an alias (*) here stands inside the anchor (&) it names, so it would never end")
		}
		s, fault := m.size(target, level)
		if fault == nil && level+s.depth > maxDepth {
			fault = tooDeep(n.Line)
		}
		return s, fault
	}
	if s, ok := m.done[n]; ok {
		return s, nil
	}
	if level > maxDepth {
		return size{}, tooDeep(n.Line)
	}
	if n.Anchor != "" {
		m.open[n] = true
		defer delete(m.open, n)
	}
	s := size{nodes: 1}
	for _, c := range n.Content {
		cs, fault := m.size(c, level+1)
		if fault != nil {
			return s, fault
		}
		s.nodes += cs.nodes
		s.depth = max(s.depth, cs.depth+1)
		if s.nodes > maxNodes {
			return s, whole(c.Line, fmt.Sprintf("the file holds over %d values, aliases followed", maxNodes))
		}
	}
	if n.Anchor != "" {
		m.done[n] = s
	}
	return s, nil
}

func tooDeep(line int) *Located {
	return whole(line, fmt.Sprintf("maps and lists nest deeper than %d levels", maxDepth))
}
