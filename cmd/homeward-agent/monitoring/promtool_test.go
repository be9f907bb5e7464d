package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// promtool runs Prometheus' own checker.
func promtool(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs promtool (Debian package prometheus):", err)
		}
		t.Skip("promtool is not installed:", err)
	}
	text, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(text), err
}

// scratch writes a file that only this test sees.
func scratch(t *testing.T, name string, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func asYAML(t *testing.T, v any) []byte {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPromtoolAcceptsTheFiles(t *testing.T) {
	for name, args := range map[string][]string{
		"rules":  {"check", "rules", "--lint-fatal", alertsFile},
		"scrape": {"check", "config", "--lint-fatal", scratch(t, "scrape.yaml", withoutDiscovery(t))},
		"alerts": {"test", "rules", "testdata/alerts_test.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			if output, err := promtool(t, args...); err != nil {
				t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
			}
		})
	}
}

// TestEveryAlertIsHeld damages one alert after the other and expects the unit
// tests of the rules to notice: that each fires, that each rests, and that it
// waits as long as it says.
func TestEveryAlertIsHeld(t *testing.T) {
	tests := read(t, "testdata/alerts_test.yaml")
	for i, a := range readAlerts(t) {
		damages := map[string]func(*rule){
			"never fires": func(r *rule) { r.Expr = "(" + r.Expr + ") and on () vector(0) > 0" },
			"always fires": func(r *rule) {
				r.Expr, r.For = `label_replace(vector(1), "node", "w9", "", "")`, ""
			},
		}
		if a.For != "" {
			damages["fires at once"] = func(r *rule) { r.For = "" }
			damages["fires too late"] = func(r *rule) { r.For = "11m" }
		}
		for what, damage := range damages {
			t.Run(a.Alert+" "+what, func(t *testing.T) {
				var f ruleFile
				readYAML(t, alertsFile, &f)
				damage(&f.Groups[0].Rules[i])
				path := scratch(t, "alerts.yaml", asYAML(t, f))
				suite := strings.Replace(string(tests), "../alerts.yaml", path, 1)
				output, err := promtool(t, "test", "rules", scratch(t, "test.yaml", []byte(suite)))
				if err == nil || !strings.Contains(output, "got") {
					t.Errorf("nobody noticed (error %v):\n%s", err, output)
				}
			})
		}
	}
}

// TestDashboardQueriesParse gives each query to promtool as the expression of a
// rule, with a length in place of Grafana's.
func TestDashboardQueriesParse(t *testing.T) {
	type recording struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []recording
	for _, p := range dashboardExpressions(t) {
		expr := strings.ReplaceAll(p.expr, "$__rate_interval", "2m")
		if strings.Contains(expr, "$__") {
			t.Errorf("%s: a variable of Grafana's that is not known here: %s", p.where, expr)
		}
		rules = append(rules, recording{Record: "panel", Expr: expr})
	}
	group := map[string]any{"name": "dashboard", "rules": rules}
	path := scratch(t, "rules.yaml", asYAML(t, map[string]any{"groups": []any{group}}))
	// Without lint: that counts equal records as duplicates.
	if output, err := promtool(t, "check", "rules", "--lint=none", path); err != nil {
		t.Errorf("promtool: %v\n%s", err, output)
	}
}
