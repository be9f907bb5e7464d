//go:build linux

package segment_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"homeward/agent/kernel"
	"homeward/agent/segment"
	"homeward/netplan"
)

// flood sends ARP of invented hosts from a host until the context ends, as fast as
// rate says, and counts.
func (l *lab) flood(ctx context.Context, name string, rate int) (sent *atomic.Int64, done *sync.WaitGroup) {
	l.t.Helper()
	h := l.join(name)
	var w *kernel.Wire
	l.must(h.Do(func() (err error) {
		w, err = kernel.New(slog.New(slog.NewTextHandler(io.Discard, nil))).OpenWire(l.t.Context(), "ext")
		return err
	}))
	sent, done = new(atomic.Int64), new(sync.WaitGroup)
	done.Go(func() {
		defer w.Close()
		draw := rand.New(rand.NewPCG(1, 2))
		for began := time.Now(); ctx.Err() == nil; {
			for due := int64(time.Since(began).Seconds() * float64(rate)); sent.Load() < due && ctx.Err() == nil; sent.Add(1) {
				mac := netplan.MAC{2, byte(draw.Uint32()), byte(draw.Uint32()), byte(draw.Uint32()), 0, 7}
				frame := segment.ARP{
					Source: mac, Destination: netplan.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, Operation: segment.Reply, SenderMAC: mac,
					Sender: netip.AddrFrom4([4]byte{203, 0, 113, byte(draw.Uint32())}), Target: squat,
				}.Append(nil)
				if draw.IntN(4) == 0 {
					frame = frame[:14+draw.IntN(len(frame)-14)]
				}
				if w.WriteFrame(frame) != nil {
					return // the lab is gone
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
	return sent, done
}

// TestFloodOnTheWire holds that 100,000 frames a second cost no memory, are told,
// and make nothing of what is there silent.
func TestFloodOnTheWire(t *testing.T) {
	l := newLab(t)
	router, worker := l.join("router", gateway), l.join("worker", squat)
	wire := l.wire()
	w := segment.NewWatch(segment.Config{
		Own: wire.MAC(), Local: wire.Local(), Names: map[netplan.MAC]string{l.mac(worker): "edge-worker-01", l.mac(router): "router"},
		Targets: []segment.Target{
			{Address: gateway, Use: segment.UseGateway, Witness: true, Gateway: true}, {Address: squat, Use: segment.UseIngress},
		},
	}, time.Now())
	var mu sync.Mutex
	var events []segment.Event
	seen := func(kind segment.Kind) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(events, func(e segment.Event) bool { return e.Kind == kind })
	}
	ctx, cancel := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() {
		if err := segment.Listen(ctx, wire, w, func(e segment.Event) { mu.Lock(); events = append(events, e); mu.Unlock() }); err != nil {
			t.Error(err)
		}
	})
	defer func() { cancel(); listening.Wait() }()
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("never %s: %+v, %v", what, w.Stats(time.Now()), events)
			}
		}
	}
	await("proven", func() bool { return w.Stats(time.Now()).Proven })
	before := heap()

	storm, calm := context.WithTimeout(ctx, 5*time.Second)
	defer calm()
	sent, flooding := l.flood(storm, "flooder", 100_000)
	flooding.Wait()
	during := heap()
	rate := float64(sent.Load()) / 5
	if rate < 50_000 {
		t.Logf("only %.0f frames a second were sent: this machine is busy", rate)
	}
	if !seen(segment.Overloaded) {
		t.Errorf("%d frames in 5 s, and no word of it", sent.Load())
	}
	if during > before+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, during)
	}
	await("recovered", func() bool { return seen(segment.Recovered) })
	time.Sleep(5 * time.Second)
	for _, kind := range []segment.Kind{segment.Silent, segment.GatewayChanged, segment.TakenOver, segment.PathLost} {
		if seen(kind) {
			t.Errorf("the flood brought about %s: %v", kind, events)
		}
	}
	s := w.Stats(time.Now())
	t.Logf("%.0f frames a second; read %d, malformed %d, left to the kernel %d, heap %d KiB before and %d KiB during",
		rate, s.Frames, s.Malformed, s.Unread, before>>10, during>>10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
