package gitops

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// object is one Kubernetes object in the key order that operators know. The API's
// own types are not used for writing: they print creationTimestamp and status.
type object struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Spec       any      `yaml:"spec,omitempty"`
}

type metadata struct {
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// indent is the number of spaces per level, in lists too.
const indent = 2

// encode writes the documents in order, with "---" between them.
func encode(docs ...any) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(indent)
	for _, doc := range docs {
		if err := enc.Encode(doc); err != nil {
			return nil, fmt.Errorf("encoding YAML: %w", err)
		}
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	return out.Bytes(), nil
}

func namespace(name string, labels map[string]string) object {
	return object{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: name, Labels: labels}}
}
