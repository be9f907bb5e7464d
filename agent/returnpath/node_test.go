package returnpath

import (
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"homeward/netplan"
)

// fakeClock stands still until it is moved.
type fakeClock struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
	timers  []fakeTimer
}

type fakeTimer struct {
	at time.Duration
	c  chan time.Time
}

func (c *fakeClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *fakeClock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

func (c *fakeClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := fakeTimer{at: c.elapsed + d, c: make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	return t.c
}

// advance moves the clock and fires what is due.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapsed += d
	c.wall = c.wall.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t fakeTimer) bool {
		if t.at > c.elapsed {
			return false
		}
		t.c <- c.wall
		return true
	})
}

func (c *fakeClock) setWall(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = t
}

var (
	extMAC  = netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 1}
	privMAC = netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 2}
	gwMAC   = netplan.MAC{2, 0, 0, 0, 0, 9}
	extLink = netplan.Link{Index: 3, Name: "ens19", MAC: extMAC, PermanentMAC: extMAC, Up: true}
	prvLink = netplan.Link{Index: 2, Name: "ens18", MAC: privMAC, PermanentMAC: privMAC, Up: true}
	anchor  = netip.MustParseAddr("169.254.33.7")
)

func testSettings() Settings {
	r, err := netplan.ParseRange("203.0.113.75-203.0.113.79")
	if err != nil {
		panic(err)
	}
	return Settings{
		ExternalMAC: extMAC, Destinations: netplan.AddressSet{r},
		CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.1"),
		VIP:  netip.MustParseAddr("203.0.113.80"),
		Mark: netplan.DefaultMark, Mask: netplan.DefaultMask, Table: netplan.DefaultTable,
		Priorities: netplan.PrioritiesAt(netplan.DefaultPriority), Manage: true,
	}
}

func newNode() *fakeKernel {
	return &fakeKernel{
		links: []netplan.Link{{Index: 1, Name: "lo", Up: true}, prvLink, extLink},
		rules: []netplan.Rule{{Priority: 32766, Source: netip.MustParsePrefix("0.0.0.0/0"), Action: netplan.ActionLookup, Table: 254, Protocol: 2}},
		routes: []netplan.Route{{
			Table: 254, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.1"), Link: 2, Scope: netplan.ScopeGlobal, Metric: 1024, Protocol: 4,
		}},
		rp: map[string]netplan.ReversePath{}, addrs: []netip.Addr{anchor}, broken: map[string]bool{}, events: make(chan string, 1),
	}
}

// newAgent makes an agent on a node; boot is when it started.
func newAgent(t *testing.T, k *fakeKernel, s Settings, boot time.Duration) (*Agent, *fakeClock) {
	t.Helper()
	clock := &fakeClock{wall: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), elapsed: time.Hour}
	return New(Config{
		Settings: s, Kernel: k, Prober: &fakeProber{plain: gwMAC}, Clock: clock,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Boot: boot, Resync: time.Minute,
	}), clock
}
