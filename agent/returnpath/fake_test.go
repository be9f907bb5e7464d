package returnpath

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"homeward/netplan"
)

var errFake = errors.New("fake failure")

// fakeKernel holds a node's network as a kernel would.
type fakeKernel struct {
	mu        sync.Mutex
	links     []netplan.Link
	rules     []netplan.Rule
	routes    []netplan.Route
	table     netplan.TableListing
	rp        map[string]netplan.ReversePath
	addrs     []netip.Addr
	neighbour netplan.Neighbour
	legacy    bool
	events    chan string

	writes    []string // what changed, for tests that want none
	confirmed int
	broken    map[string]bool // listings and writes that fail
	lies      bool            // a replace is done, and yet reported as failed
}

func (f *fakeKernel) lock(op string) (func(), error) {
	f.mu.Lock()
	if f.broken[op] {
		return f.mu.Unlock, errFake
	}
	return f.mu.Unlock, nil
}

func (f *fakeKernel) Links(context.Context) ([]netplan.Link, error) {
	unlock, err := f.lock("links")
	defer unlock()
	return slices.Clone(f.links), err
}

func (f *fakeKernel) Rules(context.Context) ([]netplan.Rule, error) {
	unlock, err := f.lock("rules")
	defer unlock()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.rules), nil
}

func (f *fakeKernel) Routes(context.Context, netplan.TableID) ([]netplan.Route, error) {
	unlock, err := f.lock("routes")
	defer unlock()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.routes), nil
}

func (f *fakeKernel) MarkTable(context.Context) (netplan.TableListing, error) {
	unlock, err := f.lock("table")
	defer unlock()
	if err != nil {
		return netplan.TableListing{}, err
	}
	t := f.table
	t.Objects = slices.Clone(t.Objects)
	return t, nil
}

func (f *fakeKernel) SetLinkUp(_ context.Context, l netplan.Link) error {
	unlock, err := f.lock("link-up")
	defer unlock()
	if err != nil {
		return err
	}
	for i := range f.links {
		if f.links[i].Index == l.Index {
			f.links[i].Up = true
		}
	}
	f.writes = append(f.writes, "up "+l.Name)
	return nil
}

func (f *fakeKernel) AddRule(_ context.Context, r netplan.Rule) error {
	unlock, err := f.lock("rule-add")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "+rule "+r.String())
	if !slices.ContainsFunc(f.rules, r.SameEffect) {
		f.rules = append(f.rules, r)
		slices.SortStableFunc(f.rules, func(a, b netplan.Rule) int { return int(a.Priority) - int(b.Priority) })
	}
	return nil
}

func (f *fakeKernel) DeleteRule(_ context.Context, r netplan.Rule) error {
	unlock, err := f.lock("rule-delete")
	defer unlock()
	f.writes = append(f.writes, "-rule "+r.String())
	f.rules = slices.DeleteFunc(f.rules, func(o netplan.Rule) bool { return o == r })
	return err
}

func (f *fakeKernel) AddRoute(_ context.Context, r netplan.Route) error {
	unlock, err := f.lock("route-add")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "+route "+r.String())
	if !slices.Contains(f.routes, r) {
		f.routes = append(f.routes, r)
	}
	return nil
}

func (f *fakeKernel) DeleteRoute(_ context.Context, r netplan.Route) error {
	unlock, err := f.lock("route-delete")
	defer unlock()
	f.writes = append(f.writes, "-route "+r.String())
	f.routes = slices.DeleteFunc(f.routes, func(o netplan.Route) bool { return o == r })
	return err
}

func (f *fakeKernel) ReplaceMarkTable(_ context.Context, t netplan.MarkTable, s netplan.Stamp, c netplan.Counters) error {
	unlock, err := f.lock("table-replace")
	defer unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, "table")
	f.table = netplan.TableListing{Present: true, Objects: Objects(t), Interface: t.Interface, Stamp: &s, Counters: c}
	if f.lies {
		return errFake
	}
	return nil
}

func (f *fakeKernel) DeleteMarkTable(context.Context) error {
	unlock, err := f.lock("table-delete")
	defer unlock()
	f.table = netplan.TableListing{}
	return err
}

func (f *fakeKernel) ReversePath(_ context.Context, l netplan.Link) (netplan.ReversePath, error) {
	unlock, err := f.lock("rp")
	defer unlock()
	if err == nil && f.rp["gone:"+l.Name] != (netplan.ReversePath{}) {
		err = fs.ErrNotExist
	}
	return f.rp[l.Name], err
}

func (f *fakeKernel) Addresses(context.Context, netplan.Link) ([]netip.Addr, error) {
	unlock, err := f.lock("addresses")
	defer unlock()
	return f.addrs, err
}

func (f *fakeKernel) Neighbour(context.Context, netplan.Link, netip.Addr) (netplan.Neighbour, error) {
	unlock, err := f.lock("neighbour")
	defer unlock()
	return f.neighbour, err
}

func (f *fakeKernel) ConfirmNeighbour(_ context.Context, l netplan.Link, a netip.Addr, mac netplan.MAC) error {
	unlock, err := f.lock("confirm")
	defer unlock()
	f.confirmed++
	f.neighbour = netplan.Neighbour{Link: l.Index, Address: a, MAC: mac, Valid: true}
	return err
}

func (f *fakeKernel) HasLegacyTable(context.Context) (bool, error) {
	unlock, err := f.lock("legacy")
	defer unlock()
	return f.legacy, err
}

func (f *fakeKernel) DeleteLegacyTable(context.Context) error {
	unlock, err := f.lock("legacy-delete")
	defer unlock()
	f.legacy = false
	return err
}

func (f *fakeKernel) Watch(context.Context) <-chan string { return f.events }

// fakeProber is a gateway that answers as told.
type fakeProber struct {
	mu           sync.Mutex
	plain, probe netplan.MAC
	err          error
	asked        []netip.Addr // the senders
}

func (p *fakeProber) Ask(_ context.Context, _ netplan.Link, sender, _ netip.Addr) (netplan.MAC, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, sender)
	if sender == netip.IPv4Unspecified() {
		return p.probe, p.err
	}
	return p.plain, p.err
}

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
