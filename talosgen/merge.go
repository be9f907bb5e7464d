package talosgen

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// sharedKinds are the kinds of which a machine has one document that others
// write into too. All other kinds of ours are documents of our own.
var sharedKinds = []string{
	kindV1Alpha1, "HostnameConfig", "ResolverConfig", "NetworkDefaultActionConfig", kindKubeNode, kindKubeAPIServer,
}

// merger puts a patch into a base by the rules of Talos's own patcher (maps by
// key, lists appended), writes down what it does, and appends nothing that is
// there already.
type merger struct {
	docs []*document
	rec  *record
	own  []*document
}

// add takes one document of the patch.
func (m *merger) add(d *document) error {
	if !slices.Contains(sharedKinds, d.kind) {
		m.rec.Documents = append(m.rec.Documents, d.id())
		m.own = append(m.own, d)
		return nil
	}
	i := slices.IndexFunc(m.docs, func(b *document) bool { return b.root != nil && b.kind == d.kind })
	if i >= 0 {
		return m.mapping(m.docs[i], m.docs[i].root, d.root, nil)
	}
	made := &document{kind: d.kind, touched: true, root: &yaml.Node{Kind: yaml.MappingNode}}
	for _, key := range []string{"apiVersion", "kind"} {
		setScalar(made.root, key, lookup(d.root, key))
	}
	m.rec.Documents = append(m.rec.Documents, made.id())
	m.own = append(m.own, made)
	return m.mapping(made, made.root, d.root, nil)
}

// mapping merges one mapping of the patch into its counterpart.
func (m *merger) mapping(d *document, base, patch *yaml.Node, path []string) error {
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i].Value, patch.Content[i+1]
		if len(path) == 0 && (key == "apiVersion" || key == "kind") {
			continue
		}
		if err := m.entry(d, base, key, value, append(path[:len(path):len(path)], key)); err != nil {
			return err
		}
	}
	return nil
}

// entry merges what the patch says of one key.
func (m *merger) entry(d *document, base *yaml.Node, key string, patch *yaml.Node, path []string) error {
	at := place(d.kind, path...)
	if isDeletion(patch) {
		if before := lookup(base, key); before != nil && before.Kind == yaml.ScalarNode {
			m.rec.Scalars[at] = &before.Value
			d.touched = removeKey(base, key)
		}
		return nil
	}
	if patch.Kind == yaml.ScalarNode {
		if before := lookup(base, key); before == nil {
			m.rec.Scalars[at] = nil
		} else if before.Kind == yaml.ScalarNode && before.Value == patch.Value {
			return nil
		} else if before.Kind == yaml.ScalarNode {
			m.rec.Scalars[at] = &before.Value
		} else {
			return fmt.Errorf("line %d: %s is not a single value", d.at(before), strings.Join(path, "."))
		}
		d.touched = true
		setScalar(base, key, patch)
		return nil
	}
	counterpart, err := m.container(d, base, key, patch.Kind, path)
	if err != nil {
		return err
	}
	if patch.Kind == yaml.MappingNode {
		return m.mapping(d, counterpart, patch, path)
	}
	m.items(d, counterpart, patch, at)
	return nil
}

// dropExclusion removes the label that keeps control planes from announcing,
// wherever the base has it: bases of early 1.14 releases have it in v1alpha1.
func (m *merger) dropExclusion() {
	for _, at := range []string{place(kindV1Alpha1, "machine", "nodeLabels"), place(kindKubeNode, "labels")} {
		d, labels := find(m.docs, at)
		if before := lookup(labels, labelExcluded); before != nil && before.Kind == yaml.ScalarNode {
			_, path := parsePlace(at)
			m.rec.Scalars[place(d.kind, append(path, labelExcluded)...)] = &before.Value
			d.touched = removeKey(labels, labelExcluded) || d.touched
		}
	}
}

// container gives the base's mapping or list at a key, made where it is missing.
func (m *merger) container(d *document, base *yaml.Node, key string, kind yaml.Kind, path []string) (*yaml.Node, error) {
	i := keyIndex(base, key)
	if i < 0 {
		made := &yaml.Node{Kind: kind}
		base.Content = append(base.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, made)
		base.Style = 0
		m.rec.Made = append(m.rec.Made, place(d.kind, path...))
		d.touched = true
		return made, nil
	}
	value := base.Content[i+1]
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		made := &yaml.Node{Kind: kind, HeadComment: value.HeadComment, LineComment: value.LineComment}
		base.Content[i+1] = made
		d.touched = true
		return made, nil
	case value.Kind == yaml.AliasNode || value.Anchor != "":
		return nil, fmt.Errorf("line %d: %s shares its value by a YAML anchor: write it out, so that one place can change without the other", d.at(base.Content[i]), strings.Join(path, "."))
	case value.Kind != kind:
		return nil, fmt.Errorf("line %d: %s has another form than Talos documents have", d.at(base.Content[i]), strings.Join(path, "."))
	}
	if len(value.Content) == 0 {
		value.Style = 0
	}
	return value, nil
}

// items appends what is not in the list yet. An exclusion ("!10.0.0.240/32")
// goes to the end, anything else before the first exclusion.
func (m *merger) items(d *document, base, patch *yaml.Node, at string) {
	for _, item := range patch.Content {
		id := identity(item)
		if itemIndex(base, id) >= 0 {
			continue
		}
		index := len(base.Content)
		if !strings.HasPrefix(id, "!") {
			if i := slices.IndexFunc(base.Content, func(n *yaml.Node) bool { return strings.HasPrefix(n.Value, "!") }); i >= 0 {
				index = i
			}
		}
		base.Content = slices.Insert(base.Content, index, item)
		m.rec.Items[at] = append(m.rec.Items[at], id)
		d.touched = true
	}
}

// identity tells the items of our lists apart: a name or network by itself, a
// name server by its address, a pod by its name.
func identity(item *yaml.Node) string {
	switch item = resolve(item); item.Kind {
	case yaml.ScalarNode:
		return item.Value
	case yaml.MappingNode:
		if address := scalar(item, "address"); address != "" {
			return address
		}
		return scalar(item, "metadata", "name")
	}
	return ""
}

func itemIndex(list *yaml.Node, id string) int {
	return slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return identity(n) == id })
}

// removeItem takes the last item of that identity out.
func removeItem(list *yaml.Node, id string) bool {
	for i := len(list.Content) - 1; i >= 0; i-- {
		if identity(list.Content[i]) == id {
			list.Content = slices.Delete(list.Content, i, i+1)
			return true
		}
	}
	return false
}

// setScalar gives a key its value, in place where it stands already, with the
// comments that stand beside it.
func setScalar(mapping *yaml.Node, key string, value *yaml.Node) {
	fresh := &yaml.Node{Kind: yaml.ScalarNode, Tag: value.Tag, Value: value.Value, Style: value.Style}
	if i := keyIndex(mapping, key); i >= 0 {
		fresh.LineComment = mapping.Content[i+1].LineComment
		mapping.Content[i+1] = fresh
		return
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, fresh)
}

// isDeletion knows `{$patch: delete}`.
func isDeletion(n *yaml.Node) bool { return scalar(n, "$patch") == "delete" }

// podNamed says that a list item or document body is the pod of that name.
func podNamed(pod *yaml.Node) bool { return scalar(pod, "metadata", "name") == netplan.PodName }
