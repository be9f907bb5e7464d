package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	hostAlertsFile    = "host-alerts.yaml"
	hostDashboardFile = "host-dashboard.json"
	hostJob           = "homeward-host"
)

// servedByHost is what can be asked for of an agent on a Proxmox host.
func servedByHost(t *testing.T) catalogue {
	t.Helper()
	return servedBy(t, "testdata/host_series.txt", catalogue{"up": {}})
}

// hostLabels are those that host-scrape.yaml gives.
func hostLabels() []string { return []string{"instance", "job"} }

func TestEveryNameOfTheHostIsServed(t *testing.T) {
	c := servedByHost(t)
	places := expressionsOf(t, readDashboard(t, hostDashboardFile))
	shown := map[string]bool{}
	for _, p := range places {
		r, err := readPromQL(p.expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Selectors {
			shown[s.Metric] = true
		}
	}
	for _, a := range readAlertFile(t, hostAlertsFile) {
		places = append(places, place{"alert " + a.Alert, a.Expr})
	}
	for _, p := range places {
		r, err := readPromQL(p.expr)
		if err != nil || len(r.Selectors) == 0 {
			t.Errorf("%s: reads nothing, error %v", p.where, err)
		}
		for _, f := range c.faults(r, hostLabels()) {
			t.Errorf("%s: %s, in %s", p.where, f, p.expr)
		}
	}
	for metric := range c {
		if strings.HasPrefix(metric, "homeward_") && !shown[metric] {
			t.Errorf("%s is on no panel", metric)
		}
	}
}

func TestHostAlertTextsNameLabelsThatAreThere(t *testing.T) {
	used := regexp.MustCompile(`\$labels\.(\w+)`)
	c := servedByHost(t)
	for _, a := range readAlertFile(t, hostAlertsFile) {
		r, err := readPromQL(a.Expr)
		if err != nil {
			t.Fatal(err)
		}
		there := hostLabels()
		for label := range c[r.Selectors[0].Metric] {
			there = append(there, label)
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

// TestHostAlertsAreRules holds them with Prometheus' own checker.
func TestHostAlertsAreRules(t *testing.T) {
	if out, err := promtool(t, "check", "rules", hostAlertsFile); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
