//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/netplan"
)

// changes gathers what is written to the node's ruleset. The function that it
// gives ends the watch and gives the changes of our table, one a line.
func (b *bench) changes() func() []string {
	b.t.Helper()
	var seen syncBuffer
	cmd := b.node.Command(b.t.Context(), "nft", "monitor")
	cmd.Stdout, cmd.Stderr = &seen, os.Stderr
	b.do(cmd.Start())
	fence := func(name string) {
		b.t.Helper()
		for end := time.Now().Add(patience); !strings.Contains(seen.String(), "table ip "+name); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				b.t.Fatalf("nft monitor does not see table %s:\n%s", name, &seen)
			}
			b.nft("add table ip " + name + "; delete table ip " + name)
		}
	}
	fence("before")
	return func() (ours []string) {
		b.t.Helper()
		fence("after")
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it ends by the signal
		for line := range strings.Lines(seen.String()) {
			if strings.Contains(line+" ", " inet "+netplan.NFTablesTable+" ") || strings.HasSuffix(strings.TrimSpace(line), " inet "+netplan.NFTablesTable) {
				ours = append(ours, strings.TrimSpace(line))
			}
		}
		return ours
	}
}

// TestTheNFTPodAndTheAgentLeaveEachOthersTable holds that a change of the kind of
// pod, in either direction, writes nothing and loses no reply.
func TestTheNFTPodAndTheAgentLeaveEachOthersTable(t *testing.T) {
	for name, kinds := range map[string][2]string{
		"nft pod first": {nftPod, agentImage},
		"agent first":   {agentImage, nftPod},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.lossless()
			b.do(b.node.Steer())
			first := b.startPod(kinds[0])
			first.awaitReady()
			if kinds[0] == nftPod {
				first.says("installed")
			}
			load, written := b.startLoads(), b.changes()
			second := b.startPod(kinds[1])
			second.awaitReady()
			if kinds[1] == nftPod {
				second.says("is in place") // it has compared, and is content
			}
			first.end()
			if lines := written(); len(lines) > 0 {
				t.Errorf("written while the other's table was there:\n%s", strings.Join(lines, "\n"))
			}
			load.none()
			b.allHome()
		})
	}
}

// TestChangesAreSeen holds that the watch sees the writes of both kinds of pod.
func TestChangesAreSeen(t *testing.T) {
	for name, image := range map[string]string{"agent": agentImage, "nft": nftPod} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(b.node.Steer())
			written := b.changes()
			b.startPod(image).awaitReady()
			lines := strings.Join(written(), "\n")
			for _, want := range []string{"add table inet homeward", "add chain inet homeward prerouting", "add rule inet homeward output"} {
				if !strings.Contains(lines, want) {
					t.Errorf("no %q in\n%s", want, lines)
				}
			}
		})
	}
}
