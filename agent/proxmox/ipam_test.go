package proxmox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

func TestIPAM(t *testing.T) {
	for name, dhcp := range map[string]bool{"a listed zone": true, "a zone that is not listed": false} {
		t.Run(name, func(t *testing.T) {
			sim := simulate(t, pvesim.Options{})
			if err := sim.Change(func(st *pvesim.State) error {
				zone := map[string]string{"zone": "lab", "type": "simple", "ipam": "pve"}
				if dhcp {
					zone["dhcp"] = "dnsmasq"
				}
				st.AddZone("lab", zone)
				st.AddVNet("web", "lab", 0)
				return errors.Join(
					st.AddSubnet("web", "192.0.2.0/24", "192.0.2.1"),
					st.AddIP("lab", "192.0.2.0/24", "192.0.2.9", "BC:24:11:00:00:09", "db1", 113))
			}); err != nil {
				t.Fatal(err)
			}
			client := sim.client("pve1")
			a, err1 := NewIPAM(client, "lab", "web", alice)
			b, err2 := NewIPAM(client, "lab", "web", bob)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			ctx, at := t.Context(), addr("192.0.2.11")
			expect := func(what, want string, err error) {
				t.Helper()
				if class(err) != want {
					t.Errorf("%s: %s (%v), want %s", what, class(err), err, want)
				}
			}
			expect("claiming", "done", a.Claim(ctx, at, false))
			expect("claiming again after a crash", "done", a.Claim(ctx, at, true))
			expect("another's", "taken", b.Claim(ctx, at, false))
			expect("giving up another's pending", "done", b.Release(ctx, at, false))
			expect("still there", "taken", b.Claim(ctx, at, false))
			expect("a guest's", "taken", a.Claim(ctx, addr("192.0.2.9"), false))
			expect("outside", "refused", a.Claim(ctx, addr("198.51.100.1"), false))
			expect("giving up", "done", a.Release(ctx, at, true))
			expect("giving up again", "done", a.Release(ctx, at, true))
			expect("now free", "done", b.Claim(ctx, at, false))
			if dhcp {
				expect("mine by its MAC", "done", b.Claim(ctx, at, false))
				expect("not mine by its MAC", "taken", a.Claim(ctx, at, true))
				expect("so left alone", "done", a.Release(ctx, at, true))
				if err := a.Claim(ctx, addr("192.0.2.9"), false); !strings.Contains(err.Error(), `guest 113, "db1", MAC bc:24:11:00:00:09`) {
					t.Errorf("the holder is not named: %v", err)
				}
			}
		})
	}
	t.Run("MACs", func(t *testing.T) {
		var seen []string
		for _, o := range []ledger.Owner{alice, bob, {ID: alice.ID, Cluster: "bob"}} {
			for _, a := range []string{"192.0.2.1", "192.0.2.2"} {
				m := IPAMAddress(o, addr(a))
				if m[0]&3 != 2 || m != IPAMAddress(o, addr(a)) || slices.Contains(seen, m.String()) {
					t.Errorf("%s for %v and %s", m, o, a)
				}
				seen = append(seen, m.String())
			}
		}
	})
}
