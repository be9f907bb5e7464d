package load

import (
	"fmt"
	"net/netip"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// maxEntries is how many entries a list of a known key may have, and how many
// names a section.
const maxEntries = 10_000

// entries is how many entries a list of this key may have.
func (k *key) entries() int {
	if k.kind == ranges {
		return netplan.MaxRanges
	}
	return maxEntries
}

// list reads a value that is one entry or a list of them. With a wrong entry the
// whole list counts as unknown, so that nothing is concluded from half of it.
func list[T any](d *document, n *yaml.Node, p place, parse func(string) (T, error)) ([]T, error) {
	if n.Kind != yaml.SequenceNode {
		v, err := one(d, n, p, parse)
		if err != nil {
			return nil, err
		}
		return []T{v}, nil
	}
	if most := p.room.key.entries(); len(n.Content) > most {
		return nil, fmt.Errorf("the list has %d entries: give at most %d", len(n.Content), most)
	}
	out := make([]T, 0, len(n.Content))
	wrong := false
	for i, c := range n.Content {
		q := p
		q.path, q.line = fmt.Sprintf("%s[%d]", p.path, i), c.Line
		d.values[fmt.Sprintf("%s[%d]", p.canonical, i)] = &value{key: p.room.key, above: p.canonical, path: q.path, line: q.line}
		v, err := one(d, follow(c), q, parse)
		if err != nil {
			d.refuse(q, err)
			wrong = true
			continue
		}
		out = append(out, v)
	}
	if wrong {
		return nil, errNoted
	}
	return out, nil
}

// one reads a single entry.
func one[T any](d *document, n *yaml.Node, p place, parse func(string) (T, error)) (v T, err error) {
	k := p.room.key
	switch {
	case n.Kind == yaml.MappingNode && k.kind == ranges:
		return v, fmt.Errorf("is a map: several pools with settings of their own are not yet supported; give %s", k.wanted())
	case n.Kind != yaml.ScalarNode:
		return v, fmt.Errorf("is %s: give %s", describe(n), k.wanted())
	case isNull(n):
		return v, fmt.Errorf("has no value: give %s", k.wanted())
	case d.isEncrypted(n, p):
		return v, errNoted
	}
	s, err := stringOf(n, k)
	if err != nil {
		return v, err
	}
	if strings.Contains(s, ",") && k.kind != texts {
		return v, fmt.Errorf("%s is several in one text: give a list%s", netplan.Quote(s), asList(s))
	}
	return parse(s)
}

// asList gives what a text with commas would be as a list, where it is short
// enough to be read.
func asList(s string) string {
	const most = 10
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	if len(parts) == 0 || len(parts) > most || len(s) > most*len("255.255.255.255-255.255.255.255, ") {
		return ""
	}
	return ", like [" + strings.Join(parts, ", ") + "]"
}

// parseSource reads who may come in: a network, or an address for one host.
func parseSource(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") && !netplan.IsNetmask(s) {
		a, err := netplan.ParseAddr(s)
		if err != nil {
			return netip.Prefix{}, err
		}
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netplan.ParsePrefix(s)
}
