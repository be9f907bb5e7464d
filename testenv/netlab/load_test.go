//go:build linux

package netlab_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"homeward/testenv/netlab"
)

// servedCluster is a cluster with the documented rules, whose first node
// announces and serves everything.
func servedCluster(t *testing.T) *netlab.Cluster {
	t.Helper()
	c := newCluster(t, netlab.AnchorLayout)
	loadRules(t, c, prerouting, output)
	must(t, c.Serve(c.MatrixServices(c.Nodes[0])...))
	must(t, c.Announce(c.Addresses.Pool[0], c.Nodes[0]))
	return c
}

// target is where the backend of that kind is served, with policy Cluster.
func target(t *testing.T, c *netlab.Cluster, node int, host bool) netip.AddrPort {
	t.Helper()
	for _, s := range c.MatrixServices(c.Nodes[0]) {
		if s.Node == node && s.HostNetwork == host {
			return netip.AddrPortFrom(s.Address, s.Port)
		}
	}
	t.Fatalf("no service for node %d, host network %v", node, host)
	return netip.AddrPort{}
}

func TestLoadCountsExactly(t *testing.T) {
	c := servedCluster(t)
	for _, protocol := range []netlab.Protocol{netlab.TCP, netlab.UDP} {
		for _, connections := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s over %d connections", protocol, connections), func(t *testing.T) {
				load, err := netlab.StartLoad(longer(t), netlab.LoadConfig{
					From: c.Behind, Protocol: protocol, Target: target(t, c, 0, false), Rate: 300, Connections: connections,
				})
				must(t, err)
				must(t, load.WaitReplies(longer(t), 60))
				got := load.Stop()
				if got.Requests != got.Replies || got.Lost != 0 || got.Broken != 0 || got.Replies < 60 {
					t.Errorf("undisturbed load: %+v", got)
				}
			})
		}
	}
}

func TestLoadSeesAnOutage(t *testing.T) {
	const outage = 400 * time.Millisecond
	for _, protocol := range []netlab.Protocol{netlab.TCP, netlab.UDP} {
		for _, connections := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s over %d connections", protocol, connections), func(t *testing.T) {
				t.Parallel()
				c := servedCluster(t)
				drain := 10 * time.Second
				if protocol == netlab.UDP {
					drain = 500 * time.Millisecond // nobody repeats a datagram
				}
				load, err := netlab.StartLoad(longer(t), netlab.LoadConfig{
					From: c.Behind, Protocol: protocol, Target: target(t, c, 0, true), Rate: 200, Connections: connections,
					Drain: drain,
				})
				must(t, err)
				must(t, load.WaitReplies(longer(t), 20))
				must(t, c.Nodes[0].DeleteTable("homeward"))
				time.Sleep(outage)
				nft(t, c.Nodes[0].Host, table(prerouting, output))
				must(t, load.WaitReplies(longer(t), 20))
				got := load.Stop()
				if got.Requests != got.Replies+got.Lost {
					t.Errorf("counts do not add up: %+v", got)
				}
				if hurt := got.Lost + got.Late; hurt < 40 {
					t.Errorf("%d replies lost or late in %v at 200/s: %+v", hurt, outage, got)
				}
				if protocol == netlab.UDP && got.Lost < 40 {
					t.Errorf("%d datagrams lost in %v at 200/s: %+v", got.Lost, outage, got)
				}
				if protocol == netlab.TCP && got.Lost > 0 {
					t.Errorf("TCP lost %d replies for good: %+v", got.Lost, got)
				}
				if got.LongestGap < outage*8/10 {
					t.Errorf("longest gap %v in an outage of %v", got.LongestGap, outage)
				}
			})
		}
	}
}

func TestLoadDoesNotStartWhereNothingAnswers(t *testing.T) {
	c := servedCluster(t)
	c.Withdraw(c.Addresses.Pool[0])
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := netlab.StartLoad(ctx, netlab.LoadConfig{
		From: c.OnLink, Protocol: netlab.UDP, Target: target(t, c, 0, false), Rate: 10, Connections: 1,
	})
	if err == nil {
		t.Error("load started on an address that nobody announces")
	}
}
