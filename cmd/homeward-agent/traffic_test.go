//go:build linux

package main

import (
	"context"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/testenv/netlab"
)

// request asks from behind the router and gives patience's worth of time.
func (b *bench) request(protocol netlab.Protocol, target netip.AddrPort, replySize int) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	return b.Behind.Request(ctx, protocol, target, replySize)
}

// TestOlderConnectionsHeal takes the mark off living connections, as if they were
// older than the agent, and starts the agent on them.
func TestOlderConnectionsHeal(t *testing.T) {
	b := newBench(t)
	p := b.start()
	load, err := netlab.StartLoad(t.Context(), netlab.LoadConfig{
		From: b.Behind, Protocol: netlab.TCP, Rate: 50, Connections: 4, Target: b.target(), Drain: patience,
	})
	b.do(err)
	_ = p.end(syscall.SIGKILL)
	b.do(b.node.DeleteTable("homeward"))
	b.nft("table inet unmark { chain c { type filter hook prerouting priority -150; ct mark set ct mark and 0xffffdfff; }; }")
	time.Sleep(300 * time.Millisecond)
	b.do(b.node.DeleteTable("unmark"))
	before := load.Sofar().Replies
	time.Sleep(300 * time.Millisecond)
	if after := load.Sofar().Replies; after != before {
		t.Fatalf("%d replies without marks: the test proves nothing", after-before)
	}
	b.start()
	time.Sleep(500 * time.Millisecond)
	if r := load.Stop(); r.Broken > 0 || r.Lost > 0 {
		t.Errorf("%+v", r)
	}
}

func TestFullConnectionTable(t *testing.T) {
	b := newBench(t)
	p := b.start("--resync=1s")
	load, err := netlab.StartLoad(t.Context(), netlab.LoadConfig{From: b.Behind, Protocol: netlab.TCP, Rate: 50, Connections: 4, Target: b.target()})
	b.do(err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := b.node.FillConntrack(ctx); err != nil {
		t.Fatal(err)
	}
	b.do(b.node.DeleteTable("homeward"))
	// A full table also keeps us from asking the agent, so its log has to do.
	for end := time.Now().Add(patience); !strings.Contains(p.log.String(), "repair=true"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never repaired:\n%s", &p.log)
		}
	}
	b.do(load.WaitReplies(ctx, load.Sofar().Replies+10))
	if r := load.Stop(); r.Lost > 0 || r.Broken > 0 {
		t.Errorf("connections in the table suffered: %+v", r)
	}
	b.do(b.node.FlushConntrack())
	p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	b.allHome()
}

func TestNarrowPathTellsTheBackend(t *testing.T) {
	b := newBench(t)
	b.start()
	b.do(b.SetPathMTU(1280))
	for _, s := range b.MatrixServices(b.node)[:4] {
		if err := b.request(netlab.TCP, netip.AddrPortFrom(s.Address, s.Port), 40_000); err != nil {
			t.Errorf("backend on node %d, host network %v: %v", s.Node, s.HostNetwork, err)
		}
	}
}

// TestTheVIPAnswersByItsNIC asks over TCP only: a UDP socket that is bound to no
// address answers with the private one, whatever the routes say.
func TestTheVIPAnswersByItsNIC(t *testing.T) {
	b := newBench(t)
	b.start()
	leaked := b.leaks()
	b.do(b.node.HoldVIP())
	b.do(b.request(netlab.TCP, netip.AddrPortFrom(b.Addresses.VIP, netlab.VIPPort), 40_000))
	if n := leaked(); n > 0 {
		t.Errorf("%d replies leaked", n)
	}
}

func TestStatusFromInside(t *testing.T) {
	b := newBench(t)
	b.start()
	out, err := b.command("status").Output()
	if err != nil || !strings.Contains(string(out), "settings      digest ") || !strings.Contains(string(out), ", routes manage, resync 1m0s\n") {
		t.Errorf("status: %v\n%s", err, out)
	}
	b.do(b.node.Shadow(900))
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		cmd := b.command("status", "--output=json")
		_, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() == exitFailed {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("status never failed: %v", err)
		}
	}
}
