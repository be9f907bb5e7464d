//go:build linux

package netlab_test

import (
	"testing"
	"time"

	"homeward/testenv/netlab"
)

func TestFullConnectionTable(t *testing.T) {
	c := servedCluster(t)
	to := target(t, c, 0, false)
	load, err := netlab.StartLoad(longer(t), netlab.LoadConfig{
		From: c.Behind, Protocol: netlab.TCP, Target: to, Rate: 50, Connections: 2,
	})
	must(t, err)
	added, err := c.Nodes[0].FillConntrack(longer(t))
	must(t, err)
	if added == 0 {
		t.Error("nothing was added to the table")
	}
	if requestWithin(t, 300*time.Millisecond, c.Behind, netlab.UDP, to, 12) == nil {
		t.Error("a new connection got through a full table")
	}
	must(t, load.WaitReplies(longer(t), 10))
	if got := load.Stop(); got.Lost > 0 || got.Broken > 0 {
		t.Errorf("connections in the table suffered: %+v", got)
	}
	must(t, c.Nodes[0].FlushConntrack())
	must(t, requestWithin(t, 5*time.Second, c.Behind, netlab.UDP, to, 12))
}
