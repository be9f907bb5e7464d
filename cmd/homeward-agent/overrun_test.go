//go:build linux

package main

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/testenv/netlab"
)

// Where /proc/net/netlink has what of a socket, and the families that the agent
// listens to.
const (
	columnFamily, columnGroups, columnDrops = 1, 3, 8

	familyRoute     = "0"
	familyNetfilter = "12"
)

// dropped counts what the kernel could not give to subscribers of a netlink family
// on the node, because their receive buffers were full.
func (b *bench) dropped(family string) (sum uint64) {
	b.t.Helper()
	b.do(b.node.Do(func() error {
		text, err := os.ReadFile("/proc/thread-self/net/netlink")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) <= columnDrops || f[columnFamily] != family || strings.Trim(f[columnGroups], "0") == "" {
				continue
			}
			n, err := strconv.ParseUint(f[columnDrops], 10, 64)
			if err != nil {
				return err
			}
			sum += n
		}
		return nil
	}))
	return sum
}

// TestEventsThatOverrunTheSocket holds the agent up while the node changes faster
// than a socket can hold, in ways that are none of its business, and destroys
// something of its own when the buffer is full. The word of that is lost, and only
// that words were lost (ENOBUFS) can wake the agent: the resync is an hour away.
func TestEventsThatOverrunTheSocket(t *testing.T) {
	pods := netip.MustParseAddr("10.77.0.1")
	tests := map[string]struct {
		family  string
		crowd   func(b *bench) error // changes that do not count
		destroy func(b *bench) error
		kind    string
	}{
		"nftables": {
			familyNetfilter,
			func(b *bench) error { return b.node.AddForeignTable("crowd", 10) },
			func(b *bench) error { return b.node.DeleteTable("homeward") }, "nft_table",
		},
		"routing": {
			familyRoute,
			func(b *bench) error {
				r := netlab.Route{Destination: netip.PrefixFrom(pods, 32), Link: b.node.PrivateLink}
				if err := b.node.AddRoute(r); err != nil {
					return err
				}
				return b.node.DeleteRoute(r)
			},
			func(b *bench) error {
				return b.node.DeleteRule(netlab.Rule{Priority: 1001, Mark: 0x2000, Mask: 0x2000, Table: 251})
			}, "ip_rule",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := b.start("--resync=1h")
			load := b.startLoads()
			before := p.await("ready", func(s returnpath.Status) bool { return s.Ready })
			b.do(p.cmd.Process.Signal(syscall.SIGSTOP))
			for end := time.Now().Add(patience); b.dropped(tt.family) == 0; {
				if time.Now().After(end) {
					t.Fatal("the buffer never ran over: the test proves nothing")
				}
				for range 50 {
					b.do(tt.crowd(b))
				}
			}
			full := b.dropped(tt.family)
			b.do(tt.destroy(b))
			if b.dropped(tt.family) == full {
				t.Fatal("the agent was told of what was destroyed: the test proves nothing")
			}
			b.do(p.cmd.Process.Signal(syscall.SIGCONT))
			p.await("repaired", func(s returnpath.Status) bool {
				return s.Ready && s.Repairs[tt.kind] > before.Repairs[tt.kind]
			})
			load.stop()
			b.allHome()
		})
	}
}
