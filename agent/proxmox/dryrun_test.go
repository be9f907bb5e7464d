package proxmox

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// TestDryRun rehearses a reservation and shows the requests that it would make: the
// same that it then makes.
func TestDryRun(t *testing.T) {
	sim := simulate(t, pvesim.Options{})
	s := stands()[0]
	client := sim.client("pve1")
	page, err := s.open(t, client, alice).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rehearsal := ledger.NewRehearsal(page)
	d := ledger.Driver{Book: rehearsal, Sleep: noSleep}
	if r := d.Run(t.Context(), reserving(alice, "192.0.2.11", "192.0.2.12")(t)); r.Outcome != ledger.Done {
		t.Fatal(r.Outcome, r.Err)
	}
	begin := sim.State()
	sim.ClearLog()
	var shown []string
	dry := s.open(t, DryRun{API: client, Show: func(r Request) {
		r.Params = maps.Clone(r.Params)
		r.Params.Del("digest") // a rehearsal has versions of its own
		shown = append(shown, r.String())
	}}, alice)
	for _, r := range rehearsal.Requests {
		if reply := r.Do(t.Context(), dry); reply.Err != nil {
			t.Error(reply.Err)
		}
	}
	if len(sim.Log()) > 0 || !sim.State().Equal(begin) {
		t.Errorf("a dry run made requests: %v", sim.Log())
	}
	var made []string
	id, secret := sim.State().FirstToken()
	observed := sim.as("pve1", id, secret, func(o *Options) {
		o.Observe = func(r Request) {
			if r.Writes() {
				r.Params = maps.Clone(r.Params)
				r.Params.Del("digest")
				made = append(made, r.String())
			}
		}
	})
	s.mustRun(t, observed, alice, reserving(alice, "192.0.2.11", "192.0.2.12"))
	if diff := cmp.Diff(shown, made); diff != "" || len(made) != 5 {
		t.Errorf("shown, and then made: %s", diff)
	}
	if err := dry.Add(t.Context(), addr("2001:db8::1"), record(alice, ledger.Pending)); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("what a client refuses is shown: %v", err)
	}
}
