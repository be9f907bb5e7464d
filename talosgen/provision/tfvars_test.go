package provision_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/talosgen/provision"
)

func TestTFVars(t *testing.T) {
	full, err := provision.TFVars(fullPlan(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.tfvars.json", full)
	bare, err := provision.TFVars(barePlan(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bare.tfvars.json", bare)
}

// Terraform makes one type of all machines, so each needs the same keys.
func TestTFVarsMachinesHaveOneShape(t *testing.T) {
	text, err := provision.TFVars(barePlan(t))
	if err != nil {
		t.Fatal(err)
	}
	var vars struct {
		Machines map[string]map[string]json.RawMessage `json:"machines"`
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		t.Fatal(err)
	}
	if len(vars.Machines) != 3 {
		t.Fatalf("%d machines", len(vars.Machines))
	}
	keys := func(m map[string]json.RawMessage) map[string]bool {
		out := map[string]bool{}
		for k := range m {
			out[k] = true
		}
		return out
	}
	first := keys(vars.Machines["edge-batch-01"])
	for name, m := range vars.Machines {
		if diff := cmp.Diff(first, keys(m)); diff != "" {
			t.Errorf("%s has other keys (-want +got):\n%s", name, diff)
		}
		if string(m["name"]) != `"`+name+`"` {
			t.Errorf("%s is called %s", name, m["name"])
		}
	}
}
