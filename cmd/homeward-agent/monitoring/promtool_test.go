package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		"alerts": {"test", "rules", alertTests},
	} {
		t.Run(name, func(t *testing.T) {
			if output, err := promtool(t, args...); err != nil {
				t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
			}
		})
	}
}

// TestEveryAlertIsHeld damages all alerts in one way and expects the unit tests of
// the rules to notice each: that it fires, and that it waits as long as it says.
// That none fires without a cause is held by those tests themselves, which name
// all that fires.
func TestEveryAlertIsHeld(t *testing.T) {
	waits := func(r rule) bool { return r.For != "" }
	for name, tt := range map[string]struct {
		damage  func(*rule)
		missing bool // the tests miss the alert, else they see one too many
		concern func(rule) bool
	}{
		"never fires":    {func(r *rule) { r.Expr = "(" + r.Expr + ") and on () vector(0) > 0" }, true, func(rule) bool { return true }},
		"fires too soon": {func(r *rule) { r.For = "" }, false, waits},
		"fires too late": {func(r *rule) { r.For = "31m" }, true, waits},
	} {
		t.Run(name, func(t *testing.T) {
			var f ruleFile
			readYAML(t, alertsFile, &f)
			for i := range f.Groups[0].Rules {
				tt.damage(&f.Groups[0].Rules[i])
			}
			suite := strings.Replace(string(read(t, alertTests)), "../"+alertsFile, scratch(t, alertsFile, asYAML(t, f)), 1)
			output, err := promtool(t, "test", "rules", scratch(t, "test.yaml", []byte(suite)))
			if err == nil {
				t.Fatal("nobody noticed")
			}
			missing, extra := differences(output)
			noticed := extra
			if tt.missing {
				noticed = missing
			}
			for _, a := range readAlerts(t) {
				if tt.concern(a) && !noticed[a.Alert] {
					t.Errorf("%s: nobody noticed", a.Alert)
				}
			}
		})
	}
}

// differences reads from promtool's report which alerts did not fire where they
// should have, and which fired where they should not have.
func differences(report string) (missing, extra map[string]bool) {
	missing, extra = map[string]bool{}, map[string]bool{}
	alert := regexp.MustCompile(`alertname="(\w+)"`)
	var want []string
	for line := range strings.Lines(report) {
		var names []string
		for _, m := range alert.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "exp: "):
			want = names
		case strings.HasPrefix(line, "got: "):
			for _, n := range want {
				missing[n] = missing[n] || !slices.Contains(names, n)
			}
			for _, n := range names {
				extra[n] = extra[n] || !slices.Contains(want, n)
			}
		}
	}
	return missing, extra
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
