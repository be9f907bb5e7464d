//go:build linux

package netlab

import "fmt"

// trace follows one cell's connection through a node's packets. Packets of
// different links come in no certain order.
type trace struct {
	cell *Cell
	node *Node
	// asked are the client's ports that requests came from.
	asked map[uint16]bool
	// foreign are the client's ports that something with another source than
	// the service's went to.
	foreign               map[uint16]bool
	byExternal, byPrivate bool
}

func newTrace(c *Cell, n *Node) *trace {
	return &trace{cell: c, node: n, asked: map[uint16]bool{}, foreign: map[uint16]bool{}}
}

// add looks at the next packet.
func (t *trace) add(p Packet) {
	c := t.cell
	switch {
	case p.Protocol != c.Protocol:
	case !p.Leaving && p.Link == t.node.ExternalLink && p.Source == c.source &&
		p.Destination == c.target.Addr() && p.DestinationPort == c.target.Port():
		t.asked[p.SourcePort] = true
	case !p.Leaving || p.Destination != c.source:
	case p.Source != c.target.Addr():
		t.foreign[p.DestinationPort] = true
	case p.SourcePort != c.target.Port():
	case p.Link == t.node.ExternalLink:
		t.byExternal = true
	default:
		t.byPrivate = true
	}
}

// astray says that a reply has gone where it does not reach the client.
func (t *trace) astray() bool { return t.byPrivate || t.wrongSource() }

func (t *trace) wrongSource() bool {
	for port := range t.asked {
		if t.foreign[port] {
			return true
		}
	}
	return false
}

// path gives the verdict over all packets. A request that never came is an error.
func (t *trace) path() (Path, error) {
	switch {
	case len(t.asked) == 0:
		return "", fmt.Errorf("running the matrix: request never reached %s: %s", t.node.name, t.cell)
	case t.byExternal && t.byPrivate:
		return PathBoth, nil
	case t.byExternal:
		return PathExternal, nil
	case t.byPrivate:
		return PathPrivate, nil
	case t.wrongSource():
		return PathWrongSource, nil
	default:
		return PathNone, nil
	}
}
