package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipe gives the lines that a target would run.
func recipe(t *testing.T, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("%v: the Makefile is read with make itself", err)
	}
	// Go keeps a result until a file changes that the test itself has looked at.
	if _, err := os.Stat(filepath.Join("..", "..", "Makefile")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", append([]string{"--no-print-directory", "--dry-run"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make %v: %v\n%s", args, err, out)
	}
	return strings.Split(string(out), "\n")
}

// TestHouseVersions holds that every program that is built says which one it is: the
// agent goes into the image and the package as it is.
func TestHouseVersions(t *testing.T) {
	programs := 0
	for _, line := range recipe(t, "build", "VERSION=v9.8.7") {
		if !strings.Contains(line, " build ") {
			continue
		}
		programs++
		if !strings.Contains(line, "-X main.version=v9.8.7") {
			t.Errorf("built without its version: %s", line)
		}
	}
	if programs != 4 {
		t.Errorf("%d programs are built, want the tool and the agent for here and two platforms", programs)
	}
}

// TestHousePackageSorts holds that a package gets the time of its commit.
func TestHousePackageSorts(t *testing.T) {
	text := strings.Join(recipe(t, "deb"), "\n")
	if !regexp.MustCompile(`-committed "([0-9]{14}|0)" `).MatchString(text) {
		t.Errorf("no time of the commit:\n%s", text)
	}
}
