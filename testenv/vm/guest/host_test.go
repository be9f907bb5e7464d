//go:build linux

package guest_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"homeward/testenv/vm/guest"
)

// hostAgent is `homeward-agent host` on vmbr0's VLAN 1691.
func hostAgent(more ...string) *exec.Cmd {
	return exec.Command(guest.Agent, append([]string{"host", "--bridge=vmbr0", "--vlan=1691",
		"--gateway=" + siteGateway, "--addresses=" + legSquatted + "-" + legFree}, more...)...)
}

// lockedBuffer may be read while a program writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startHost starts the agent and waits until it has seen the squatter.
func startHost(t *testing.T) (cmd *exec.Cmd) {
	t.Helper()
	cmd = hostAgent("-o", "jsonl")
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // an error means that it has ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the agent says:\n%s", &out)
		}
	})
	eventually(t, "the agent sees the squatter", func() bool {
		return strings.Contains(out.String(), `"kind":"stranger","address":"`+legSquatted+`"`)
	})
	return cmd
}

func TestHostOnVLANAwareBridge(t *testing.T) {
	squatter := bareBridge(t)
	before := bridgeState(t)

	t.Run("killed, then checked", func(t *testing.T) {
		cmd := startHost(t)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		if bridgeState(t) == before {
			t.Fatal("nothing was left: this shows nothing")
		}
		out, err := hostAgent("--check").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), squatter.String()) {
			t.Errorf("error %v, want exit code 3 and %s in\n%s", err, squatter, out)
		}
		unchanged(t, before)
	})
	t.Run("a check beside a running one", func(t *testing.T) {
		cmd := startHost(t)
		working := bridgeState(t)
		out, err := hostAgent("--check").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 {
			t.Errorf("error %v, want exit code 3\n%s", err, out)
		}
		unchanged(t, working)
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		must(t, cmd.Wait())
		unchanged(t, before)
	})
	t.Run("the network is reloaded under it", func(t *testing.T) {
		cmd := startHost(t)
		run(t, "ip link del vmbr0.1691")
		run(t, "bridge vlan del dev vmbr0 vid 1691 self")
		eventually(t, "it makes its leg again", func() bool { return strings.Contains(bridgeState(t), "vmbr0.1691 up true") })
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		must(t, cmd.Wait())
		unchanged(t, before)
	})
}
