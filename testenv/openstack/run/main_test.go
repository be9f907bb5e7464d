//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/testenv/openstack"
)

func TestCommandLineWrong(t *testing.T) {
	for name, args := range map[string][]string{"no command": nil, "no command after it": {"-limit", "1s", "--"}, "unknown flag": {"-colour", "--", "true"}} {
		t.Run(name, func(t *testing.T) {
			if code := run(args); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
		})
	}
}

// The command finds the lab, and its exit code is that of run.
func TestCommandFindsTheLab(t *testing.T) {
	if !openstack.Wanted() || os.Getenv(openstack.PlaceVariable) == "" {
		t.Skipf("a real OpenStack takes a minute: `make test-openstack` runs it (%s=1) inside run itself", openstack.WantedVariable)
	}
	said := filepath.Join(t.TempDir(), "said")
	script := "echo $" + openstack.WantedVariable + " $" + openstack.PlaceVariable + " >" + said + "; exit 3"
	if code := run([]string{"--", "sh", "-c", script}); code != 3 {
		t.Errorf("exit code %d, want the command's 3", code)
	}
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(text)), "1 "+os.Getenv(openstack.PlaceVariable); got != want {
		t.Errorf("the command's environment: %s, want %s", got, want)
	}
	if code := run([]string{"--", "/none/such"}); code != 1 {
		t.Errorf("exit code %d for a command that is not there, want 1", code)
	}
	if _, err := openstack.Attach(t.Context(), os.Getenv(openstack.PlaceVariable)); err != nil {
		t.Errorf("the lab that was there before: %v", err)
	}
}
