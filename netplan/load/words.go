package load

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// describe says what a node is, never what is in it.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode:
		return "a map in a map (a template that was not rendered?)"
	case n.Kind == yaml.MappingNode:
		return "a map"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "a boolean"
	case "!!int":
		return "a number"
	case "!!float":
		return "a number with a fraction"
	case "!!str":
		return "text"
	case "!!timestamp":
		return "a date"
	default:
		return `tagged ("!" begins a tag: put such a text in quotes)` // the tag may be a password's beginning
	}
}

// wanted says what a key takes, with an example.
func (k *key) wanted() string {
	what := map[kind]string{
		section: "a map of its keys", text: "text", boolean: "true or false",
		verify: "true, false or the path of a CA file", number: "a whole number",
		mark: "a number like 0x2000", mask: "a number like 0x2000",
		addr: "an IPv4 address like 203.0.113.1", cidr: "a network like 203.0.113.0/25",
		mac:     "a MAC address in quotes",
		addrs:   "an IPv4 address or a list of them",
		ranges:  "an address, a range like 203.0.113.75-203.0.113.78, a network, or a list of these",
		sources: "an address, a network like 198.51.100.0/24, or a list of these",
		texts:   "a text or a list of texts",
	}[k.kind]
	switch {
	case k.path == "security.*":
		return "hosts like {office: 198.51.100.0/24}"
	case k.kind == number && k.max > 0:
		return fmt.Sprintf("%s from %d to %d", what, k.min, k.max)
	case k.kind == text && k.example != "":
		return what + " like " + k.example
	case k.kind == text && k.def != "":
		return what + " like " + k.def
	}
	return what
}

// wantedMap says what a section takes in place of n.
func (k *key) wantedMap(n *yaml.Node) string {
	isList := n.Kind == yaml.SequenceNode
	switch {
	case isList && last(k.path) == "external":
		return ": several external networks are not yet supported; give the one as a map"
	case isList && k.path == "workers":
		return ": give a map of pools by name, like worker: {count: 3}"
	case k.path == "security.*.hosts":
		return ": give hosts by name, like {office: 198.51.100.0/24}"
	case k.path == "workers.*":
		return ": give a map, like {count: 3}"
	}
	return ": give a map of its keys"
}
