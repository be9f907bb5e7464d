package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// stand is a way to keep a segment's record, on one simulated cluster.
type stand struct {
	name  string
	state func(*pvesim.State) error
	open  func(t testing.TB, api API, o ledger.Owner) ledger.Book
}

// stands are the ways.
func stands() []stand {
	must := func(t testing.TB, b ledger.Book, err error) ledger.Book {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	set := func(t testing.TB, api API, _ ledger.Owner) ledger.Book {
		b, err := NewIPSetBook(api, ledgerName)
		return must(t, b, err)
	}
	withIPAM := func(t testing.TB, api API, o ledger.Owner) ledger.Book {
		i, err := NewIPAM(api, "lab", "web", o)
		return NewIPAMBook(must(t, set(t, api, o), err), i)
	}
	vnet := func(dhcp string) func(st *pvesim.State) error {
		return func(st *pvesim.State) error {
			st.AddZone("lab", map[string]string{"zone": "lab", "type": "simple", "ipam": "pve", "dhcp": dhcp})
			st.AddVNet("web", "lab", 0)
			return st.AddSubnet("web", "192.0.2.0/24", "")
		}
	}
	return []stand{
		{"firewall set", func(*pvesim.State) error { return nil }, set},
		{"pools", func(*pvesim.State) error { return nil }, func(t testing.TB, api API, o ledger.Owner) ledger.Book {
			b, err := NewPoolBook(api, ledgerName, o)
			return must(t, b, err)
		}},
		{"set and listed IPAM", vnet("dnsmasq"), withIPAM},
		{"set and IPAM", vnet(""), withIPAM},
	}
}

func wants(addresses ...string) []ledger.Want {
	var list []ledger.Want
	for _, a := range addresses {
		list = append(list, ledger.Want{Address: addr(a), Purpose: ledger.ForIngress})
	}
	return list
}

// quick are limits for waits that take no time.
func quick() ledger.Limits {
	l := ledger.DefaultLimits()
	l.Patience = 3 * time.Second
	return l
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// task makes a machine.
type task func(t testing.TB) ledger.Machine

func reserving(o ledger.Owner, addresses ...string) task {
	return func(t testing.TB) ledger.Machine {
		m, err := ledger.NewReserve(o, wants(addresses...), since, quick())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

func releasing(o ledger.Owner) task {
	return func(t testing.TB) ledger.Machine {
		m, err := ledger.NewRelease(o, quick())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// run makes a task with a driver, without a wait.
func (s stand) run(t testing.TB, api API, o ledger.Owner, what task) ledger.Result {
	t.Helper()
	d := ledger.Driver{Book: s.open(t, api, o), Sleep: noSleep, Grace: time.Second}
	return d.Run(context.Background(), what(t))
}

// mustRun is run for what must succeed.
func (s stand) mustRun(t testing.TB, api API, o ledger.Owner, what task) {
	t.Helper()
	if r := s.run(t, api, o, what); r.Outcome != ledger.Done {
		t.Errorf("%s: %s: %v %v, uncertain %v, left %v", s.name, r.Outcome, r.Err, r.Conflicts, r.Uncertain, r.Left)
	}
}

// claims is everything that a state has of anybody's claims, as text.
func claims(st *pvesim.State) []string {
	var list []string
	for _, name := range st.Sets("cluster") {
		members, _ := st.Set("cluster", name)
		for _, m := range members {
			list = append(list, "member "+m.CIDR+" "+m.Comment)
		}
		list = append(list, "set "+name)
	}
	for id, p := range st.Pools() {
		list = append(list, "pool "+id+" "+p.Comment)
	}
	list = append(list, ipamOf(st)...)
	slices.Sort(list)
	return list
}

// ipamOf gives the entries of the IPAM, by way of the state's file.
func ipamOf(st *pvesim.State) []string {
	var whole struct {
		IPAM map[string]map[string]struct{ MAC string }
	}
	if text, err := st.MarshalJSON(); err != nil || json.Unmarshal(text, &whole) != nil {
		return []string{"the state cannot be read"}
	}
	var list []string
	for subnet, entries := range whole.IPAM {
		for ip, e := range entries {
			list = append(list, "ipam "+subnet+" "+ip+" "+e.MAC)
		}
	}
	return list
}

// errKilled ends a client that a test kills.
var errKilled = errors.New("killed")

// killer is a client that dies at its request number at: before that is sent or
// after it was done.
type killer struct {
	API
	at, n int
	after bool
}

func (k *killer) dead() bool { return k.n >= k.at }

// request counts one. A client that is dead sends nothing.
func (k *killer) request(do func() error) error {
	if k.n >= k.at {
		return errKilled
	}
	k.n++
	if k.n < k.at {
		return do()
	}
	if k.after {
		do()
	}
	return errKilled
}

func (k *killer) Get(ctx context.Context, path string, params url.Values, out any) error {
	return k.request(func() error { return k.API.Get(ctx, path, params, out) })
}

func (k *killer) Post(ctx context.Context, path string, params url.Values, out any) error {
	return k.request(func() error { return k.API.Post(ctx, path, params, out) })
}

func (k *killer) Put(ctx context.Context, path string, params url.Values, out any) error {
	return k.request(func() error { return k.API.Put(ctx, path, params, out) })
}

func (k *killer) Delete(ctx context.Context, path string, params url.Values, out any) error {
	return k.request(func() error { return k.API.Delete(ctx, path, params, out) })
}

// untilKilled makes a task's requests until the client is dead: nothing is rolled
// back then.
func (s stand) untilKilled(t testing.TB, k *killer, o ledger.Owner, what task) {
	t.Helper()
	book, m := s.open(t, k, o), what(t)
	for req := m.Next(); req.Op != ledger.OpDone && !k.dead(); req = m.Next() {
		if reply := req.Do(context.Background(), book); !k.dead() {
			m.Take(reply)
		}
	}
}

// scenario is a task with what was there before.
type scenario struct {
	name   string
	before []task // of alice
	what   task
}

func scenarios() []scenario {
	return []scenario{
		{"a first reservation", nil, reserving(alice, "192.0.2.11", "192.0.2.12", "192.0.2.13")},
		{"another pool", []task{reserving(alice, "192.0.2.11", "192.0.2.12")}, reserving(alice, "192.0.2.12", "192.0.2.13")},
		{"a release", []task{reserving(alice, "192.0.2.11", "192.0.2.12")}, releasing(alice)},
	}
}

func TestKilledAfterEachRequest(t *testing.T) {
	for _, s := range stands() {
		for _, c := range scenarios() {
			t.Run(s.name+", "+c.name, func(t *testing.T) {
				sim := simulate(t, pvesim.Options{})
				if err := sim.Change(s.state); err != nil {
					t.Fatal(err)
				}
				api := sim.client("pve1")
				for _, b := range c.before {
					s.mustRun(t, api, alice, b)
				}
				begin := sim.State()
				s.mustRun(t, api, alice, c.what)
				want := claims(sim.State())
				for _, after := range []bool{false, true} {
					for at := 1; ; at++ {
						sim.SetState(begin)
						k := &killer{API: api, at: at, after: after}
						s.untilKilled(t, k, alice, c.what)
						s.mustRun(t, api, alice, c.what)
						if diff := cmp.Diff(want, claims(sim.State())); diff != "" {
							t.Errorf("killed at request %d (done: %v), then run again:\n%s", at, after, diff)
						}
						if !k.dead() {
							break
						}
					}
				}
			})
		}
	}
}
