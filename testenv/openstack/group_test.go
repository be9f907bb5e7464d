//go:build linux

package openstack

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// starterVariable makes the test binary a process that starts a group in that
// directory, says who is in it, and waits to be killed.
const starterVariable = "HOMEWARD_OPENSTACK_TEST_STARTER"

// TestStarter is no test: see starterVariable.
func TestStarter(t *testing.T) {
	dir := os.Getenv(starterVariable)
	if dir == "" {
		t.Skip("this is the process that TestGroupEndsWithItsStarter kills")
	}
	g, p := sleepers(t, dir)
	if _, err := os.Stdout.WriteString("group " + strconv.Itoa(g.keeper.Process.Pid) + " " + strconv.Itoa(p.cmd.Process.Pid) + "\n"); err != nil {
		t.Fatal(err)
	}
	select {}
}

// sleepers starts a group with a process that has a child.
func sleepers(t *testing.T, dir string) (*group, *process) {
	t.Helper()
	if !Wanted() {
		t.Skipf("the lab's keeper needs Debian's Python: `make test-openstack` runs it (%s=1)", WantedVariable)
	}
	g, err := newGroup(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := g.command("sleepers", "/bin/sh", "-c", "sleep 1000 & trap '' TERM INT HUP; wait")
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.start("sleepers", cmd)
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

// left waits until nobody of a process group is left, and its directory is gone; it
// says whether that came to pass.
func left(t *testing.T, group int, dir string) bool {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_, err := os.Stat(dir)
		if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

func TestGroupEndsWithItsStarter(t *testing.T) {
	if !Wanted() {
		t.Skipf("the lab's keeper needs Debian's Python: `make test-openstack` runs it (%s=1)", WantedVariable)
	}
	dir := filepath.Join(t.TempDir(), "lab")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	starter := exec.Command(os.Args[0], "-test.run=^TestStarter$")
	starter.Env = append(os.Environ(), starterVariable+"="+dir)
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	group := 0
	for lines := bufio.NewScanner(out); group == 0 && lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "group" {
			group, err = strconv.Atoi(words[1])
		}
	}
	if err != nil || group == 0 {
		t.Fatalf("the starter did not say who it started: %v", err)
	}
	if err := syscall.Kill(-group, 0); err != nil {
		t.Fatalf("before: %v", err)
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	if !left(t, group, dir) {
		t.Errorf("group %d or directory %s is left of a starter that was killed", group, dir)
	}
}

func TestGroupEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g, p := sleepers(t, dir)
	if err := g.end(); err != nil {
		t.Error(err)
	}
	select {
	case <-p.ended:
	default:
		t.Error("a process is not said to have ended")
	}
	if !left(t, g.keeper.Process.Pid, dir) {
		t.Error("something is left of a group that was ended")
	}
}
