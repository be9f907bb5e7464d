package talosgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// recordPrefix begins the comment line that Complete leaves in front of its own
// documents.
const recordPrefix = "# homeward put these in and needs this line to take them out again: "

// record is what Complete put into a base, so that the next run can take exactly
// that out, whatever changed in the plan between: a moved VIP, other marks, a new
// MAC. A place is "Kind#" and a JSON pointer (RFC 6901).
type record struct {
	// Documents of our own and those of a shared kind that the base did not have,
	// as "Kind" or "Kind name".
	Documents []string `json:"documents,omitempty"`
	// Items that were appended to the list at a place, by identity.
	Items map[string][]string `json:"items,omitempty"`
	// Scalars that were set or removed at a place, with the value before; nil
	// where there was none.
	Scalars map[string]*string `json:"scalars,omitempty"`
	// Made are the places of mappings and lists that had to be made, outer first.
	Made []string `json:"made,omitempty"`
}

func newRecord() *record {
	return &record{Items: map[string][]string{}, Scalars: map[string]*string{}}
}

func parseRecord(line []byte) (*record, error) {
	rec := newRecord()
	dec := json.NewDecoder(bytes.NewReader(line[len(recordPrefix):]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(rec); err != nil {
		return nil, errDamagedRecord
	}
	for _, places := range []iter.Seq[string]{maps.Keys(rec.Items), maps.Keys(rec.Scalars)} {
		for at := range places {
			if !writes(at) {
				return nil, errDamagedRecord
			}
		}
	}
	return rec, nil
}

var errDamagedRecord = errors.New("the line by which Homeward finds its own documents is damaged: start from the base that talosctl made")

// written are the places in the v1alpha1 document that a plan can write to. A
// record that names another was not written by us, and must not reach the base's
// secrets.
var written = []string{
	"/machine/certSANs", "/machine/kubelet/nodeIP", "/machine/pods", "/machine/nodeLabels",
	"/cluster/apiServer/certSANs", "/cluster/etcd/advertisedSubnets",
}

func writes(at string) bool {
	kind, pointer, _ := strings.Cut(at, "#")
	if kind != kindV1Alpha1 {
		return slices.Contains(sharedKinds, kind)
	}
	return slices.ContainsFunc(written, func(w string) bool { return pointer == w || strings.HasPrefix(pointer, w+"/") })
}

// line gives the record as the comment line, with the line's end.
func (r *record) line() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(recordPrefix), text...), '\n'), nil
}

// place is a pointer into a document of a shared kind.
func place(kind string, path ...string) string {
	var b strings.Builder
	b.WriteString(kind + "#")
	for _, key := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return b.String()
}

// parsePlace is the inverse of place.
func parsePlace(s string) (kind string, path []string) {
	kind, pointer, _ := strings.Cut(s, "#")
	for _, part := range strings.Split(pointer, "/")[1:] {
		path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return kind, path
}

// takeOut removes from the documents what a record names and gives the rest.
// What an operator has removed since is no error, and what one has added to a
// document stays, even where the document was made by us.
func (r *record) takeOut(docs []*document) []*document {
	ours := map[string]bool{}
	for _, id := range r.Documents {
		ours[id] = true
	}
	kept := slices.DeleteFunc(slices.Clone(docs), func(d *document) bool {
		return d.root != nil && ours[d.id()] && !slices.Contains(sharedKinds, d.kind)
	})
	for _, at := range slices.Sorted(maps.Keys(r.Items)) {
		if d, list := find(kept, at); list != nil && list.Kind == yaml.SequenceNode {
			for _, value := range r.Items[at] {
				d.touched = removeItem(list, value) || d.touched
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(r.Scalars)) {
		restore(kept, at, r.Scalars[at])
	}
	for _, at := range slices.Backward(r.Made) {
		unmake(kept, at)
	}
	return slices.DeleteFunc(kept, func(d *document) bool { return d.root != nil && ours[d.id()] && d.isEmpty() })
}

// unmake removes a mapping or list that had to be made, if nothing is left in it.
func unmake(docs []*document, at string) {
	d, n := find(docs, at)
	_, path := parsePlace(at)
	if n == nil || n.Kind == yaml.ScalarNode || len(n.Content) > 0 || len(path) == 0 {
		return
	}
	d.touched = removeKey(lookup(d.root, path[:len(path)-1]...), path[len(path)-1]) || d.touched
}

// isEmpty says that a document names its kind and nothing else.
func (d *document) isEmpty() bool {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if key := d.root.Content[i].Value; key != "apiVersion" && key != "kind" {
			return false
		}
	}
	return true
}

// restore puts a scalar back as it was, if the mapping that held it still stands.
func restore(docs []*document, at string, before *string) {
	kind, path := parsePlace(at)
	if len(path) == 0 {
		return
	}
	d, parent := find(docs, place(kind, path[:len(path)-1]...))
	if parent == nil || parent.Kind != yaml.MappingNode {
		return
	}
	d.touched = true
	key := path[len(path)-1]
	if before == nil {
		removeKey(parent, key)
		return
	}
	if len(parent.Content) == 0 {
		parent.Style = 0 // written as {} while nothing was in it
	}
	setScalar(parent, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: *before})
}

// find gives the document and the node of a place, nil when it is not there.
func find(docs []*document, at string) (*document, *yaml.Node) {
	kind, path := parsePlace(at)
	for _, d := range docs {
		if d.root != nil && d.kind == kind {
			return d, lookup(d.root, path...)
		}
	}
	return nil, nil
}
