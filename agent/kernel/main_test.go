//go:build linux

package kernel

import (
	"io"
	"log/slog"
	"os/exec"
	"testing"

	"homeward/testenv/netlab"
)

func TestMain(m *testing.M) { netlab.Main(m) }

func newKernel(t *testing.T) *Kernel {
	t.Helper()
	netlab.Require(t)
	return New(slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// run does a command of the system's own tools, which see the kernel with other
// eyes than ours.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
