package returnpath

import (
	"context"
	"testing"
	"time"

	"homeward/netplan"
)

// eventually waits in real time for something that other goroutines do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func startLoop(t *testing.T) (*Agent, *fakeKernel, *fakeClock) {
	t.Helper()
	k := newNode()
	a, clock := newAgent(t, k, testSettings(), time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		clock.advance(time.Hour)
		<-done
	})
	eventually(t, "first pass", func() bool { return a.Status().Ready && a.Status().Gateway.Known })
	return a, k, clock
}

func TestEventsTriggerAPass(t *testing.T) {
	a, k, clock := startLoop(t)
	before := a.Status().Passes
	k.mu.Lock()
	k.table = netplan.TableListing{}
	k.mu.Unlock()
	k.events <- "nftables"
	eventually(t, "repair", func() bool {
		clock.advance(settle)
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.table.Present
	})
	if n := a.Status().Passes; n == before {
		t.Error("no pass counted")
	}
}

func TestResyncNeedsNoEventAndNoWallClock(t *testing.T) {
	a, k, clock := startLoop(t)
	clock.setWall(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))
	k.mu.Lock()
	k.table = netplan.TableListing{}
	k.mu.Unlock()
	asked := func() int {
		p := a.cfg.Prober.(*fakeProber)
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.asked)
	}
	first := asked()
	eventually(t, "resync", func() bool {
		clock.advance(time.Second)
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.table.Present
	})
	eventually(t, "the gateway is asked again", func() bool {
		clock.advance(time.Second)
		return asked() > first
	})
	if !a.Alive() {
		t.Error("not alive")
	}
}

func TestAliveEndsWhenTheLoopHangs(t *testing.T) {
	k := newNode()
	a, clock := newAgent(t, k, testSettings(), time.Minute)
	a.Pass(context.Background())
	clock.advance(80 * time.Second)
	if !a.Alive() {
		t.Error("not alive within the grace")
	}
	clock.advance(20 * time.Second)
	if a.Alive() {
		t.Error("alive though nothing turned for longer than resync and grace")
	}
}

func TestRunRemovesNothing(t *testing.T) {
	k := newNode()
	a, clock := newAgent(t, k, testSettings(), time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	eventually(t, "first pass", func() bool { return a.Status().Ready })
	k.mu.Lock()
	writes := len(k.writes)
	k.mu.Unlock()
	cancel()
	clock.advance(time.Hour)
	<-done
	if !k.table.Present || len(k.writes) != writes {
		t.Errorf("on exit it wrote %v", k.writes[writes:])
	}
}
