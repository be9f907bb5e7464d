package metallb_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// checkSchema validates doc as the API server would with MetalLB's CRD of that
// plural name, and names the fields it would drop.
func checkSchema(t *testing.T, plural string, doc []byte) []string {
	t.Helper()
	props := crdSchema(t, plural)
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(doc, &object); err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, fault := range validation.ValidateCustomResource(nil, object, validator) {
		faults = append(faults, fault.Error())
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(object)
	pruning.Prune(object, structural, true)
	if after, _ := json.Marshal(object); string(before) != string(after) {
		faults = append(faults, "the API server would drop fields: "+string(before)+" becomes "+string(after))
	}
	return faults
}

// crdSchema reads the schema of v1beta1 out of MetalLB's module.
func crdSchema(t *testing.T, plural string) *apiextensions.JSONSchemaProps {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.universe.tf/metallb").Output()
	if err != nil {
		t.Fatalf("finding MetalLB's module: %v", err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", "metallb.io_"+plural+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Name != "v1beta1" {
			continue
		}
		var props apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil)
		if err != nil {
			t.Fatal(err)
		}
		return &props
	}
	t.Fatalf("%s has no v1beta1", plural)
	return nil
}

func TestObjectsFitTheCRDs(t *testing.T) {
	for name, file := range files(t) {
		docs := read(t, file).docs
		for i, plural := range []string{"ipaddresspools", "l2advertisements"} {
			t.Run(name+" "+plural, func(t *testing.T) {
				for _, fault := range checkSchema(t, plural, docs[i]) {
					t.Error(fault)
				}
			})
		}
	}
	t.Run("a wrong object is refused", func(t *testing.T) {
		wrong := []byte("apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: ingress}\nspec: {addresses: 7, more: 1}\n")
		if faults := checkSchema(t, "ipaddresspools", wrong); len(faults) != 2 {
			t.Errorf("want the wrong type and the unknown field named, got %q", faults)
		}
	})
}
