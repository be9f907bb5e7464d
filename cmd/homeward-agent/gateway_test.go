//go:build linux

package main

import (
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeward/agent/returnpath"
	"homeward/netplan"
	"homeward/testenv/netlab"
)

// target is a pod on the announcing node.
func (b *bench) target() netip.AddrPort {
	return netip.AddrPortFrom(b.Addresses.Pool[0], b.MatrixServices(b.node)[0].Port)
}

// forgetGateway makes the node's kernel find its gateway anew.
func (b *bench) forgetGateway() {
	b.t.Helper()
	if out, err := b.node.Command(b.t.Context(), "ip", "neigh", "flush", "all").CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
}

// gatewayEntry is what the node's kernel knows of the gateway.
func (b *bench) gatewayEntry() string {
	b.t.Helper()
	out, err := b.node.Command(b.t.Context(), "ip", "neigh", "show", b.Addresses.ExternalGateway.String()).CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestGatewayThatIgnoresTheAnchor(t *testing.T) {
	b := newBench(t)
	b.do(b.SetGatewayARP(netlab.IgnoresOffSubnet))
	p := b.start()
	s := p.await("gateway known", func(s returnpath.Status) bool { return s.Gateway.Known })
	if !s.Ready || !s.Gateway.Reachable || !s.Gateway.ProbeOnly || s.Gateway.MAC.IsZero() {
		t.Errorf("gateway %+v, problems %+v", s.Gateway, s.Problems)
	}
	b.allHome()

	t.Run("its entry is kept alive", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes 40 s")
		}
		b.lossless()
		load := b.startLoads()
		for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
			if entry := b.gatewayEntry(); !strings.Contains(entry, "REACHABLE") {
				t.Errorf("the gateway's neighbour entry is %q", entry)
			}
		}
		// An entry that nobody keeps alive costs every reply from the 26th second on,
		// a third of all. A machine that stands still meanwhile costs some.
		if r := load.stop(); r.Lost*20 > r.Requests {
			t.Errorf("lost %d of %d replies", r.Lost, r.Requests)
		}
	})
	t.Run("its MAC changes", func(t *testing.T) {
		mac := net.HardwareAddr{2, 0, 0, 0, 0, 0x77}
		b.do(b.SetGatewayMAC(mac))
		p.await("followed", func(s returnpath.Status) bool { return s.Gateway.MAC == netplan.MAC(mac) })
		b.allHome()
	})
	t.Run("it goes away and comes back", func(t *testing.T) {
		b.do(b.SetGatewayDown(true))
		p.await("unreachable", func(s returnpath.Status) bool { return s.Gateway.Known && !s.Gateway.Reachable && !s.Ready })
		b.do(b.SetGatewayDown(false))
		p.await("reachable", func(s returnpath.Status) bool { return s.Gateway.Reachable && s.Ready })
	})
}

func TestGatewayThatDropsProbes(t *testing.T) {
	b := newBench(t)
	b.do(b.SetGatewayARP(netlab.DropsProbes))
	p := b.start()
	s := p.await("gateway known", func(s returnpath.Status) bool { return s.Gateway.Known })
	if !s.Ready || !s.Gateway.Reachable || s.Gateway.ProbeOnly {
		t.Errorf("gateway %+v, problems %+v", s.Gateway, s.Problems)
	}
	b.allHome()
	_ = p.end(syscall.SIGKILL)
	b.forgetGateway()
	b.allHome() // the kernel finds it without us
}

// TestAnchorIgnoredWithoutAnAgent shows why the agent meddles at all: the kernel
// alone never finds such a gateway.
func TestAnchorIgnoredWithoutAnAgent(t *testing.T) {
	b := newBench(t)
	p := b.start()
	_ = p.end(syscall.SIGKILL)
	b.do(b.SetGatewayARP(netlab.IgnoresOffSubnet))
	b.forgetGateway()
	load, err := netlab.StartLoad(t.Context(), netlab.LoadConfig{From: b.Behind, Protocol: netlab.UDP, Rate: 20, Target: b.target(), Drain: time.Second})
	b.do(err)
	time.Sleep(500 * time.Millisecond)
	if r := load.Stop(); r.Replies > 0 {
		t.Fatalf("%d replies: the lab's gateway answers the anchor", r.Replies)
	}
	b.start()
	b.allHome()
}
