package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// result is what one command line did.
type result struct {
	code     int
	out, err string
}

// homeward runs one command line in the process.
func homeward(t testing.TB, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &err})
	return result{code, out.String(), err.String()}
}

// planFile writes the example plan, edited, and gives its path. Each edit is an
// old and a new text; an old text that is missing fails the test.
func planFile(t testing.TB, edits ...string) string {
	t.Helper()
	text := seedPlan
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the plan has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const seedPlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 3}
workers:
  worker: {count: 3}
network:
  cidr: 10.0.0.0/24
  dns: [10.0.0.1]
proxmox:
  url: https://pve.example.edu:8006
  network:
    cluster:
      bridge: vmbr1
    external:
      bridge: vmbr0
      vlan: 1691
      cidr: 203.0.113.0/25
      gateway: 203.0.113.1
      anchor_cidr: 169.254.32.0/20
      kubeapi_vip: 203.0.113.79
      ingress_pool: 203.0.113.75-203.0.113.78
`

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", path, diff)
	}
}

func TestPlanTable(t *testing.T) {
	file := planFile(t, "workers:", "machines: {edge-worker-01: {vmid: 201, node: pve1}}\nworkers:")
	got := homeward(t, "plan", "-f", file)
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	golden(t, "testdata/plan.txt", got.out)
}

func TestPlanJSONIsTheContract(t *testing.T) {
	got := homeward(t, "plan", "-f", planFile(t), "-o", "json")
	var plan struct {
		External struct {
			IngressAddresses []string `json:"ingress_addresses"`
		}
		Machines []struct{ Anchor string }
		Warnings []any
	}
	if err := json.Unmarshal([]byte(got.out), &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.External.IngressAddresses) != 4 || plan.Machines[0].Anchor != "169.254.38.87" || plan.Warnings == nil {
		t.Errorf("plan: %+v", plan)
	}
	yaml := homeward(t, "plan", "-f", planFile(t), "-o", "yaml")
	if yaml.code != 0 || !strings.Contains(yaml.out, "anchor: 169.254.38.87") {
		t.Errorf("exit %d, yaml:\n%s", yaml.code, yaml.out)
	}
}

func TestFaultsInEveryFormat(t *testing.T) {
	file := planFile(t, "vlan: 1691", "vlan: 4095", "gateway: 203.0.113.1", "gateway: 203.0.114.1")
	table := homeward(t, "plan", "-f", file)
	if table.code != 2 || table.out != "" || !strings.Contains(table.err, "cluster.yaml:17: proxmox.network.external.vlan: 4095 is not a VLAN") {
		t.Errorf("exit %d, stdout %q, stderr %q", table.code, table.out, table.err)
	}
	asJSON := homeward(t, "plan", "-f", file, "-o", "json")
	var report struct {
		Errors []struct {
			Line          int
			Path, Message string
		}
	}
	if err := json.Unmarshal([]byte(asJSON.out), &report); err != nil {
		t.Fatal(err)
	}
	if asJSON.code != 2 || asJSON.err != "" || len(report.Errors) != 2 || report.Errors[0].Line != 17 || report.Errors[1].Line != 19 {
		t.Errorf("exit %d, stderr %q, %+v", asJSON.code, asJSON.err, report)
	}
	missing := homeward(t, "plan", "-f", filepath.Join(t.TempDir(), "none.yaml"), "-o", "json")
	if missing.code != 2 || !strings.Contains(missing.out, "no such file") {
		t.Errorf("exit %d, %q", missing.code, missing.out)
	}
}

func TestWarningsGoToStandardError(t *testing.T) {
	file := planFile(t, "controlplane: {count: 3}", "controlplane: {count: 2}")
	for _, format := range []string{"table", "json", "yaml"} {
		got := homeward(t, "plan", "-f", file, "-o", format)
		if got.code != 0 || !strings.Contains(got.err, "warning: cluster.yaml:4: controlplane.count: 2 control planes") {
			t.Errorf("%s: exit %d, stderr %q", format, got.code, got.err)
		}
	}
	logged := homeward(t, "plan", "-f", file, "--log-format", "json")
	if !strings.Contains(logged.err, `"level":"WARN"`) {
		t.Errorf("stderr %q", logged.err)
	}
}

func TestVerboseNamesWhatIsLeftToOthers(t *testing.T) {
	file := planFile(t, "name: edge", "name: edge\ntailscale: {login_server: hs.example.edu}")
	if got := homeward(t, "plan", "-f", file); got.code != 0 || got.err != "" {
		t.Errorf("exit %d, stderr %q", got.code, got.err)
	}
	if got := homeward(t, "plan", "-v", "-f", file); !strings.Contains(got.err, "cluster.yaml:2: tailscale is not ours") {
		t.Errorf("stderr %q", got.err)
	}
}

func TestCommandLineMistakes(t *testing.T) {
	file := planFile(t)
	for _, c := range []struct {
		name string
		args []string
		text string
	}{
		{"unknown command", []string{"genrate"}, "did you mean generate?"},
		{"unknown flag", []string{"plan", "--fil", file}, "see homeward plan --help"},
		{"an argument too many", []string{"plan", file}, "takes no argument"},
		{"unknown format", []string{"plan", "-f", file, "-o", "xml"}, "table, json or yaml"},
		{"unknown log format", []string{"plan", "-f", file, "--log-format", "xml"}, "text or json"},
		{"no plan to compare with", []string{"plan", "-f", file, "--against", file + ".none"}, "--against"},
		{"not a plan to compare with", []string{"plan", "-f", file, "--against", file}, "not a plan.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := homeward(t, c.args...)
			if got.code != 2 || got.out != "" || !strings.Contains(got.err, c.text) {
				t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestExitCodesAreDocumented(t *testing.T) {
	got := homeward(t, "help", "exit-codes")
	if got.code != 0 || !strings.Contains(got.out, "3  an address is taken") {
		t.Errorf("exit %d: %s", got.code, got.out)
	}
	if len(meanings) != len(worstFirst) {
		t.Error("a code has no meaning or no rank")
	}
}

func TestInitIsAPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	text := homeward(t, "init")
	if err := os.WriteFile(path, []byte(text.out), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := homeward(t, "plan", "-v", "-f", path); got.code != 0 || got.err != "" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestSchemaAndVersion(t *testing.T) {
	if got := homeward(t, "schema"); got.code != 0 || !json.Valid([]byte(got.out)) {
		t.Errorf("exit %d, no JSON", got.code)
	}
	if got := homeward(t, "version"); got.code != 0 || strings.TrimSpace(got.out) == "" {
		t.Errorf("exit %d, %q", got.code, got.out)
	}
}

func TestSecretsAreNeverRepeated(t *testing.T) {
	for _, edits := range [][]string{
		{"https://pve.example.edu:8006", "https://root:hunter2@pve.example.edu:8006"},
		{"url:", "token_secret: hunter2\n  url:"},
		{"url:", "passwort: hunter2\n  url:"},
		{"cidr: 10.0.0.0/24", "cidr: ENC[AES256_GCM,data:hunter2,type:str]"},
		{"name: edge", "nane: hunter2\nname: edge"},
	} {
		file := planFile(t, edits...)
		for _, args := range [][]string{{"plan"}, {"plan", "-o", "json"}, {"plan", "-v"}, {"generate", "--out", t.TempDir()}} {
			got := homeward(t, append(args, "-f", file)...)
			if strings.Contains(got.out+got.err, "hunter2") {
				t.Errorf("%v with %q shows the secret:\n%s%s", args, edits[1], got.out, got.err)
			}
		}
	}
}

func TestWorstExitCodeWins(t *testing.T) {
	for _, c := range []struct {
		err  error
		want exitCode
	}{
		{nil, exitDone},
		{os.ErrPermission, exitFailed},
		{said(exitDifference), exitDifference},
		{usage("x"), exitUsage},
	} {
		if got := codeOf(c.err); got != c.want {
			t.Errorf("%v gives %d, want %d", c.err, got, c.want)
		}
	}
}
