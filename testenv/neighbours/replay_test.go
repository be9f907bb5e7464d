//go:build linux

package neighbours_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/neighbours"
	"homeward/testenv/netlab"
)

func TestMain(m *testing.M) { netlab.Main(m) }

func needPrograms(t *testing.T) {
	t.Helper()
	for _, name := range neighbours.Programs() {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("CI needs this program:", err)
			}
			t.Skip("the replays need it:", err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplays holds of each replay that it does what it says where nobody else is: its
// traffic goes its way, a restart gives what the installation gave, and a clean-up
// leaves nothing.
func TestReplays(t *testing.T) {
	for _, n := range append(neighbours.All(), neighbours.NetBird()) {
		t.Run(n.Name, func(t *testing.T) {
			netlab.Require(t)
			needPrograms(t)
			t.Parallel()
			c, err := netlab.NewCluster(netlab.AnchorLayout)
			must(t, err)
			t.Cleanup(func() { must(t, c.Close()) })
			node := c.Nodes[0]
			r, err := n.Settle(t.Context(), c, node)
			must(t, err)
			t.Cleanup(func() { must(t, r.Close()) })
			list := func() []string {
				l, err := neighbours.List(t.Context(), node)
				must(t, err)
				return l
			}
			if rules := list(); len(rules) > 0 {
				t.Fatalf("there before: %q", rules)
			}
			must(t, r.Install(t.Context()))
			installed := list()
			if len(installed) == 0 {
				t.Error("it installs nothing")
			}
			must(t, r.Ask(t.Context()))
			must(t, r.Restart(t.Context()))
			if diff := cmp.Diff(installed, list()); diff != "" {
				t.Errorf("a restart changes it (-before +after):\n%s", diff)
			}
			must(t, r.Ask(t.Context()))
			must(t, r.CleanUp(t.Context()))
			if rules := list(); len(rules) > 0 {
				t.Errorf("left: %q", rules)
			}
		})
	}
}
