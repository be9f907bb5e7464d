package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAlertsSayWhatAnOperatorNeeds holds that each alert tells what is wrong and
// where, why that matters, and what to do.
func TestAlertsSayWhatAnOperatorNeeds(t *testing.T) {
	template := regexp.MustCompile(`\{\{.*?\}\}`)
	var names []string
	for _, a := range slices.Concat(readAlerts(t), readAlertFile(t, hostAlertsFile)) {
		if !strings.HasPrefix(a.Alert, "Homeward") || slices.Contains(names, a.Alert) {
			t.Errorf("%s: want a name of its own that begins with Homeward", a.Alert)
		}
		names = append(names, a.Alert)
		if s := a.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", a.Alert, s)
		}
		for _, part := range []string{"summary", "description", "remedy"} {
			if len(a.Annotations[part]) < 20 {
				t.Errorf("%s: says too little as %s: %q", a.Alert, part, a.Annotations[part])
			}
		}
		if s := template.ReplaceAllString(a.Annotations["summary"], ""); len(s) > 120 {
			t.Errorf("%s: the summary is no line for a pager: %s", a.Alert, s)
		}
	}
}

// TestAlertTextsNameLabelsThatAreThere: a template with a label that the alert
// does not have prints nothing, and says so to nobody.
func TestAlertTextsNameLabelsThatAreThere(t *testing.T) {
	used := regexp.MustCompile(`\$labels\.(\w+)`)
	aggregated := regexp.MustCompile(`^\s*\(?\s*(?:sum|group|max|min|count) by \(([^)]*)\)`)
	for _, a := range readAlerts(t) {
		there := targetLabels(t)
		r, err := readPromQL(a.Expr)
		if err != nil {
			t.Fatal(err)
		}
		if m := aggregated.FindStringSubmatch(a.Expr); m != nil {
			there = strings.Split(m[1], ", ")
		} else if strings.HasPrefix(a.Expr, "absent(") {
			there = nil
		} else {
			for _, m := range r.Selectors[0].Matchers {
				there = append(there, m.Label)
			}
		}
		for part, text := range a.Annotations {
			for _, m := range used.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(there, m[1]) {
					t.Errorf("%s: %s names the label %s, it has %v", a.Alert, part, m[1], there)
				}
			}
		}
	}
}

// TestNoTrafficIsNoAlert: a node that announces no address marks nothing.
func TestNoTrafficIsNoAlert(t *testing.T) {
	for _, a := range readAlerts(t) {
		if strings.Contains(a.Expr, "marked_") || strings.Contains(a.Expr, "restored_") {
			t.Errorf("%s rests on traffic: %s", a.Alert, a.Expr)
		}
	}
}
