package talosgen

import "go.yaml.in/yaml/v4"

// lookup gives the value of a key of a mapping, through aliases; nil when n is
// no mapping or has no such key.
func lookup(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if n = resolve(n); n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		i := keyIndex(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return resolve(n)
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// keyIndex is where in Content a key stands, -1 when it does not.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// removeKey takes a key out of a mapping and says whether it was there.
func removeKey(n *yaml.Node, key string) bool {
	i := keyIndex(n, key)
	if i < 0 {
		return false
	}
	n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
	return true
}

// scalar gives the text of a scalar at a path, empty when there is none.
func scalar(n *yaml.Node, path ...string) string {
	if v := lookup(n, path...); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}
