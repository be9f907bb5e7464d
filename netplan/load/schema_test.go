package load

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("cluster.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inJSON gives a YAML text as an editor's validator sees it.
func inJSON(t *testing.T, file string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(file), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSchemaAcceptsWhatLoads(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{"seed.yaml", "moved.yaml", "shared.yaml", "ranges.yaml", "full.yaml", "openstack.yaml", "openstack-full.yaml"} {
		t.Run(name, func(t *testing.T) {
			file := read(t, name)
			mustLoad(t, file)
			if err := s.Validate(inJSON(t, file)); err != nil {
				t.Error(err)
			}
		})
	}
	for _, provider := range []netplan.Provider{netplan.Proxmox, netplan.OpenStack} {
		t.Run("init "+string(provider), func(t *testing.T) {
			if err := s.Validate(inJSON(t, string(Init(provider)))); err != nil {
				t.Error(err)
			}
		})
	}
}

// What stands here is refused by both, so that an editor says it first.
func TestSchemaRefusesWhatLoadingRefuses(t *testing.T) {
	s := compiled(t)
	for name, e := range map[string]edit{
		"typo in proxmox.network":   {"vlan: 1691", "vlna: 1691"},
		"typo in network":           {"dns: [", "dsn: ["},
		"bridge in the wrong room":  {"  dns: [10.0.0.1]", "  external: {bridge: vmbr0}"},
		"typo in return_path":       {"name: edge", "name: edge\nreturn_path: {prioriti: 1}"},
		"typo in ingress":           {"name: edge", "name: edge\ningress: {clas: a}"},
		"typo in agent":             {"name: edge", "name: edge\nagent: {metric: loopback}"},
		"typo in machines":          {"name: edge", "name: edge\nmachines: {edge-worker-01: {mac: a}}"},
		"typo in machines' macs":    {"name: edge", "name: edge\nmachines: {edge-worker-01: {macs: {private: a}}}"},
		"both providers":            {"name: edge", "name: edge\nopenstack: {external_net: public}"},
		"no provider":               {"proxmox:\n", "other:\n"},
		"unknown choice":            {"name: edge", "name: edge\nagent: {image: a, metrics: public}"},
		"vlan out of range":         {"vlan: 1691", "vlan: 4095"},
		"vlan without value":        {"vlan: 1691", "vlan:"},
		"flag in words":             {"vlan: 1691", "gateway_onlink: \"yes\""},
		"no CA file's name":         {"  url:", "  tls_verify: \"FALSE\"\n  url:"},
		"IPv6":                      {"gateway: 203.0.113.1", "gateway: fd00::1"},
		"shorthand range":           {"203.0.113.75-203.0.113.78", "203.0.113.75-78"},
		"address where network":     {"cidr: 10.0.0.0/24", "cidr: 10.0.0.0"},
		"number where text":         {"name: edge", "name: 5"},
		"allowlist of no addresses": {"name: edge", "name: edge\nsecurity: {talos: {office: x}}"},
		"mark in octal":             {"name: edge", "name: edge\nreturn_path: {mark: 0o17x}"},
		"section as list":           {"controlplane: {count: 3}", "controlplane: [3]"},
		"no name":                   {"name: edge\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := with(t, read(t, "seed.yaml"), e.old, e.new)
			if len(mistakes(t, file)) == 0 {
				t.Error("loads without a fault")
			}
			if s.Validate(inJSON(t, file)) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

// known lists all paths under a schema, names of the operator's as "*".
func known(s map[string]any, at string) []string {
	var paths []string
	properties, _ := s["properties"].(map[string]any)
	for name, child := range properties {
		paths = append(paths, join(at, name))
		paths = append(paths, known(child.(map[string]any), join(at, name))...)
	}
	if wild, ok := s["additionalProperties"].(map[string]any); ok {
		paths = append(paths, join(at, "*"))
		paths = append(paths, known(wild, join(at, "*"))...)
	}
	return paths
}

func TestSchemaAndLoadingKnowTheSameKeys(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	inSchema := known(s, "")
	var inTable []string
	for _, k := range keys {
		inTable = append(inTable, k.path)
		if k.also != "" {
			inTable = append(inTable, k.also)
		}
	}
	slices.Sort(inSchema)
	slices.Sort(inTable)
	if diff := cmp.Diff(inTable, inSchema); diff != "" {
		t.Error(diff)
	}
	for _, path := range inTable {
		t.Run(path, func(t *testing.T) {
			if got := mistakesOfOnly(t, path); len(got) > 0 {
				t.Errorf("loading does not know it: %v", got)
			}
		})
	}
}

// mistakesOfOnly loads a file with this one key and gives the complaints that
// the key is unknown or does not belong there.
func mistakesOfOnly(t *testing.T, path string) []string {
	t.Helper()
	names := strings.Split(strings.ReplaceAll(path, "*", "some"), ".")
	file := strings.Join(names, ": {") + ": ~" + strings.Repeat("}", len(names)-1)
	if last(path) == "*" || len(names) == 1 {
		file = strings.Replace(file, "~", "{}", 1)
	}
	d := walk(mustParse(t, file))
	var out []string
	for _, l := range d.faults.sorted() {
		if strings.Contains(l.Message, "unknown key") || strings.Contains(l.Message, "does not belong") {
			out = append(out, l.Message)
		}
	}
	for _, k := range d.unused {
		out = append(out, "unused: "+k.Path)
	}
	return out
}

func mustParse(t testing.TB, file string) *yaml.Node {
	t.Helper()
	root, fault := parse([]byte(file))
	if fault != nil {
		t.Fatalf("%s: %v", file, *fault)
	}
	return root
}
