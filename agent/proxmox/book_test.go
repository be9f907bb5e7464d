package proxmox

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// books are the kinds, each for one owner.
func books(t *testing.T, api API) map[string]func(ledger.Owner) ledger.Book {
	return map[string]func(ledger.Owner) ledger.Book{
		"firewall set": func(ledger.Owner) ledger.Book {
			b, err := NewIPSetBook(api, ledgerName)
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		"pools": func(o ledger.Owner) ledger.Book {
			b, err := NewPoolBook(api, ledgerName, o)
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
	}
}

// page reads a book and writes its entries as text.
func page(t *testing.T, b ledger.Book) []string {
	t.Helper()
	p, err := b.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !p.Exists {
		return []string{"none"}
	}
	var list []string
	for _, e := range p.Entries {
		who := "somebody"
		if e.Readable {
			who = fmt.Sprintf("%s %s %s", e.Record.Owner.Cluster, e.Record.Purpose, e.Record.State)
		}
		list = append(list, e.Prefix.String()+" "+who)
	}
	return list
}

func version(t *testing.T, b ledger.Book) string {
	t.Helper()
	p, err := b.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.Version
}

func TestBooks(t *testing.T) {
	for kind := range books(t, nil) {
		t.Run(kind, func(t *testing.T) {
			sim := simulate(t, pvesim.Options{})
			open := books(t, sim.client("pve1"))[kind]
			a, b := open(alice), open(bob)
			ctx := t.Context()
			expect := func(what, want string, err error) {
				t.Helper()
				if class(err) != want {
					t.Errorf("%s: %s (%v), want %s", what, class(err), err, want)
				}
			}
			shows := func(want ...string) {
				t.Helper()
				if diff := cmp.Diff(want, page(t, a)); diff != "" {
					t.Error(diff)
				}
			}
			eleven, twelve := addr("192.0.2.11"), addr("192.0.2.12")

			shows("none")
			expect("adding to no record", "gone", a.Add(ctx, eleven, record(alice, ledger.Pending)))
			expect("removing from no record", "done", a.Remove(ctx, eleven, ""))
			expect("dropping no record", "done", a.Drop(ctx))
			expect("creating", "done", a.Create(ctx))
			expect("creating twice", "taken", b.Create(ctx))
			if p, err := a.Read(ctx); err != nil || !p.Exists || len(p.Entries) > 0 {
				t.Errorf("an empty record reads as %+v, %v", p, err)
			}
			expect("adding", "done", a.Add(ctx, twelve, record(alice, ledger.Pending)))
			expect("adding what is there", "taken", b.Add(ctx, twelve, record(bob, ledger.Pending)))
			expect("adding what is mine", "taken", a.Add(ctx, twelve, record(alice, ledger.Pending)))
			expect("adding another", "done", b.Add(ctx, eleven, record(bob, ledger.Pending)))
			shows("192.0.2.11/32 bob ingress pending", "192.0.2.12/32 alice ingress pending")

			held := record(alice, ledger.Held)
			expect("holding", "done", a.Change(ctx, twelve, held, version(t, a)))
			held.Purpose = ledger.ForKubeAPI
			expect("another purpose", "done", a.Change(ctx, twelve, held, version(t, a)))
			shows("192.0.2.11/32 bob ingress pending", "192.0.2.12/32 alice kubeapi held")
			expect("pending again", "done", a.Change(ctx, twelve, record(alice, ledger.Pending), version(t, a)))
			shows("192.0.2.11/32 bob ingress pending", "192.0.2.12/32 alice ingress pending")
			expect("changing what is not there", "gone", a.Change(ctx, addr("192.0.2.13"), record(alice, ledger.Held), version(t, a)))

			expect("dropping a record in use", "taken", a.Drop(ctx))
			expect("removing", "done", a.Remove(ctx, twelve, version(t, a)))
			expect("removing again", "done", a.Remove(ctx, twelve, version(t, a)))
			expect("removing the other's own", "done", b.Remove(ctx, eleven, version(t, b)))
			shows()
			expect("dropping", "done", b.Drop(ctx))
			if kind == "pools" {
				shows() // with the outer pool the token's rights on it would go
			} else {
				shows("none")
			}
		})
	}
}

func TestBooksRefuseWhatTheServerWouldBend(t *testing.T) {
	sim := simulate(t, pvesim.Options{})
	for kind, open := range books(t, sim.client("pve1")) {
		t.Run(kind, func(t *testing.T) {
			a := open(alice)
			if err := a.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			newline, comment := record(alice, ledger.Held), record(alice, ledger.Held)
			newline.Extra, comment.Extra = []string{"x=1\n[RULES]"}, []string{"#x"}
			for name, err := range map[string]error{
				"IPv6":              a.Add(t.Context(), addr("2001:db8::1"), record(alice, ledger.Pending)),
				"a mapped address":  a.Add(t.Context(), addr("::ffff:192.0.2.1"), record(alice, ledger.Pending)),
				"no address":        a.Add(t.Context(), addr("0.0.0.0"), record(alice, ledger.Pending)),
				"a newline":         a.Add(t.Context(), addr("192.0.2.1"), newline),
				"a comment":         a.Change(t.Context(), addr("192.0.2.1"), comment, ""),
				"an owner too long": a.Add(t.Context(), addr("192.0.2.1"), record(ledger.Owner{ID: strings.Repeat("a", 4096), Cluster: "x"}, ledger.Pending)),
				"removing IPv6":     a.Remove(t.Context(), addr("2001:db8::1"), ""),
			} {
				if name == "removing IPv6" && kind == "pools" {
					continue // it is not there, so that it is gone already
				}
				if class(err) != "refused" {
					t.Errorf("%s: %v", name, err)
				}
			}
			if diff := cmp.Diff([]string(nil), page(t, a)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, name := range []string{"", "a", "Lab", "hw/a", "hw a", "../x", strings.Repeat("a", 65), "hw-a\n"} {
		if _, err := NewIPSetBook(nil, name); err == nil {
			t.Errorf("%q is taken for a set's name", name)
		}
		if _, err := NewPoolBook(nil, name, alice); err == nil {
			t.Errorf("%q is taken for a pool's name", name)
		}
	}
}

func TestIPSetBookIsGuarded(t *testing.T) {
	sim := simulate(t, pvesim.Options{})
	b, _ := NewIPSetBook(sim.client("pve1"), ledgerName)
	ctx := t.Context()
	if err := errors.Join(b.Create(ctx), b.Add(ctx, addr("192.0.2.1"), record(alice, ledger.Pending))); err != nil {
		t.Fatal(err)
	}
	before := version(t, b)
	if err := b.Add(ctx, addr("192.0.2.2"), record(bob, ledger.Pending)); err != nil {
		t.Fatal(err)
	}
	if err := b.Change(ctx, addr("192.0.2.1"), record(alice, ledger.Held), before); class(err) != "stale" {
		t.Errorf("changing: %v", err)
	}
	if err := b.Remove(ctx, addr("192.0.2.1"), before); class(err) != "stale" {
		t.Errorf("removing: %v", err)
	}
	if got := page(t, b); len(got) != 2 {
		t.Errorf("now %v", got)
	}
}

func TestIPSetBookReadsWhatOthersPutThere(t *testing.T) {
	sim := simulate(t, pvesim.Options{})
	if err := sim.Change(func(st *pvesim.State) error {
		st.AddAlias("cluster", "office", "198.51.100.0/24", "")
		st.AddSet("cluster", ledgerName, "",
			pvesim.Member{CIDR: "192.0.2.16/28", Comment: "hands off"},
			pvesim.Member{CIDR: "192.0.2.3", NoMatch: true},
			pvesim.Member{CIDR: "dc/office"},
			pvesim.Member{CIDR: "2001:db8::/64"},
			pvesim.Member{CIDR: "192.0.2.16", Comment: record(bob, ledger.Held).String()},
		)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b, _ := NewIPSetBook(sim.client("pve1"), ledgerName)
	want := []string{
		"192.0.2.3/32 somebody", "192.0.2.16/28 somebody", "192.0.2.16/32 bob ingress held",
		"198.51.100.0/24 somebody", "2001:db8::/64 somebody",
	}
	if diff := cmp.Diff(want, page(t, b)); diff != "" {
		t.Error(diff)
	}
}
