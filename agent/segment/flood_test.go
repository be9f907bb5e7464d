//go:build linux

package segment_test

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"homeward/agent/segment"
	"homeward/netplan"
)

// invented gives frames of hosts that nobody has, a quarter of them cut short. Their
// Ethernet source is one, so that the lab's switch does not learn 100,000 a second.
func invented(n int) [][]byte {
	draw := rand.New(rand.NewPCG(1, 2))
	frames := make([][]byte, n)
	for i := range frames {
		frame := segment.ARP{
			Source: netplan.MAC{2, 0, 0, 0, 0, 7}, Destination: netplan.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, Operation: segment.Reply,
			SenderMAC: netplan.MAC{2, byte(draw.Uint32()), byte(draw.Uint32()), byte(draw.Uint32()), 0, 7},
			Sender:    netip.AddrFrom4([4]byte{203, 0, 113, byte(draw.Uint32())}), Target: squat,
		}.Append(nil)
		if draw.IntN(4) == 0 {
			frame = frame[:14+draw.IntN(len(frame)-14)]
		}
		frames[i] = frame
	}
	return frames
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
	const rate, length = 100_000, 5 * time.Second
	flooder, frames := l.join("flooder"), invented(1<<16)
	before := heap()

	storm, calm := context.WithTimeout(ctx, length)
	defer calm()
	sent, err := flooder.Flood(storm, "ext", rate, frames)
	l.must(err)
	during := heap()
	runtime.KeepAlive(frames) // in both
	if !seen(segment.Overloaded) {
		t.Errorf("%d frames in %v, and no word of it", sent, length)
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
		float64(sent)/length.Seconds(), s.Frames, s.Malformed, s.Unread, before>>10, during>>10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
