package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/verify"
)

// What the README shows is what the tool prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	if !strings.Contains(readme, "```yaml\n"+seedPlan+"```") {
		t.Error("the README's plan is not the one whose output it shows")
	}
	plan := homeward(t, "plan", "-f", planFile(t))
	if !strings.Contains(readme, strings.TrimSpace(plan.out)) {
		t.Errorf("the README's plan is not what is printed:\n%s", plan.out)
	}
	file := planFile(t, "vlan: 1691", "vlan: 4095", "gateway: 203.0.113.1", "gateway: 203.0.114.1", "169.254.32.0/20", "10.9.0.0/20")
	faults := homeward(t, "plan", "-f", file)
	shown := strings.ReplaceAll(strings.TrimSpace(faults.err), file, "cluster.yaml")
	if !strings.Contains(readme, shown) {
		t.Errorf("the README's mistakes are not what is printed:\n%s", shown)
	}
	for _, m := range meanings[:5] {
		if !strings.Contains(readme, m.text) {
			t.Errorf("the README does not have exit code %d: %s", m.code, m.text)
		}
	}
}

// The README's checks are all that there are, with their titles.
func TestReadmeShowsEveryCheck(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "pass     ") || strings.HasPrefix(line, "FAIL     ") || strings.HasPrefix(line, "unknown  ") {
			shown++
		}
	}
	list := verify.Catalogue()
	for _, c := range list {
		if want := fmt.Sprintf("%-25s%s\n", c.ID, c.Title); !strings.Contains(string(text), want) {
			t.Errorf("the README has no %q", want)
		}
	}
	if shown != len(list) {
		t.Errorf("the README shows %d checks, and there are %d", shown, len(list))
	}
}

// The README's part of a report is what is printed for the plan with the hosts it shows.
func TestReadmeShowsARealReport(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### What it survives\n")
	_, hosts, _ := strings.Cut(section, "```yaml\nmachines:\n")
	hosts, section, _ = strings.Cut(hosts, "```\n")
	_, shown, _ := strings.Cut(section, "<!-- output: homeward report -f cluster.yaml -->\n")
	shown, _, found := strings.Cut(shown, "<!-- end of output -->")
	if !found || hosts == "" {
		t.Fatal("the README shows no report")
	}
	printed := homeward(t, "report", "--plan-only", "-f", planFile(t, "network:\n  cidr", "machines:\n"+hosts+"network:\n  cidr"))
	for line := range strings.Lines(shown) {
		if !strings.Contains(printed.out, line) {
			t.Errorf("the README has a line that is not printed:\n%s", line)
		}
	}
}

// The README's part on OpenStack shows what is printed, and written.
func TestReadmeShowsRealOutputOnOpenStack(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, readme, _ := strings.Cut(string(text), "### On OpenStack\n")
	readme, _, _ = strings.Cut(readme, "\n## ")
	shows := func(what, printed string) {
		t.Helper()
		if printed == "" || !strings.Contains(readme, printed) {
			t.Errorf("the README's %s is not\n%s", what, printed)
		}
	}
	shows("plan", "```yaml\n"+cloudPlan+"```")
	c := newCloud(t)
	refusal := c.generate(exitUnknown).err
	refusal = strings.NewReplacer(" --out "+c.out, "", c.file, "cluster.yaml", c.out, "out").Replace(refusal)
	shows("refusal", "```\n"+refusal+"```")
	c.reserved(nil)
	shows("table", "```\n"+homeward(t, "plan", "-f", c.file, "--allocation", filepath.Join(c.out, allocation.FileName)).out+"```")
	c.generate(exitDone)
	_, values, _ := strings.Cut(snapshot(t, c.out)["argocd/values.yaml"], "\n")
	shows("values", "```yaml\n"+values+"```")
}
