package inventory

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens anew")

func golden(t *testing.T, name string, got any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", path, diff)
	}
}

func TestSurveyOfEverySpelling(t *testing.T) {
	plan := edgePlan(t)
	survey, err := Take(plan, richSnapshot())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "survey.json", survey)
	verdict := Judge(plan, survey, nil)
	lines := struct{ Conflicts, Warnings []string }{}
	for _, c := range verdict.Conflicts {
		lines.Conflicts = append(lines.Conflicts, c.String())
	}
	for _, c := range verdict.Warnings {
		lines.Warnings = append(lines.Warnings, c.String())
	}
	golden(t, "verdict.json", lines)
}

// The order in which a server lists things says nothing.
func TestSurveyDoesNotDependOnOrder(t *testing.T) {
	plan := edgePlan(t)
	want, err := Take(plan, richSnapshot())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := richSnapshot()
		random.Shuffle(len(s.Guests), func(i, j int) { s.Guests[i], s.Guests[j] = s.Guests[j], s.Guests[i] })
		random.Shuffle(len(s.Nodes), func(i, j int) { s.Nodes[i], s.Nodes[j] = s.Nodes[j], s.Nodes[i] })
		random.Shuffle(len(s.Sets), func(i, j int) { s.Sets[i], s.Sets[j] = s.Sets[j], s.Sets[i] })
		random.Shuffle(len(s.VNets), func(i, j int) { s.VNets[i], s.VNets[j] = s.VNets[j], s.VNets[i] })
		for _, node := range s.Nodes {
			random.Shuffle(len(node.Interfaces), func(i, j int) {
				node.Interfaces[i], node.Interfaces[j] = node.Interfaces[j], node.Interfaces[i]
			})
		}
		got, err := Take(plan, s)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}
