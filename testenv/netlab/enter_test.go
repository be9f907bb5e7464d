//go:build linux

package netlab_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

func TestInsideIsPrivate(t *testing.T) {
	netlab.Require(t)
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0].Name != "lo" || links[0].Flags&net.FlagUp == 0 {
		t.Errorf("links inside: %v, want loopback alone, up", links)
	}
	shown, err := filepath.Glob("/sys/class/net/*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/sys/class/net/lo"}, shown); diff != "" {
		t.Errorf("/sys shows another namespace (-want +got):\n%s", diff)
	}
	if os.Getuid() != 0 {
		t.Errorf("uid inside is %d", os.Getuid())
	}
}

func TestEnterPassesArgumentsAndExitCode(t *testing.T) {
	netlab.Require(t)
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	for name, credential := range map[string]*syscall.Credential{"root": nil, "ordinary user": nobody} {
		t.Run(name, func(t *testing.T) {
			if credential != nil && !mapped(t, credential.Uid) {
				t.Log("tests run by an ordinary user already: it is the only one there is")
				credential = nil
			}
			cmd := outsideCommand("exit", "a", "b c")
			cmd.SysProcAttr.Credential = credential
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 7 {
				t.Errorf("exit: %v, want code 7", err)
			}
			want := "inside=true uid=0 args=[\"a\" \"b c\"]\n"
			if diff := cmp.Diff(want, string(out)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnterPassesSignals(t *testing.T) {
	netlab.Require(t)
	cmd := outsideCommand("signal")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 256)
	if n, _ := out.Read(buf); string(buf[:n]) != "waiting\n" {
		t.Errorf("first output %q", buf[:n])
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n, _ := out.Read(buf)
	if got := string(buf[:n]); got != "got terminated\n" {
		t.Errorf("output after the signal: %q", got)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 8 {
		t.Errorf("exit: %v, want code 8", err)
	}
}

func TestInsideDiesWithOutside(t *testing.T) {
	netlab.Require(t)
	cmd := outsideCommand("hang")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, _ := out.Read(buf)
	var pid int
	if _, err := fmt.Sscan(string(buf[:n]), &pid); err != nil {
		t.Fatalf("no pid in %q: %v", buf[:n], err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The read end closes when the last process that could write is gone.
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = out.Read(buf)
	}()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Errorf("process %d inside outlives its parent", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = cmd.Wait()
}

func TestOrphansEndWithTheLab(t *testing.T) {
	netlab.Require(t)
	out, err := outsideCommand("orphan").Output()
	must(t, err)
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatalf("no pid in %q: %v", out, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d outlives the lab: %v", pid, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestEnterSaysWhyItIsForbidden(t *testing.T) {
	netlab.Require(t)
	out, code := limited(t, "max_net_namespaces")
	if code != 3 || !strings.Contains(out, "no space left on device") {
		t.Errorf("code %d, want 3; reason %q does not name the limit", code, out)
	}
}

func TestRootNeedsNoUserNamespace(t *testing.T) {
	netlab.Require(t)
	out, code := limited(t, "max_user_namespaces")
	if code != 7 || !strings.Contains(out, "inside=true") {
		t.Errorf("code %d, want 7; output %q", code, out)
	}
}
