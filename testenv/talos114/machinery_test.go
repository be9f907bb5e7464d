package talos114

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"go.yaml.in/yaml/v4"
)

// goldens is where talosgen keeps what it writes.
const goldens = "../../talosgen/testdata"

// unknown are the kinds of 1.14 that the alpha does not have.
var unknown = []string{"KubeNodeConfig", "KubeStaticPodConfig"}

// TestTheLimit fails as soon as a machinery is used that knows more: then the
// kinds need no special treatment any longer.
func TestTheLimit(t *testing.T) {
	for _, kind := range unknown {
		text, err := os.ReadFile(filepath.Join("testdata", "accepted", kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := configloader.NewFromBytes(text, configloader.WithAllowPatchDelete()); err == nil {
			t.Errorf("%s is known now: take it off the list", kind)
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "accepted", "KubeAPIServerConfig.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configloader.NewFromBytes(text); err != nil {
		t.Error(err)
	}
}

// TestMachines applies every golden patch to a base of its role and validates.
func TestMachines(t *testing.T) {
	for _, path := range glob(t, "machines/v1.14.0-*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			patch, left := known(t, path)
			if len(left) == 0 {
				t.Error("no KubeNodeConfig")
			}
			role := "controlplane"
			if !bytes.Contains(patch, []byte("controlplane")) {
				role = "worker"
			}
			base, err := os.ReadFile(filepath.Join(goldens, "base-v1.14-"+role+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			patches, err := configpatcher.LoadPatches([]string{string(patch)})
			if err != nil {
				t.Fatal(err)
			}
			out, err := configpatcher.Apply(configpatcher.WithBytes(base), patches)
			if err != nil {
				t.Fatal(err)
			}
			text, err := out.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			checkRules(t, validate(t, text), patch)
		})
	}
}

// TestCompleteMachines validates the golden complete configurations.
func TestCompleteMachines(t *testing.T) {
	for _, path := range glob(t, "complete-v1.14-*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, _ := known(t, path)
			checkRules(t, validate(t, text), text)
		})
	}
}

// checkRules wants the routing rules that the text speaks of, each with its
// fail-closed one, and the certificate names.
func checkRules(t *testing.T, cfg config.Provider, text []byte) {
	t.Helper()
	want := bytes.Count(text, []byte("kind: RoutingRuleConfig"))
	closed := 0
	rules := cfg.NetworkRoutingRuleConfigs()
	for _, r := range rules {
		if r.Action().String() == "unreachable" {
			closed++
		}
	}
	if len(rules) != want || closed*2 != want {
		t.Errorf("%d rules, %d of them unreachable, want %d and half of them", len(rules), closed, want)
	}
	if server := cfg.K8sAPIServerConfig(); server != nil && len(server.CertSANs()) == 0 && bytes.Contains(text, []byte("certExtraSANs")) {
		t.Error("the API server's certificate lacks its names")
	}
}

// known gives the documents of a file that the alpha knows, and the others.
func known(t *testing.T, path string) (text []byte, left []string) {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for doc := range strings.SplitSeq(string(all), "---\n") {
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(unknown, head.Kind) {
			left = append(left, doc)
			continue
		}
		kept = append(kept, doc)
	}
	return []byte(strings.Join(kept, "---\n")), left
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goldens, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return paths
}

// mode is one of talosctl's `validate --mode`.
type mode struct {
	name    string
	install bool
}

func (m mode) String() string        { return m.name }
func (m mode) RequiresInstall() bool { return m.install }
func (m mode) InContainer() bool     { return false }

func validate(t *testing.T, text []byte) config.Provider {
	t.Helper()
	cfg, err := configloader.NewFromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mode{{"metal", true}, {"cloud", false}} {
		warnings, err := cfg.Validate(m)
		if err != nil || len(warnings) > 0 {
			t.Errorf("validate in %s mode: %v, warnings %q", m, err, warnings)
		}
	}
	return cfg
}
