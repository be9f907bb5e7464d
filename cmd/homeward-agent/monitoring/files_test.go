package monitoring

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	alertsFile    = "alerts.yaml"
	alertTests    = "testdata/alerts_test.yaml"
	dashboardFile = "dashboard.json"
)

// ruleFile is a Prometheus rule file, and the spec of a PrometheusRule.
type ruleFile struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// dashboard is what the tests look at of Grafana's model.
type dashboard struct {
	Panels     []panel `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct {
		H, W, X, Y int
	} `json:"gridPos"`
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
}

type variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Query any    `json:"query"`
}

// place is an expression and where it stands.
type place struct{ where, expr string }

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readYAML refuses keys that into does not have: a typing error in a rule is no
// rule.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(read(t, name), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readAlerts(t *testing.T) (alerts []rule) {
	t.Helper()
	return readAlertFile(t, alertsFile)
}

func readAlertFile(t *testing.T, name string) (alerts []rule) {
	t.Helper()
	var f ruleFile
	readYAML(t, name, &f)
	for _, g := range f.Groups {
		alerts = append(alerts, g.Rules...)
	}
	if len(alerts) == 0 {
		t.Fatal("no alert")
	}
	return alerts
}

func readDashboard(t *testing.T, name string) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal(read(t, name), &d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// dashboardExpressions are those of the panels, and the selectors of the
// variables, which Grafana asks for as label_values(SELECTOR, LABEL).
func dashboardExpressions(t *testing.T) (out []place) {
	t.Helper()
	return expressionsOf(t, readDashboard(t, dashboardFile))
}

func expressionsOf(t *testing.T, d dashboard) (out []place) {
	t.Helper()
	for _, p := range d.Panels {
		for i, target := range p.Targets {
			out = append(out, place{fmt.Sprintf("panel %q, target %d", p.Title, i), target.Expr})
		}
	}
	for _, v := range d.Templating.List {
		if query, ok := v.Query.(map[string]any); ok {
			text, _ := query["query"].(string)
			inner, isValues := strings.CutPrefix(text, "label_values(")
			selector, label, both := strings.Cut(strings.TrimSuffix(inner, ")"), "}, ")
			if !isValues || !both {
				t.Fatalf("variable %s asks %q, not label_values(SELECTOR, LABEL)", v.Name, text)
			}
			out = append(out, place{"variable " + v.Name, "group by (" + label + ") (" + selector + "})"})
		}
	}
	return out
}

// expressions are all that the files ask Prometheus for.
func expressions(t *testing.T) []place {
	t.Helper()
	out := dashboardExpressions(t)
	for _, a := range readAlerts(t) {
		out = append(out, place{"alert " + a.Alert, a.Expr})
	}
	return out
}
