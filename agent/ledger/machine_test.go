package ledger

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var byValue = cmp.Options{
	cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}),
	cmpopts.EquateEmpty(),
}

// run runs a machine against a page, and gives what the record is afterwards.
func run(t *testing.T, start Page, errs map[Op][]error, m Machine, err error) (Result, Page, *stubborn) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	start.Version = "0"
	book := &stubborn{Book: NewRehearsal(start), errs: errs}
	slept := time.Duration(0)
	d := Driver{Book: book, Grace: time.Minute, Sleep: func(_ context.Context, d time.Duration) error {
		slept += d
		return nil
	}}
	result := d.Run(context.Background(), m)
	if slept > 10*time.Minute {
		t.Errorf("slept %s", slept)
	}
	page, err := book.Book.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return result, page, book
}

func wants(p Purpose, last ...byte) []Want {
	var list []Want
	for _, n := range last {
		list = append(list, Want{Address: at(n), Purpose: p})
	}
	return list
}

func at(last byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, last}) }

var (
	ours   = Owner{ID: "0123456789abcdef", Cluster: "edge"}
	theirs = Owner{ID: "fedcba9876543210", Cluster: "edge"}
	now    = time.Date(2026, 11, 30, 17, 25, 0, 500, time.UTC)
	before = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// has gives a page with entries like "1 held ingress".
func has(p Page, o Owner, s State, last ...byte) Page {
	for _, n := range last {
		p = p.with(at(n), Record{Owner: o, Purpose: ForIngress, State: s, Since: before})
	}
	return p
}

// lines are the entries of a page in short.
func lines(p Page) []string {
	var list []string
	for _, e := range p.Entries {
		who := "theirs"
		if e.OwnedBy(ours) {
			who = "ours"
		}
		list = append(list, strings.Join([]string{e.Prefix.Addr().String()[8:], who, string(e.Record.State), string(e.Record.Purpose), e.Record.Since.Format("2006")}, " "))
	}
	return list
}

func reserve(w []Want) (Machine, error) { return NewReserve(ours, w, now, DefaultLimits()) }

func TestReserving(t *testing.T) {
	extra := has(Page{}, ours, Held, 1)
	extra.Entries[0] = NewEntry(extra.Entries[0].Prefix, extra.Entries[0].Comment+" rack=7 later")
	for name, c := range map[string]struct {
		start Page
		wants []Want
		want  []string
		// writes are the operations that changed or tried to change the record.
		writes string
	}{
		"from nothing":       {Page{}, wants(ForIngress, 2, 1), []string{"1 ours held ingress 2026", "2 ours held ingress 2026"}, "create add add change change"},
		"again":              {has(Page{}, ours, Held, 1, 2), wants(ForIngress, 1, 2), []string{"1 ours held ingress 2026", "2 ours held ingress 2026"}, ""},
		"after a crash":      {has(has(Page{}, ours, Held, 1), ours, Pending, 2), wants(ForIngress, 1, 2, 3), []string{"1 ours held ingress 2026", "2 ours held ingress 2026", "3 ours held ingress 2026"}, "add change change"},
		"another purpose":    {has(Page{}, ours, Held, 1), wants(ForKubeAPI, 1), []string{"1 ours held kubeapi 2026"}, "change"},
		"a smaller pool":     {has(Page{}, ours, Held, 1, 2, 3), wants(ForIngress, 2), []string{"2 ours held ingress 2026"}, "change remove change remove"},
		"a pool that moves":  {has(Page{}, ours, Held, 1), wants(ForIngress, 2), []string{"2 ours held ingress 2026"}, "add change change remove"},
		"beside others":      {has(Page{}, theirs, Held, 5), wants(ForIngress, 1), []string{"1 ours held ingress 2026", "5 theirs held ingress 2026"}, "add change"},
		"extra words stay":   {extra, wants(ForKubeAPI, 1), []string{"1 ours held kubeapi 2026"}, "change"},
		"leftovers not ours": {has(Page{}, theirs, Pending, 9), wants(ForIngress, 1), []string{"1 ours held ingress 2026", "9 theirs pending ingress 2026"}, "add change"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := reserve(c.wants)
			result, page, book := run(t, c.start, nil, m, err)
			if result.Outcome != Done || result.Err != nil {
				t.Errorf("%+v", result)
			}
			if d := cmp.Diff(c.want, lines(page)); d != "" {
				t.Error(d)
			}
			var writes []string
			for _, r := range book.made {
				if r.Writes() {
					writes = append(writes, string(r.Op))
				}
			}
			if got := strings.Join(writes, " "); got != c.writes {
				t.Errorf("writes %q, want %q", got, c.writes)
			}
			for _, e := range page.Owned(ours) {
				if _, old := c.start.Of(e.Prefix.Addr()); old && !e.Record.Since.Equal(before) {
					t.Errorf("%s: since became %s", e.Prefix, e.Record.Since)
				}
			}
			if name == "extra words stay" && !slices.Equal(page.Entries[0].Record.Extra, []string{"rack=7", "later"}) {
				t.Errorf("got %q", page.Entries[0].Comment)
			}
		})
	}
}

func TestLosing(t *testing.T) {
	byHand := Page{Exists: true, Entries: []Entry{NewEntry(netip.MustParsePrefix("192.0.2.2/31"), "homeward/1 printers")}}
	copied := Page{Exists: true, Entries: []Entry{NewEntry(netip.MustParsePrefix("192.0.2.0/30"), Record{Owner: ours, Purpose: ForIngress, State: Held, Since: before}.String())}}
	for name, c := range map[string]struct {
		start     Page
		want      []string
		conflicts []string
		silent    bool
	}{
		"held by another":          {has(Page{}, theirs, Held, 2, 3), []string{"2 theirs held ingress 2026", "3 theirs held ingress 2026"}, []string{"192.0.2.2/32", "192.0.2.3/32"}, true},
		"pending and never ending": {has(Page{}, theirs, Pending, 2), []string{"2 theirs pending ingress 2026"}, []string{"192.0.2.2/32"}, false},
		"a wider one by hand":      {byHand, []string{"2 theirs   0001"}, []string{"192.0.2.2/31"}, true},
		"our comment on a network": {copied, []string{"0 theirs held ingress 2026"}, []string{"192.0.2.0/30"}, true},
		"what was held stays":      {has(has(Page{}, ours, Held, 1), theirs, Held, 3), []string{"1 ours held ingress 2026", "3 theirs held ingress 2026"}, []string{"192.0.2.3/32"}, true},
		"leftovers go":             {has(has(Page{}, ours, Pending, 1, 7), theirs, Held, 3), []string{"3 theirs held ingress 2026"}, []string{"192.0.2.3/32"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := reserve(wants(ForIngress, 1, 2, 3))
			result, page, book := run(t, c.start, nil, m, err)
			if result.Outcome != Lost {
				t.Fatalf("%+v", result)
			}
			var conflicts []string
			for _, c := range result.Conflicts {
				conflicts = append(conflicts, c.Entry.Prefix.String())
			}
			if d := cmp.Diff(c.conflicts, conflicts); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.want, lines(page)); d != "" {
				t.Error(d)
			}
			if wrote := slices.ContainsFunc(book.made, Request.Writes); wrote == c.silent {
				t.Errorf("wrote: %v", wrote)
			}
		})
	}
}

func TestReleasing(t *testing.T) {
	for name, c := range map[string]struct {
		start  Page
		want   []string
		exists bool
	}{
		"only ours go":                {has(has(Page{}, ours, Held, 1, 3), theirs, Held, 2), []string{"2 theirs held ingress 2026"}, true},
		"the empty record goes":       {has(has(Page{}, ours, Held, 1), ours, Pending, 2), nil, false},
		"nothing to do":               {has(Page{}, theirs, Pending, 2), []string{"2 theirs pending ingress 2026"}, true},
		"no record":                   {Page{}, nil, false},
		"same id, other cluster name": {has(Page{}, Owner{ID: ours.ID, Cluster: "edge-2"}, Held, 2), []string{"2 theirs held ingress 2026"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewRelease(ours, DefaultLimits())
			result, page, _ := run(t, c.start, nil, m, err)
			if result.Outcome != Done || page.Exists != c.exists {
				t.Errorf("%+v, exists %v", result, page.Exists)
			}
			if d := cmp.Diff(c.want, lines(page)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatCannotStart(t *testing.T) {
	many := make([]Want, MaxWants+1)
	for i := range many {
		many[i] = Want{Address: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), Purpose: ForIngress}
	}
	for name, w := range map[string][]Want{
		"nothing":    nil,
		"twice":      wants(ForIngress, 1, 1),
		"IPv6":       {{Address: netip.MustParseAddr("2001:db8::1"), Purpose: ForIngress}},
		"no purpose": wants("", 1),
		"too many":   many,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := reserve(w); err == nil {
				t.Error("it starts")
			}
		})
	}
	if _, err := NewRelease(Owner{ID: "0123456789abcdef", Cluster: "a b"}, DefaultLimits()); err == nil {
		t.Error("a bad owner starts")
	}
	if _, err := NewReserve(Owner{}, wants(ForIngress, 1), now, DefaultLimits()); !strings.Contains(errText(err), "16 lower-case") {
		t.Errorf("got %v", err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
