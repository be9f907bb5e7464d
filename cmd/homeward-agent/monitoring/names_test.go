package monitoring

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"homeward/netplan"
)

// anyValue stands in series.txt for values that differ from build to build.
const anyValue = "*"

// catalogue is what can be asked for: metric, label, values. A label without
// values may have any.
type catalogue map[string]map[string][]string

// served reads the list that a test of the agent holds against its registry, and
// adds what Prometheus and kube-state-metrics give.
func served(t *testing.T) catalogue {
	t.Helper()
	return servedBy(t, "testdata/series.txt", catalogue{
		"up":               {},
		"kube_node_labels": {"node": nil, ksmLabel(netplan.LabelExternal): {"true"}},
	})
}

// servedBy adds the series of a list to what others give.
func servedBy(t *testing.T, list string, c catalogue) catalogue {
	t.Helper()
	for line := range strings.Lines(string(read(t, list))) {
		r, err := readPromQL(line)
		if err != nil || len(r.Selectors) != 1 {
			t.Fatalf("series %q: %v", line, err)
		}
		s := r.Selectors[0]
		if c[s.Metric] == nil {
			c[s.Metric] = map[string][]string{}
		}
		for _, m := range s.Matchers {
			c[s.Metric][m.Label] = append(c[s.Metric][m.Label], m.Value)
		}
	}
	return c
}

// ksmLabel is a node's label as kube-state-metrics writes it.
func ksmLabel(label string) string {
	return "label_" + regexp.MustCompile(`[^a-zA-Z0-9_]`).ReplaceAllString(label, "_")
}

// faults says what an expression asks for that nobody serves.
func (c catalogue) faults(r reading, target []string) (out []string) {
	labels := slices.Clone(target)
	for _, s := range r.Selectors {
		own, ok := c[s.Metric]
		if !ok {
			out = append(out, "no metric "+s.Metric)
			continue
		}
		labels = append(labels, slices.Collect(maps.Keys(own))...)
		for _, m := range s.Matchers {
			values, isOwn := own[m.Label]
			switch {
			case isOwn && !matches(values, m):
				out = append(out, s.Metric+" never has "+m.Label+m.Op+m.Value)
			case !isOwn && !slices.Contains(target, m.Label):
				out = append(out, s.Metric+" has no label "+m.Label)
			case m.Label == "job" && m.Value != netplan.PodName && m.Value != hostJob:
				out = append(out, "no job "+m.Value)
			}
		}
	}
	for _, l := range r.Labels {
		if !slices.Contains(labels, l) {
			out = append(out, "no label "+l+" to group by")
		}
	}
	return out
}

// matches says whether each alternative of a matcher has a value that fits.
func matches(values []string, m matcher) bool {
	if len(values) == 0 || values[0] == anyValue {
		return true
	}
	for alternative := range strings.SplitSeq(m.Value, "|") {
		pattern := regexp.QuoteMeta(alternative)
		if strings.HasSuffix(m.Op, "~") {
			pattern = alternative
		}
		if !slices.ContainsFunc(values, regexp.MustCompile("^(?:"+pattern+")$").MatchString) {
			return false
		}
	}
	return true
}

func TestEveryNameIsServed(t *testing.T) {
	c, target := served(t), targetLabels(t)
	for _, p := range expressions(t) {
		r, err := readPromQL(p.expr)
		if err != nil || len(r.Selectors) == 0 {
			t.Errorf("%s: reads nothing, error %v", p.where, err)
			continue
		}
		for _, f := range c.faults(r, target) {
			t.Errorf("%s: %s, in %s", p.where, f, p.expr)
		}
	}
}

// TestEveryMetricIsShown holds that the dashboard leaves out nothing of what the
// agent says about itself.
func TestEveryMetricIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range dashboardExpressions(t) {
		r, err := readPromQL(p.expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Selectors {
			shown[s.Metric] = true
		}
	}
	for metric := range served(t) {
		if strings.HasPrefix(metric, "homeward_") && !shown[metric] {
			t.Errorf("%s is on no panel", metric)
		}
	}
}

func TestAWrongNameIsFound(t *testing.T) {
	c, target := served(t), []string{"job", "node"}
	for expr, want := range map[string]string{
		"homeward_redy == 0":                               "no metric homeward_redy",
		"homeward_pass_duration_seconds_bucket":            "no metric homeward_pass_duration_seconds_bucket",
		`homeward_problem{kind="rpfilter"}`:                `homeward_problem never has kind=rpfilter`,
		`homeward_problem{kind=~"rp_.*|gate"}`:             `homeward_problem never has kind=~rp_.*|gate`,
		`homeward_ready{kind="link"}`:                      "homeward_ready has no label kind",
		`up{job="homeward"}`:                               "no job homeward",
		"sum by (node, path) (homeward_repairs_total)":     "no label path to group by",
		`homeward_ready{zone="a"}`:                         "homeward_ready has no label zone",
		`kube_node_labels{label_homeward_external="true"}`: "kube_node_labels has no label label_homeward_external",
	} {
		r, err := readPromQL(expr)
		if got := c.faults(r, target); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, error %v, want %q", expr, got, err, want)
		}
	}
	r, err := readPromQL(`sum by (node, kind) (rate(homeward_repairs_total{kind=~"nft_.+|link",job="homeward-return-path"}[5m]))`)
	if got := c.faults(r, target); err != nil || got != nil {
		t.Errorf("faults in a right expression: %q, error %v", got, err)
	}
}
