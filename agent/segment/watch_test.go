package segment

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"homeward/netplan"
)

var (
	own      = netplan.MAC{2, 0, 0, 0, 0, 0xaa}
	worker1  = netplan.MAC{2, 0, 0, 0, 0, 1}
	worker2  = netplan.MAC{2, 0, 0, 0, 0, 2}
	intruder = netplan.MAC{2, 0xbb, 0, 0, 0, 9}
	router   = netplan.MAC{2, 0xcc, 0, 0, 0, 1}
	router2  = netplan.MAC{2, 0xcc, 0, 0, 0, 2}

	gate = netip.MustParseAddr("203.0.113.1")
	pool = netip.MustParseAddr("203.0.113.75")
)

// stage plays a segment for a watch: who answers for what, in a time of its own.
type stage struct {
	t      *testing.T
	w      *Watch
	at     time.Time
	answer map[netip.Addr][]netplan.MAC
	events []Event
	asked  map[netip.Addr][]time.Time
}

func newStage(t *testing.T, change func(*Config)) *stage {
	t.Helper()
	c := Config{
		Own: own,
		Targets: []Target{
			{Address: gate, Use: "gateway", Witness: true, Gateway: true},
			{Address: pool, Use: "ingress", Ours: true},
		},
		Names: map[netplan.MAC]string{worker1: "edge-worker-01", worker2: "edge-worker-02"},
	}
	if change != nil {
		change(&c)
	}
	at := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	return &stage{
		t: t, w: NewWatch(c, at), at: at, asked: map[netip.Addr][]time.Time{},
		answer: map[netip.Addr][]netplan.MAC{gate: {router}, pool: {worker1}},
	}
}

// run lets the segment live for a time. Answers come a millisecond after a probe.
func (s *stage) run(d time.Duration) {
	for end := s.at.Add(d); s.at.Before(end); {
		ask, next, events := s.w.Step(s.at)
		s.events = append(s.events, events...)
		if !next.After(s.at) {
			s.t.Fatalf("it wants to come again at %v, which is now", next)
		}
		if ask.IsValid() {
			s.asked[ask] = append(s.asked[ask], s.at)
			for i, mac := range s.answer[ask] {
				s.frameAt(s.at.Add(time.Duration(i+1)*time.Millisecond), answerFrom(mac, ask))
			}
		}
		s.at = next
		if next.After(end) {
			s.at = end
		}
	}
}

func (s *stage) frameAt(at time.Time, a ARP) {
	s.events = append(s.events, s.w.Frame(at, a.Append(nil))...)
}

func (s *stage) announce(mac netplan.MAC, a netip.Addr) {
	s.frameAt(s.at, ARP{Source: mac, Destination: everyone(), Operation: Request, SenderMAC: mac, Sender: a, Target: a})
}

func answerFrom(mac netplan.MAC, a netip.Addr) ARP {
	return ARP{Source: mac, Destination: own, Operation: Reply, SenderMAC: mac, Sender: a, TargetMAC: own, Target: netip.IPv4Unspecified()}
}

// take gives the events since the call before, of these kinds or of all.
func (s *stage) take(kinds ...Kind) (out []Event) {
	for _, e := range s.events {
		if len(kinds) == 0 || slices.Contains(kinds, e.Kind) {
			out = append(out, e)
		}
	}
	s.events = nil
	return out
}

func (s *stage) expect(want ...Event) {
	s.t.Helper()
	ignore := cmpopts.IgnoreFields(Event{}, "Time", "NotBefore", "Use")
	if diff := cmp.Diff(want, s.take(), ignore, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()); diff != "" {
		s.t.Fatalf("events (-want +got):\n%s", diff)
	}
}

// settled is a stage on which nothing is new.
func settled(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, nil)
	s.run(4 * time.Second)
	s.expect(
		Event{Kind: PathProven, Address: gate},
		Event{Kind: Appeared, Address: gate, MAC: router},
		Event{Kind: Appeared, Address: pool, MAC: worker1, Machine: "edge-worker-01"},
	)
	return s
}

func TestTakeOverIsBoundedByTheLastAnswer(t *testing.T) {
	s := settled(t)
	s.run(150 * time.Millisecond)
	last := s.asked[pool][len(s.asked[pool])-1].Add(time.Millisecond)
	s.answer[pool] = []netplan.MAC{worker2}
	heard := s.at
	s.announce(worker2, pool)
	s.run(2 * time.Second)
	events := s.take()
	if len(events) != 1 || events[0].Kind != TakenOver {
		t.Fatalf("%+v", events)
	}
	e := events[0]
	if e.MAC != worker2 || e.Machine != "edge-worker-02" || e.From != worker1 || e.FromMachine != "edge-worker-01" {
		t.Errorf("%+v", e)
	}
	if !e.Time.Equal(heard) || !e.NotBefore.Equal(last) {
		t.Errorf("between %v and %v, want %v and %v", e.NotBefore, e.Time, last, heard)
	}
}

func TestTakeOverWithoutAnAnnouncement(t *testing.T) {
	s := settled(t)
	s.answer[pool] = []netplan.MAC{worker2}
	s.run(2 * time.Second)
	events := s.take()
	if len(events) != 1 || events[0].Kind != TakenOver || events[0].Time.Sub(events[0].NotBefore) > DefaultEvery+10*time.Millisecond {
		t.Fatalf("%+v", events)
	}
}

func TestWatch(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name string
		play func(s *stage)
		want []Event
	}{
		{"nothing happens", func(s *stage) { s.run(60 * second) }, nil},
		{"two answer, then one", func(s *stage) {
			s.answer[pool] = []netplan.MAC{worker1, worker2}
			s.run(5 * second)
			s.answer[pool] = []netplan.MAC{worker1}
			s.run(5 * second)
		}, []Event{
			{Kind: Duplicate, Address: pool, MAC: worker1, Machine: "edge-worker-01", Others: []netplan.MAC{worker2}},
			{Kind: Settled, Address: pool, MAC: worker1, Machine: "edge-worker-01"},
		}},
		{"a stranger takes over", func(s *stage) {
			s.answer[pool] = []netplan.MAC{intruder}
			s.run(5 * second)
		}, []Event{
			{Kind: Stranger, Address: pool, MAC: intruder},
			{Kind: TakenOver, Address: pool, MAC: intruder, From: worker1, FromMachine: "edge-worker-01"},
		}},
		{"a claim that its holder contradicts is told once", func(s *stage) {
			for range 20 {
				s.announce(worker2, pool)
				s.run(second / 3)
			}
		}, []Event{{Kind: Contradicted, Address: pool, MAC: worker2, Machine: "edge-worker-02", From: worker1, FromMachine: "edge-worker-01"}}},
		{"an address goes silent and comes back elsewhere", func(s *stage) {
			s.answer[pool] = nil
			s.run(10 * second)
			s.answer[pool] = []netplan.MAC{worker2}
			s.run(3 * second)
		}, []Event{
			{Kind: Silent, Address: pool, From: worker1, FromMachine: "edge-worker-01"},
			{Kind: TakenOver, Address: pool, MAC: worker2, Machine: "edge-worker-02", From: worker1, FromMachine: "edge-worker-01"},
		}},
		{"a new router", func(s *stage) {
			s.answer[gate] = []netplan.MAC{router2}
			s.run(5 * second)
		}, []Event{{Kind: GatewayChanged, Address: gate, MAC: router2, From: router}}},
		{"all is silent: nothing is said but that", func(s *stage) {
			s.answer = map[netip.Addr][]netplan.MAC{}
			s.run(20 * second)
		}, []Event{{Kind: PathLost}}},
		{"the gateway alone is silent", func(s *stage) {
			s.answer[gate] = nil
			s.run(20 * second)
			s.answer[pool] = nil
			s.run(20 * second)
		}, []Event{{Kind: PathLost}}},
		{"one lost answer", func(s *stage) {
			s.answer[pool] = nil
			s.run(1500 * time.Millisecond)
			s.answer[pool] = []netplan.MAC{worker1}
			s.run(5 * second)
		}, nil},
		{"a holder that announces and does not answer", func(s *stage) {
			s.answer[pool] = nil
			for range 20 {
				s.announce(worker1, pool)
				s.run(second)
			}
		}, nil},
		{"others' probes and questions claim nothing", func(s *stage) {
			s.frameAt(s.at, probeFor(pool, intruder))
			s.frameAt(s.at, ARP{Operation: Request, SenderMAC: intruder, Sender: netip.MustParseAddr("203.0.113.9"), Target: pool})
			s.frameAt(s.at, answerFrom(own, pool))
			s.run(3 * second)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settled(t)
			s.t = t
			c.play(s)
			s.expect(c.want...)
		})
	}
}

func TestRows(t *testing.T) {
	free := netip.MustParseAddr("203.0.113.76")
	local := netip.MustParseAddr("203.0.113.77")
	shy := netip.MustParseAddr("203.0.113.78")
	s := newStage(t, func(c *Config) {
		c.Local = []netip.Addr{local}
		for _, a := range []netip.Addr{free, local, shy} {
			c.Targets = append(c.Targets, Target{Address: a, Use: "ingress", Ours: true})
		}
	})
	s.answer[pool] = []netplan.MAC{worker1, intruder}
	state := func() string {
		text := ""
		for _, r := range s.w.Rows(s.at) {
			text += fmt.Sprintf("%s %s %s strangers %d claimed %d\n", r.Address, r.Held, r.Machine, len(r.Strangers), len(r.Claimed))
		}
		return text
	}
	s.run(100 * time.Millisecond)
	s.announce(worker2, shy)
	s.run(8 * time.Second)
	want := `203.0.113.1 held  strangers 0 claimed 0
203.0.113.75 conflict edge-worker-01 strangers 1 claimed 0
203.0.113.76 free  strangers 0 claimed 0
203.0.113.77 held this host strangers 1 claimed 0
203.0.113.78 unknown  strangers 0 claimed 1
`
	if diff := cmp.Diff(want, state()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.answer = map[netip.Addr][]netplan.MAC{}
	s.run(20 * time.Second)
	for _, r := range s.w.Rows(s.at) {
		if r.Held == HeldByNobody {
			t.Errorf("%s is called free though no witness answers", r.Address)
		}
	}
	if len(s.asked[local]) > 0 {
		t.Error("it asks itself")
	}
}

// TestPace holds what a switch sees: every address in its turn, never more than
// 100 probes a second.
func TestPace(t *testing.T) {
	s := newStage(t, func(c *Config) {
		for i := range 500 {
			c.Targets = append(c.Targets, Target{Address: netip.AddrFrom4([4]byte{10, 0, byte(i / 250), byte(i%250 + 1)}), Use: "ingress", Ours: true})
		}
	})
	s.run(30 * time.Second)
	var all []time.Time
	for a, times := range s.asked {
		all = append(all, times...)
		if len(times) < 4 || len(times) > 7 {
			t.Errorf("%s was asked for %d times in 30 s", a, len(times))
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	for i := 1; i < len(all); i++ {
		if gap := all[i].Sub(all[i-1]); gap < watchGap {
			t.Fatalf("two probes within %v", gap)
		}
	}
	if len(s.asked) != 502 {
		t.Errorf("%d addresses were asked for", len(s.asked))
	}
}
