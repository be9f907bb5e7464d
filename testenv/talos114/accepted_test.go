package talos114

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// open are the fields whose keys are free: what is below them is not compared.
var open = map[string]bool{"pod": true, "labels": true}

// TestFieldsAreThoseThatTalosAccepted wants no field, in any golden document of
// the kinds that are declared by hand, that the accepted document does not have.
func TestFieldsAreThoseThatTalosAccepted(t *testing.T) {
	for _, kind := range []string{"KubeNodeConfig", "KubeStaticPodConfig", "KubeAPIServerConfig"} {
		accepted := read(t, filepath.Join("testdata", "accepted", kind+".yaml"))
		ours := read(t, filepath.Join(goldens, "documents", kind+".yaml"))
		if len(ours) == 0 {
			t.Errorf("%s: no document", kind)
		}
		for _, doc := range ours {
			if diff := cmp.Diff(skeleton(accepted[0], ""), skeleton(doc, "")); diff != "" && !onlyMissing(accepted[0], doc) {
				t.Errorf("%s (-accepted +ours):\n%s", kind, diff)
			}
		}
	}
}

// skeleton gives the form of a document: its fields, with the type of each value.
func skeleton(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		if open[field] {
			return "mapping"
		}
		out := map[string]any{}
		for key, value := range v {
			out[key] = skeleton(value, key)
		}
		return out
	case []any:
		return "list"
	case string:
		return "text"
	}
	return "other"
}

// onlyMissing says that doc has no field of its own and none of another type.
func onlyMissing(accepted, doc map[string]any) bool {
	for key, value := range doc {
		other, ok := accepted[key]
		if !ok || !cmp.Equal(skeleton(other, key), skeleton(value, key)) {
			return false
		}
	}
	return true
}

// read gives the documents of a file.
func read(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []map[string]any
	for dec := yaml.NewDecoder(f); ; {
		var doc map[string]any
		if dec.Decode(&doc) != nil {
			return out
		}
		out = append(out, doc)
	}
}
