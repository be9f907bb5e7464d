package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the README shows is what the tool prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
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
