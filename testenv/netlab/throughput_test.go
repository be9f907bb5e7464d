//go:build linux

package netlab_test

import (
	"testing"
	"time"

	"homeward/testenv/netlab"
)

func TestThroughput(t *testing.T) {
	c := servedCluster(t)
	const d = 200 * time.Millisecond
	for protocol, replySize := range map[netlab.Protocol]int{netlab.TCP: 60000, netlab.UDP: 12} {
		t.Run(string(protocol), func(t *testing.T) {
			got, err := c.Behind.Throughput(longer(t), protocol, target(t, c, 0, false), replySize, 16, d)
			must(t, err)
			if got.Bytes != got.Replies*int64(replySize) || got.Elapsed < d {
				t.Errorf("counts do not add up: %+v", got)
			}
			// One at a time over a lossless link of some 100 us would be 2,000.
			if got.Replies < 100 {
				t.Errorf("%d replies in %v", got.Replies, got.Elapsed)
			}
			perSecond, bytes := got.PerSecond()
			t.Logf("%.0f replies/s, %.1f MB/s", perSecond, bytes/1e6)
		})
	}
	t.Run("broken path", func(t *testing.T) {
		must(t, c.Nodes[0].DeleteTable("homeward"))
		got, err := c.Behind.Throughput(longer(t), netlab.UDP, target(t, c, 0, false), 12, 16, d)
		must(t, err)
		if got.Replies != 0 {
			t.Errorf("%d replies over a path that leads nowhere", got.Replies)
		}
	})
}
