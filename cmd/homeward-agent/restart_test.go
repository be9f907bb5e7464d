//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

// TestOwnDoingsLoseNothing holds what nobody forgives: that start, stop, kill,
// restart, resync and upgrade of the agent itself lose a reply.
func TestOwnDoingsLoseNothing(t *testing.T) {
	b := newBench(t)
	b.lossless()
	p := b.start()
	load := b.startLoads()
	for i, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGKILL} {
		_ = p.end(sig)
		if i == 2 {
			time.Sleep(300 * time.Millisecond) // a while without any agent
		}
		p = b.start("--resync=1s")
	}
	for range 5 { // killed at whatever it was doing
		killed := b.startNode(b.flags("--routes=manage", "--listen=0")...)
		time.Sleep(time.Duration(killed.cmd.Process.Pid%20) * time.Millisecond)
		_ = killed.end(syscall.SIGKILL)
	}
	time.Sleep(1500 * time.Millisecond) // a resync
	load.none()
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("on SIGTERM: %v", err)
	}
	b.allHome()
}

func TestUpgradeToNewDestinations(t *testing.T) {
	b := newBench(t)
	b.lossless()
	old := b.start()
	load := b.startLoads()
	wider := strings.Replace(strings.Join(b.flags("--routes=manage"), " "), "--destinations=", "--destinations=203.0.113.90-203.0.113.99,", 1)
	wider = strings.Replace(wider, ":9465", ":9466", 1)
	next := b.startNode(strings.Fields(wider)...)
	next.await("ready", func(s returnpath.Status) bool { return s.Ready })
	s := old.await("superseded", func(s returnpath.Status) bool { return !s.Ready })
	if kinds(s)[0] != returnpath.ProblemSuperseded {
		t.Errorf("problems %+v", s.Problems)
	}
	load.none()
	b.do(b.node.FlushRuleset())
	repairs := next.await("repaired", func(s returnpath.Status) bool { return s.Ready && s.Repairs["nft_table"] > 0 }).Repairs
	time.Sleep(300 * time.Millisecond)
	if again := next.await("ready", func(s returnpath.Status) bool { return s.Ready }); again.Repairs["nft_table"] != repairs["nft_table"] {
		t.Errorf("the two fight: %v, then %v", repairs, again.Repairs)
	}
	_ = old.end(syscall.SIGTERM)
	b.allHome()
}

func TestTwoAgentsWithEqualSettings(t *testing.T) {
	b := newBench(t)
	one := b.start()
	load := b.startLoads()
	two := b.start("--listen=127.0.0.1:9466")
	for range 3 {
		b.do(b.node.FlushRuleset())
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range []*process{one, two} {
		p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	}
	time.Sleep(200 * time.Millisecond)
	passes := one.await("ready", func(s returnpath.Status) bool { return s.Ready }).Passes
	time.Sleep(500 * time.Millisecond)
	if again := one.await("ready", func(s returnpath.Status) bool { return s.Ready }).Passes; again > passes+1 {
		t.Errorf("the two keep each other busy: %d passes, then %d", passes, again)
	}
	load.stop()
	b.allHome()
}

func (b *bench) nft(args ...string) string {
	b.t.Helper()
	out, err := b.node.Command(b.t.Context(), "nft", args...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("nft: %v\n%s", err, out)
	}
	return string(out)
}

func TestCheckedRoutesAreTalossBusiness(t *testing.T) {
	b := newBench(t)
	p := b.startNode(b.flags()...)
	s := p.await("alive", func(s returnpath.Status) bool { return s.Passes > 0 })
	want := map[returnpath.ProblemKind]int{returnpath.ProblemRuleMissing: 4, returnpath.ProblemRouteMissing: 2}
	got := map[returnpath.ProblemKind]int{}
	for _, k := range kinds(s) {
		got[k]++
	}
	if s.Ready || got[returnpath.ProblemRuleMissing] != 4 || got[returnpath.ProblemRouteMissing] != 2 {
		t.Errorf("problems %v, want %v", got, want)
	}
	b.do(b.node.Steer())
	p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	b.allHome()
	// A stuck NIC is brought up all the same, and Talos then puts its routes back.
	b.do(b.node.SetDown(b.node.ExternalLink))
	p.await("link up again", func(s returnpath.Status) bool { return s.Repairs["link"] == 1 })
	b.do(b.node.SteerRoutes())
	p.await("ready", func(s returnpath.Status) bool { return s.Ready })
	leaked := b.leaks()
	b.do(b.node.Unplug())
	load, err := netlab.StartLoad(t.Context(), netlab.LoadConfig{From: b.Behind, Protocol: netlab.UDP, Rate: 50, Target: b.target(), Drain: time.Millisecond})
	b.do(err)
	time.Sleep(200 * time.Millisecond)
	load.Stop()
	if n := leaked(); n > 0 {
		t.Errorf("%d replies leaked", n)
	}
}

func TestCleanup(t *testing.T) {
	b := newBench(t)
	p := b.start()
	_ = p.end(syscall.SIGTERM)
	for i, want := range []int{1 + 4 + 2, 0} {
		out, err := b.command("cleanup", "--routes=manage").Output()
		if err != nil || strings.Count(string(out), "removed ") != want {
			t.Errorf("time %d: %v\n%s", i, err, out)
		}
	}
	rules, err := b.node.Netlink().RuleList(2)
	b.do(err)
	if len(rules) != 3 {
		t.Errorf("rules left: %v", rules)
	}
	if out := b.nft("list tables"); strings.Contains(out, netplan.NFTablesTable) || !strings.Contains(out, "kube-proxy") {
		t.Errorf("tables left: %s", out)
	}
}

func TestOnceAndDryRun(t *testing.T) {
	b := newBench(t)
	out, err := b.command(append([]string{"node", "--dry-run"}, b.flags("--routes=manage")...)...).Output()
	if err != nil || strings.Count(string(out), "\n") != 7 {
		t.Errorf("--dry-run: %v\n%s", err, out)
	}
	if text := b.nft("list tables"); strings.Contains(text, netplan.NFTablesTable) {
		t.Errorf("--dry-run wrote: %s", text)
	}
	if text, err := b.command(append([]string{"node", "--once"}, b.flags("--routes=manage")...)...).CombinedOutput(); err != nil {
		t.Errorf("--once: %v\n%s", err, text)
	}
	b.allHome()
	if out, err = b.command(append([]string{"node", "--dry-run"}, b.flags("--routes=manage")...)...).Output(); err != nil || string(out) != "nothing to do\n" {
		t.Errorf("--dry-run afterwards: %v\n%s", err, out)
	}
}
