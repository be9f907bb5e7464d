package ledger

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

func counting(n *int) func(context.Context, time.Duration) error {
	return func(ctx context.Context, _ time.Duration) error {
		*n++
		return ctx.Err()
	}
}

func TestDrift(t *testing.T) {
	page := has(has(has(Page{}, ours, Held, 1, 5), ours, Pending, 2, 6), theirs, Held, 3)
	d, err := DriftOf(page, append(wants(ForKubeAPI, 1), wants(ForIngress, 4, 3, 2)...), ours)
	if err != nil || !d.Any() {
		t.Fatal(d, err)
	}
	got := map[string][]string{"unclaimed": nil}
	for _, w := range d.Unclaimed {
		got["unclaimed"] = append(got["unclaimed"], w.Address.String()[8:])
	}
	for kind, entries := range map[string][]Entry{"unwanted": d.Unwanted, "unfinished": d.Unfinished, "misused": d.Misused} {
		for _, e := range entries {
			got[kind] = append(got[kind], e.Prefix.Addr().String()[8:])
		}
	}
	want := map[string][]string{"unclaimed": {"3", "4"}, "unwanted": {"5", "6"}, "unfinished": {"2"}, "misused": {"1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d, err := DriftOf(has(Page{}, ours, Held, 1), wants(ForIngress, 1), ours); err != nil || d.Any() {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := DriftOf(has(Page{}, ours, Held, 1), nil, ours); err != nil || len(d.Unwanted) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestOwnersOfAPage(t *testing.T) {
	other := Owner{ID: "00000000000000aa", Cluster: "alpha"}
	page := has(has(has(has(Page{}, ours, Held, 1), theirs, Held, 2), ours, Pending, 3), other, Held, 4)
	page.Entries = append(page.Entries, NewEntry(widePrefix, goodComment), NewEntry(single(at(9)).Prefix, "printer"))
	if d := cmp.Diff([]Owner{other, ours, theirs}, page.Owners()); d != "" {
		t.Error(d)
	}
}

func TestWantsOfAPlan(t *testing.T) {
	pool := netplan.AddressSet{{First: at(1), Last: at(2)}}
	vip := netplan.KubeAPI{VIP: at(0), Link: netplan.LinkExternal}
	big := netplan.AddressSet{{First: netip.MustParseAddr("10.0.0.0"), Last: netip.MustParseAddr("10.0.4.0")}}
	for name, c := range map[string]struct {
		plan netplan.Plan
		want []Want
		bad  bool
	}{
		"pool and VIP":      {netplan.Plan{External: &netplan.External{IngressPool: pool, IngressAddresses: []netip.Addr{at(1), at(2)}}, KubeAPI: vip}, append(wants(ForKubeAPI, 0), wants(ForIngress, 1, 2)...), false},
		"a private VIP":     {netplan.Plan{External: &netplan.External{IngressPool: pool, IngressAddresses: []netip.Addr{at(1), at(2)}}, KubeAPI: netplan.KubeAPI{VIP: at(0), Link: netplan.LinkCluster}}, wants(ForIngress, 1, 2), false},
		"no VIP":            {netplan.Plan{External: &netplan.External{IngressPool: pool, IngressAddresses: []netip.Addr{at(1), at(2)}}}, wants(ForIngress, 1, 2), false},
		"only a VIP":        {netplan.Plan{External: &netplan.External{}, KubeAPI: vip}, wants(ForKubeAPI, 0), false},
		"no external link":  {netplan.Plan{}, nil, false},
		"over 1024 of them": {netplan.Plan{External: &netplan.External{IngressPool: big}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WantsOf(&c.plan)
			if (err != nil) != c.bad {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, byValue); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestARehearsalDoesWhatABookDoes(t *testing.T) {
	ctx := context.Background()
	start := has(Page{}, theirs, Held, 1)
	start.Version = "abc"
	r := NewRehearsal(start)
	record := Record{Owner: ours, Purpose: ForIngress, State: Pending, Since: before}
	page, _ := r.Read(ctx)
	for name, c := range map[string]struct{ got, want error }{
		"create":         {r.Create(ctx), ErrTaken},
		"drop":           {r.Drop(ctx), ErrTaken},
		"add":            {r.Add(ctx, at(2), record), nil},
		"add again":      {r.Add(ctx, at(2), record), ErrTaken},
		"change, stale":  {r.Change(ctx, at(2), record, page.Version), ErrStale},
		"remove, stale":  {r.Remove(ctx, at(2), page.Version), ErrStale},
		"change nothing": {r.Change(ctx, at(9), record, r.version()), ErrGone},
		"remove nothing": {r.Remove(ctx, at(9), r.version()), nil},
		"remove":         {r.Remove(ctx, at(2), r.version()), nil},
		"no record":      {NewRehearsal(Page{}).Add(ctx, at(1), record), ErrGone},
	} {
		if !errors.Is(c.got, c.want) || (c.want == nil) != (c.got == nil) {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	if len(start.Entries) != 1 || len(r.Requests) != 9 {
		t.Errorf("%d entries in the page it began with, %d requests", len(start.Entries), len(r.Requests))
	}
}
