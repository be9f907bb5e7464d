package segment

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"homeward/netplan"
)

func TestDecode(t *testing.T) {
	good := answerFrom(worker1, pool)
	good.Source = worker1
	frame := good.Append(nil)
	for _, padded := range [][]byte{frame, append(frame[:len(frame):len(frame)], make([]byte, 18)...)} {
		if got, ok := Decode(padded); !ok || got != good {
			t.Errorf("%+v, %v", got, ok)
		}
	}
	spoil := func(at int, v byte) []byte {
		b := append([]byte{}, frame...)
		b[at] = v
		return b
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "cut short": frame[:len(frame)-1], "another protocol": spoil(12, 0x86),
		"hardware that is not Ethernet": spoil(15, 6), "a protocol that is not IPv4": spoil(16, 0x86),
		"MACs of another length": spoil(18, 8), "addresses of another length": spoil(19, 16),
		"an operation of RARP": spoil(21, 3), "a group as the sender": spoil(22, 0x03),
		"no sender": append(append(append([]byte{}, frame[:22]...), make([]byte, 6)...), frame[28:]...),
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := Decode(b); ok {
				t.Errorf("taken as %+v", got)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(answerFrom(worker1, pool).Append(nil))
	f.Add(probeFor(pool, worker1).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		a, ok := Decode(frame)
		if !ok {
			return
		}
		if a.SenderMAC.IsZero() || a.SenderMAC.IsMulticast() {
			t.Fatalf("sender %s", a.SenderMAC)
		}
		if again := a.Append(nil); string(again) != string(frame[:len(again)]) {
			t.Fatalf("%x became %x", frame, again)
		}
	})
}

// FuzzWatch lets frames come in any order at any time. Whatever they are, one
// probe at a time is sent, at the pace, and an event is about an address of the
// watch.
func FuzzWatch(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 250, 4, 7})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 64 {
			return // each byte may be two seconds of a segment's life
		}
		s := newStage(t, nil)
		macs := []netplan.MAC{worker1, worker2, intruder, router, own, {}}
		for _, b := range script {
			mac := macs[int(b)%len(macs)]
			address := []netip.Addr{gate, pool, netip.IPv4Unspecified()}[int(b>>3)%3]
			switch b >> 6 {
			case 0:
				s.frameAt(s.at, answerFrom(mac, address))
			case 1:
				s.announce(mac, address)
			case 2:
				s.run(time.Duration(b) * 10 * time.Millisecond)
			default:
				s.answer[address] = []netplan.MAC{mac}
			}
		}
		s.run(5 * time.Second)
		for _, e := range s.events {
			if e.Address.IsValid() && e.Address != gate && e.Address != pool {
				t.Fatalf("an event about %s", e.Address)
			}
			if e.NotBefore.After(e.Time) {
				t.Fatalf("a bound after its time: %+v", e)
			}
			if e.Text() == "" {
				t.Fatalf("no text: %+v", e)
			}
		}
	})
}

// flood gives frames of hosts that nobody has, for addresses of the watch and others.
func flood(n int, draw *rand.Rand) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		mac := netplan.MAC{2, byte(draw.Uint32()), byte(draw.Uint32()), byte(draw.Uint32()), byte(draw.Uint32()), 1}
		address := pool
		if i%2 == 0 {
			address = netip.AddrFrom4([4]byte{203, 0, 113, byte(draw.Uint32())})
		}
		a := answerFrom(mac, address)
		if i%3 == 0 {
			a.Operation = Request
		}
		frames[i] = a.Append(nil)
		if i%5 == 0 {
			frames[i] = frames[i][:draw.IntN(len(frames[i]))]
		}
	}
	return frames
}

func TestFloodIsBoundedAndTold(t *testing.T) {
	s := settled(t)
	frames := flood(200_000, rand.New(rand.NewPCG(1, 2)))
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i, frame := range frames {
		if i%100 == 0 { // 100,000 frames a second
			s.at = s.at.Add(time.Millisecond)
			_, _, events := s.w.Step(s.at)
			s.events = append(s.events, events...)
		}
		s.events = append(s.events, s.w.Frame(s.at, frame)...)
	}
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	stats := s.w.Stats(s.at)
	if !stats.Overloaded || stats.Frames < 200_000 || stats.Malformed == 0 {
		t.Errorf("%+v", stats)
	}
	if n := len(s.events); n > tellBurst+3*tellRate {
		t.Errorf("%d events were told", n)
	}
	if events := s.take(Overloaded); len(events) != 1 || events[0].Count != DefaultLimit {
		t.Errorf("%+v", events)
	}
	for _, r := range s.w.Rows(s.at) {
		if len(r.Strangers) > maxHolders || len(r.Claimed) > maxHolders || len(r.Others) > maxHolders {
			t.Errorf("%+v", r)
		}
	}

	s.run(10 * time.Second)
	if events := s.take(Recovered, Silent, PathLost); len(events) != 1 || events[0].Kind != Recovered || events[0].Count < 100_000 {
		t.Errorf("%+v, want what was not judged", events)
	}
}

// TestSilenceDuringAFloodIsNone holds that an answer which may have been lost is not
// taken for one that never came.
func TestSilenceDuringAFloodIsNone(t *testing.T) {
	s := settled(t)
	s.answer = map[netip.Addr][]netplan.MAC{}
	for range 20 {
		s.events = append(s.events, s.w.Lost(s.at, 1000)...)
		s.run(time.Second / 2)
	}
	if events := s.take(Silent, PathLost); len(events) > 0 {
		t.Errorf("%+v", events)
	}
}

// BenchmarkFrame is what one frame costs that claims a watched address.
func BenchmarkFrame(b *testing.B) {
	at := time.Now()
	w := NewWatch(Config{Own: own, Targets: []Target{{Address: pool, Ours: true}}, Limit: 1 << 30}, at)
	frames := flood(1000, rand.New(rand.NewPCG(1, 2)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Frame(at, frames[i%len(frames)])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
