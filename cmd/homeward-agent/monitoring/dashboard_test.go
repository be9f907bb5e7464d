package monitoring

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
)

// dashboards are all that the tests here hold.
func dashboards() []string { return []string{dashboardFile, hostDashboardFile} }

func TestDashboardCanBeImportedAnywhere(t *testing.T) {
	for _, name := range dashboards() {
		t.Run(name, func(t *testing.T) { importedAnywhere(t, name) })
	}
}

func importedAnywhere(t *testing.T, name string) {
	t.Helper()
	var whole any
	if err := json.Unmarshal(read(t, name), &whole); err != nil {
		t.Fatal(err)
	}
	const chosen = "${datasource}"
	sources := 0
	walk(whole, func(key string, v any) {
		if key == "datasource" {
			sources++
			if m, ok := v.(map[string]any); !ok || m["uid"] != chosen || m["type"] != "prometheus" {
				t.Errorf("a data source is fixed: %v", v)
			}
		}
	})
	if sources == 0 {
		t.Error("no data source at all")
	}
	first := readDashboard(t, name).Templating.List[0]
	if first.Name != "datasource" || first.Type != "datasource" || first.Query != "prometheus" {
		t.Errorf("the first variable does not choose the data source: %+v", first)
	}
}

// walk calls f for every member of every object in v.
func walk(v any, f func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			f(key, member)
			walk(member, f)
		}
	case []any:
		for _, element := range v {
			walk(element, f)
		}
	}
}

func TestDashboardPanels(t *testing.T) {
	for _, name := range dashboards() {
		t.Run(name, func(t *testing.T) { panelsInOrder(t, readDashboard(t, name)) })
	}
}

func panelsInOrder(t *testing.T, d dashboard) {
	t.Helper()
	const columns = 24
	ids, titles := map[int]bool{}, map[string]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] || titles[p.Title] {
			t.Errorf("%q: the id %d or the title is another panel's, or none", p.Title, p.ID)
		}
		ids[p.ID], titles[p.Title] = true, true
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%q: says not what it means, or shows nothing", p.Title)
		}
		g := p.GridPos
		if g.X+g.W > columns || g.W == 0 || g.H == 0 {
			t.Errorf("%q: outside of the grid: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("%q lies over %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// TestDashboardLegends: a legend with a label that the query took away is empty.
func TestDashboardLegends(t *testing.T) {
	used := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range slices.Concat(readDashboard(t, dashboardFile).Panels, readDashboard(t, hostDashboardFile).Panels) {
		for _, target := range p.Targets {
			r, err := readPromQL(target.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range used.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(r.Labels, m[1]) {
					t.Errorf("%q: legend %s, grouped by %v", p.Title, target.LegendFormat, r.Labels)
				}
			}
		}
	}
}
