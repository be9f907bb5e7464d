package proxmox

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// TestPoolBookAgainstLateDeletes plays the deletes that a hung node makes after
// their sender gave up waiting.
func TestPoolBookAgainstLateDeletes(t *testing.T) {
	address := addr("192.0.2.11")
	id := ledger.AddressPool(ledgerName, address)
	begin := func(t *testing.T) (*lab, *Client, *PoolBook, *PoolBook) {
		sim := simulate(t, pvesim.Options{})
		c := sim.client("pve1")
		a, _ := NewPoolBook(c, ledgerName, alice)
		b, _ := NewPoolBook(c, ledgerName, bob)
		if err := errors.Join(a.Create(t.Context()), b.Add(t.Context(), address, record(bob, ledger.Pending))); err != nil {
			t.Fatal(err)
		}
		return sim, c, a, b
	}
	late := func(t *testing.T, c *Client) error {
		return c.Delete(t.Context(), Path("pools"), map[string][]string{"poolid": {id}}, nil)
	}
	t.Run("what is held stays", func(t *testing.T) {
		_, c, _, b := begin(t)
		if err := b.Change(t.Context(), address, record(bob, ledger.Held), ""); err != nil {
			t.Fatal(err)
		}
		if err := late(t, c); class(err) != "taken" {
			t.Errorf("the late delete: %v", err)
		}
		if diff := cmp.Diff([]string{"192.0.2.11/32 bob ingress held"}, page(t, b)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is pending is known to be lost", func(t *testing.T) {
		_, c, a, b := begin(t)
		if err := errors.Join(late(t, c), a.Add(t.Context(), address, record(alice, ledger.Pending))); err != nil {
			t.Fatal(err)
		}
		if err := b.Change(t.Context(), address, record(bob, ledger.Held), ""); class(err) != "gone" {
			t.Errorf("holding what went: %v", err)
		}
		if diff := cmp.Diff([]string{"192.0.2.11/32 alice ingress pending"}, page(t, b)); diff != "" {
			t.Error(diff)
		}
		if err := b.Remove(t.Context(), address, ""); class(err) != "stale" {
			t.Errorf("removing what is another's: %v", err)
		}
	})
	t.Run("the owner changes between look and write", func(t *testing.T) {
		sim, c, a, b := begin(t)
		between := &interloper{API: c, before: "POST", do: func() {
			if err := errors.Join(late(t, c), a.Add(t.Context(), address, record(alice, ledger.Pending))); err != nil {
				t.Error(err)
			}
		}}
		b.api = between
		if err := b.Change(t.Context(), address, record(bob, ledger.Held), ""); class(err) != "gone" {
			t.Errorf("holding what went: %v", err)
		}
		if _, stays := sim.State().Pools()[id+"/"+ownerPool(bob)]; stays {
			t.Error("the loser's pool stays in the winner's address")
		}
		if err := a.Change(t.Context(), address, record(alice, ledger.Held), ""); err != nil {
			t.Error(err)
		}
	})
	t.Run("a dead loser's pool is cleared away", func(t *testing.T) {
		sim, _, a, b := begin(t)
		if err := sim.Change(func(st *pvesim.State) error {
			st.AddPool(id+"/"+ownerPool(alice), record(alice, ledger.Held).String())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"192.0.2.11/32 bob ingress pending"}, page(t, a)); diff != "" {
			t.Error(diff)
		}
		// The stranger's pool goes first, and alone: meanwhile all may have changed.
		if err := b.Remove(t.Context(), address, ""); class(err) != "stale" {
			t.Errorf("removing what has a stranger's pool in it: %v", err)
		}
		if err := errors.Join(b.Remove(t.Context(), address, ""), b.Drop(t.Context())); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string(nil), page(t, a)); diff != "" {
			t.Error(diff)
		}
	})
}

// interloper does something just before the first request of a method.
type interloper struct {
	API
	before string
	do     func()
}

func (i *interloper) Post(ctx context.Context, path string, params url.Values, out any) error {
	if i.before == "POST" && i.do != nil {
		do := i.do
		i.do = nil
		do()
	}
	return i.API.Post(ctx, path, params, out)
}
