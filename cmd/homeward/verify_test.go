package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"homeward/cmd/homeward/internal/verify"
	"homeward/netplan/load"
)

// noAPI is the example plan without a VIP, so that nobody is connected to.
var noAPI = []string{"      kubeapi_vip: 203.0.113.79\n", "", "network:\n  cidr", "kubeapi_endpoint: 127.0.0.1:1\nnetwork:\n  cidr"}

// kubeconfigOf writes a kubeconfig that leads to a server.
func kubeconfigOf(t *testing.T, server, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '" + server + "', insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: " + user + "}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const secretToken = "do-not-tell-7c1f"

// refusing is an API server that lets nobody read anything.
func refusing(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secretToken {
			t.Errorf("%s without the token", r.URL)
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// verifiedBy runs verify -o json and reads what it prints.
func verifiedBy(t *testing.T, code exitCode, args ...string) (verify.Report, result) {
	t.Helper()
	r := homeward(t, append([]string{"verify", "-o", "json"}, args...)...)
	if r.code != int(code) {
		t.Fatalf("%q returned %d, want %d\n%s\n%s", args, r.code, code, r.err, r.out)
	}
	if strings.Contains(r.out+r.err, secretToken) {
		t.Errorf("the token is told:\n%s\n%s", r.out, r.err)
	}
	var out verify.Report
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	return out, r
}

func TestVerifyWithoutRightsIsUnknown(t *testing.T) {
	t.Chdir(t.TempDir())
	file, config := planFile(t, noAPI...), kubeconfigOf(t, refusing(t), "{token: "+secretToken+"}")
	r, res := verifiedBy(t, exitUnknown, "-f", file, "--kubeconfig", config)
	if r.Counts[verify.Pass] != 0 || r.Counts[verify.Unknown] < 20 || !strings.Contains(res.err, "checks could not be made: nodes-planned, ") {
		t.Errorf("%v\n%s", r.Counts, res.err)
	}
	table := homeward(t, "verify", "-f", file, "--kubeconfig", config)
	for _, want := range []string{"RESULT   CHECK", "unknown  nodes-planned", "homeward verify --rbac | kubectl apply -f -", "FAIL api-address", "24 checks: 0 passed"} {
		if !strings.Contains(table.out, want) {
			t.Errorf("there is no %q in\n%s", want, table.out)
		}
	}
	var ids []string
	for _, c := range r.Checks {
		ids = append(ids, c.ID)
	}
	// What failed counts still: nobody is at the plan's endpoint.
	if _, res := verifiedBy(t, exitFailed, "-f", file, "--kubeconfig", config, "--allow-unknown", strings.Join(ids, ",")); !strings.Contains(res.err, "1 of 24 checks failed: api-address") {
		t.Errorf("%s", res.err)
	}
}

// On OpenStack the plan is that of the last reserve, and the cloud is asked only with a
// credential.
func TestVerifyOnOpenStack(t *testing.T) {
	c := newCloud(t)
	config := kubeconfigOf(t, refusing(t), "{token: "+secretToken+"}")
	args := []string{"-f", c.file, "--out", c.out, "--kubeconfig", config, "--timeout", "1s"}
	none := homeward(t, append([]string{"verify"}, args...)...)
	if none.code != int(exitUnknown) || !strings.Contains(none.err, "nothing is verified") || !strings.Contains(none.err, "run homeward reserve -f "+c.file+" --out "+c.out) {
		t.Errorf("before the first reserve: %d\n%s", none.code, none.err)
	}
	c.reserved(nil).generate(exitDone)
	seen := func(id string) string {
		r, _ := verifiedBy(t, exitUnknown, args...)
		for _, f := range r.Checks {
			if f.ID == id {
				return string(f.Result) + ": " + strings.Join(f.Seen, "; ")
			}
		}
		return "there is no check " + id
	}
	for id, want := range map[string]string{
		"reservation":       "unknown: no credential for OpenStack is given, so it was not asked",
		"generated-files":   "pass: " + c.out + " is what this plan makes",
		"return-path-ready": "skipped: no machine of the plan needs one",
	} {
		if got := seen(id); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	t.Setenv(load.EnvCredentialID, strings.Repeat("d3f0", 8))
	if got := seen("reservation"); !strings.Contains(got, "unknown: ") || !strings.Contains(got, "has no secret") {
		t.Errorf("with half of a credential: %s", got)
	}
	c.plan("https://openstack.example.edu:5000/v3", "http://127.0.0.1:1/v3")
	t.Setenv(load.EnvCredentialSecret, "do-not-tell-either")
	if got := seen("reservation"); !strings.HasPrefix(got, "unknown: ") || !strings.Contains(got, "127.0.0.1:1") || strings.Contains(got, "do-not-tell") {
		t.Errorf("without Keystone: %s", got)
	}
}

// The codes of several checks: unknown is worse than failed, and a warning is neither.
func TestVerifyExitCodes(t *testing.T) {
	finding := func(r verify.Result) verify.Finding { return verify.Finding{ID: string(r), Result: r} }
	for want, results := range map[exitCode][]verify.Result{
		exitDone: {verify.Pass, verify.Warn, verify.Skipped}, exitFailed: {verify.Pass, verify.Fail, verify.Warn}, exitUnknown: {verify.Fail, verify.Unknown},
	} {
		var r verify.Report
		for _, x := range results {
			r.Checks = append(r.Checks, finding(x))
		}
		if got := codeOf(verified(r)); got != want {
			t.Errorf("%v give %d, want %d", results, got, want)
		}
	}
}

// What an exec plugin prints is a credential, also where it is none that can be used.
func TestVerifyTellsNothingOfAnExecPlugin(t *testing.T) {
	t.Chdir(t.TempDir())
	file := planFile(t, noAPI...)
	for name, script := range map[string]string{
		"a token":   `echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "` + secretToken + `"}}'`,
		"garbage":   "echo 'token: " + secretToken + "'",
		"a JSON":    `echo '{"apiVersion": "` + secretToken + `", "kind": "` + secretToken + `"}'`,
		"a failure": "echo " + secretToken + "; exit 3",
	} {
		t.Run(name, func(t *testing.T) {
			plugin := filepath.Join(t.TempDir(), "plugin")
			if err := os.WriteFile(plugin, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			config := kubeconfigOf(t, refusing(t), "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: "+plugin+"}}")
			verifiedBy(t, exitUnknown, "-f", file, "--kubeconfig", config)
		})
	}
}

// A server that refuses a credential has client-go ask the plugin again, behind our
// back, and log what it thinks of the answer.
func TestVerifyTellsNothingOfARefresh(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	var asked atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	plugin, once, stderr := filepath.Join(dir, "plugin"), filepath.Join(dir, "once"), filepath.Join(dir, "stderr")
	script := "#!/bin/sh\nif [ -e " + once + " ]; then echo '{\"apiVersion\": \"" + secretToken + "\", \"kind\": \"x\"}'; exit; fi\n: > " + once +
		"\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"first\"}}'\n"
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	old := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = old }()
	config := kubeconfigOf(t, s.URL, "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: "+plugin+"}}")
	verifiedBy(t, exitUnknown, "-f", planFile(t, noAPI...), "--kubeconfig", config)
	text, err := os.ReadFile(stderr)
	if err != nil || asked.Load() == 0 || strings.Contains(string(text), secretToken) {
		t.Errorf("%v, asked %d times; the process's standard error has\n%s", err, asked.Load(), text)
	}
}

func TestVerifyRefusesWhatItCannotUse(t *testing.T) {
	file := planFile(t)
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(broken, []byte("users: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"format":     {[]string{"-o", "yaml"}, `-o "yaml" is not known`},
		"check":      {[]string{"--allow-unknown", "everything"}, `--allow-unknown "everything" is no check`},
		"namespace":  {[]string{"--metallb-namespace", "a]\n  b"}, "is no namespace's name"},
		"timeout":    {[]string{"--timeout", "-1s"}, "--timeout -1s"},
		"kubeconfig": {[]string{"--kubeconfig", broken}, "--kubeconfig: reading the kubeconfig"},
		"no cluster": {nil, "--kubeconfig: reading the kubeconfig"},
		"context":    {[]string{"--kubeconfig", kubeconfigOf(t, "https://127.0.0.1:1", "{}"), "--context", "other"}, `context "other" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			r := homeward(t, append([]string{"verify", "-f", file}, test.args...)...)
			if r.code != int(exitUsage) || r.out != "" || !strings.Contains(r.err, test.want) {
				t.Errorf("exit %d, stdout %q, stderr %s\nwant %q", r.code, r.out, r.err, test.want)
			}
		})
	}
	for _, args := range [][]string{{"-f", planFile(t, "vlan: 1691", "vlan: 4095")}, {"-f", file}} {
		if r := homeward(t, append([]string{"verify", "-o", "json"}, args...)...); r.code != int(exitUsage) || !strings.Contains(r.out, `"errors"`) {
			t.Errorf("exit %d: %s", r.code, r.out)
		}
	}
}

// verify asks Proxmox as status does.
func TestVerifyHoldsTheReservation(t *testing.T) {
	t.Chdir(t.TempDir())
	file, config := planFile(t, noAPI...), kubeconfigOf(t, refusing(t), "{token: "+secretToken+"}")
	of := func() verify.Finding {
		r, _ := verifiedBy(t, exitUnknown, "-f", file, "--kubeconfig", config)
		return r.Checks[len(r.Checks)-1]
	}
	if f := of(); f.ID != "reservation" || f.Result != verify.Unknown {
		t.Errorf("without a token: %+v", f)
	}
	p := simulated(t, nil)
	if f := of(); f.Result != verify.Warn || !strings.Contains(f.Seen[0], "nothing is reserved") {
		t.Errorf("before: %+v", f)
	}
	p.wants(exitDone, "reserve", "-f", file)
	if f := of(); f.Result == verify.Fail || f.Seen[len(f.Seen)-1] != "4 addresses reserved for edge" {
		t.Errorf("after: %+v", f)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "203.0.113.75-203.0.113.78", "203.0.113.76-203.0.113.80", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := of(); f.Result != verify.Fail || len(f.Seen) < 3 {
		t.Errorf("with another pool: %+v", f)
	}
	t.Setenv(load.EnvURL, "https://127.0.0.1:1")
	if f := of(); f.Result != verify.Unknown {
		t.Errorf("without Proxmox: %+v", f)
	}
}

func TestVerifyComparesTheGeneratedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	file, config := planFile(t, noAPI...), kubeconfigOf(t, refusing(t), "{token: "+secretToken+"}")
	of := func(args ...string) verify.Finding {
		r, _ := verifiedBy(t, exitUnknown, append([]string{"-f", file, "--kubeconfig", config}, args...)...)
		for _, f := range r.Checks {
			if f.ID == "generated-files" {
				return f
			}
		}
		return verify.Finding{}
	}
	if f := of(); f.Result != verify.Skipped {
		t.Errorf("without: %+v", f)
	}
	if r := homeward(t, "generate", "-f", file); r.code != 0 {
		t.Fatal(r.err)
	}
	if f := of(); f.Result != verify.Pass {
		t.Errorf("fresh: %+v", f)
	}
	other := planFile(t, append([]string{"worker: {count: 3}", "worker: {count: 2}"}, noAPI...)...)
	if f := of("-f", other); f.Result != verify.Warn || !strings.Contains(f.Seen[0], "talos/edge-worker-03.yaml") {
		t.Errorf("of another plan: %+v", f)
	}
	newer := filepath.Join("out", "plan.json")
	text, err := os.ReadFile(newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(newer, []byte(strings.Replace(string(text), "format 1,", "format 7,", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := of(); f.Result != verify.Warn || !strings.Contains(f.Seen[0], "format 7") {
		t.Errorf("of a newer Homeward: %+v", f)
	}
	if f := of("--out", filepath.Dir(file)); f.Result != verify.Skipped {
		t.Errorf("another directory: %+v", f)
	}
}

// The manifest decodes strictly, gives only get and list, and no right to a secret.
func TestVerifyRBAC(t *testing.T) {
	r := homeward(t, "verify", "--rbac", "--metallb-namespace", "lb")
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var rules []rbacv1.PolicyRule
	namespaces := map[string]int{}
	for doc := range strings.SplitSeq(r.out, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(doc), &kind); err != nil {
			t.Fatal(err)
		}
		var err error
		switch kind.Kind {
		case "ServiceAccount":
			err = yaml.UnmarshalStrict([]byte(doc), &corev1.ServiceAccount{})
		case "ClusterRole":
			var role rbacv1.ClusterRole
			err = yaml.UnmarshalStrict([]byte(doc), &role)
			rules = append(rules, role.Rules...)
		case "Role":
			var role rbacv1.Role
			err = yaml.UnmarshalStrict([]byte(doc), &role)
			rules = append(rules, role.Rules...)
			namespaces[role.Namespace]++
		case "ClusterRoleBinding":
			err = yaml.UnmarshalStrict([]byte(doc), &rbacv1.ClusterRoleBinding{})
		case "RoleBinding":
			var b rbacv1.RoleBinding
			err = yaml.UnmarshalStrict([]byte(doc), &b)
			namespaces[b.Namespace]++
		default:
			err = errors.New("unexpected kind " + kind.Kind)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, doc)
		}
	}
	if len(rules) != 9 || namespaces["kube-system"] != 2 || namespaces["lb"] != 2 {
		t.Errorf("%d rules, %v", len(rules), namespaces)
	}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			// A right to get without names would be one to everything of the kind.
			if verb != "list" && (verb != "get" || len(rule.ResourceNames)+len(rule.NonResourceURLs) == 0) {
				t.Errorf("%+v", rule)
			}
		}
		for _, of := range rule.Resources {
			if of == "secrets" || strings.Contains(of, "*") || strings.Contains(of, "/") {
				t.Errorf("%+v", rule)
			}
		}
	}
}
