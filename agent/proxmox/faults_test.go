package proxmox

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/testenv/pvesim"
)

// faults are what goes wrong with one request.
func faults() map[string]pvesim.Fault {
	return map[string]pvesim.Fault{
		"596, not done":          {Answer: pvesim.AnswerTimedOut, Apply: pvesim.ApplyNever},
		"596, done":              {Answer: pvesim.AnswerTimedOut},
		"596, done later":        {Answer: pvesim.AnswerTimedOut, Apply: pvesim.ApplyLater},
		"595":                    {Answer: pvesim.AnswerNoRoute, Apply: pvesim.ApplyNever},
		"reset, not done":        {Answer: pvesim.AnswerDrop, Apply: pvesim.ApplyNever},
		"reset, done":            {Answer: pvesim.AnswerDrop},
		"half an answer":         {Answer: pvesim.AnswerTruncated},
		"a web page, not done":   {Answer: pvesim.AnswerHTML, Apply: pvesim.ApplyNever},
		"a web page, done":       {Answer: pvesim.AnswerHTML},
		"other data, not done":   {Answer: pvesim.AnswerWrongTypes, Apply: pvesim.ApplyNever},
		"other data, done":       {Answer: pvesim.AnswerWrongTypes},
		"a lock that others had": {Refuse: pvesim.RefuseLock},
		"no quorum":              {Refuse: pvesim.RefuseNoQuorum},
		"a redirect":             {Answer: pvesim.AnswerRedirect, Location: "https://127.0.0.1:1/", Apply: pvesim.ApplyNever},
	}
}

// TestFaultAtEachRequest lets each request of a run go wrong in every way. The run
// may then fail, but not claim too much; and a second run has the same end as one
// without a fault.
func TestFaultAtEachRequest(t *testing.T) {
	for _, s := range stands() {
		for _, c := range scenarios() {
			t.Run(s.name+", "+c.name, func(t *testing.T) {
				h := &hook{}
				sim := simulate(t, pvesim.Options{Hook: h.call})
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
				for name, fault := range faults() {
					for at := int64(1); ; at++ {
						sim.SetState(begin)
						var n atomic.Int64
						h.set(func(pvesim.Request) pvesim.Fault {
							switch n.Add(1) {
							case at:
								return fault
							case at + 3:
								sim.Settle()
							}
							return pvesim.Fault{}
						})
						r := s.run(t, api, alice, c.what)
						if diff := cmp.Diff(entries(want), entries(claims(sim.State()))); r.Outcome == ledger.Done && diff != "" {
							t.Errorf("%s at request %d: says done, and has\n%s", name, at, diff)
						}
						sim.Settle()
						h.set(nil)
						s.mustRun(t, api, alice, c.what)
						if diff := cmp.Diff(want, claims(sim.State())); diff != "" {
							t.Errorf("%s at request %d (%s), then run again:\n%s", name, at, r.Outcome, diff)
						}
						if n.Load() < at {
							break
						}
					}
				}
			})
		}
	}
}

// TestFaultsAgainstAnother lets each request of a reserver who must lose go wrong:
// the other's claims are untouched, whatever happens.
func TestFaultsAgainstAnother(t *testing.T) {
	for _, s := range stands() {
		t.Run(s.name, func(t *testing.T) {
			h := &hook{}
			sim := simulate(t, pvesim.Options{Hook: h.call})
			if err := sim.Change(s.state); err != nil {
				t.Fatal(err)
			}
			api := sim.client("pve1")
			s.mustRun(t, api, bob, reserving(bob, "192.0.2.12", "192.0.2.13"))
			begin := sim.State()
			want := claims(begin)
			for name, fault := range faults() {
				for at := int64(1); ; at++ {
					sim.SetState(begin)
					var n atomic.Int64
					h.set(func(pvesim.Request) pvesim.Fault {
						if n.Add(1) == at {
							return fault
						}
						return pvesim.Fault{}
					})
					r := s.run(t, api, alice, reserving(alice, "192.0.2.11", "192.0.2.12"))
					sim.Settle()
					h.set(nil)
					if r.Outcome == ledger.Done {
						t.Errorf("%s at request %d: done", name, at)
					}
					if r = s.run(t, api, alice, reserving(alice, "192.0.2.11", "192.0.2.12")); r.Outcome != ledger.Lost || len(r.Conflicts) != 1 || r.Conflicts[0].Entry.Record.Owner != bob {
						t.Errorf("%s at request %d, then run again: %s %v %v", name, at, r.Outcome, r.Conflicts, r.Err)
					}
					if diff := cmp.Diff(want, claims(sim.State())); diff != "" {
						t.Errorf("%s at request %d, then run again:\n%s", name, at, diff)
					}
					if n.Load() < at {
						break
					}
				}
			}
		})
	}
}

// TestTheRecordIsEditedUnderIt is another operator who deletes the record, or edits
// it by hand, at each request.
func TestTheRecordIsEditedUnderIt(t *testing.T) {
	s := stands()[0]
	comment := record(alice, ledger.Pending).String()
	for name, edit := range map[string]func(*pvesim.State) error{
		"the set is deleted": func(st *pvesim.State) error { st.DropSet("cluster", ledgerName); return nil },
		"a comment is lost": func(st *pvesim.State) error {
			members, ok := st.Set("cluster", ledgerName)
			if !ok {
				return nil
			}
			for i := range members {
				members[i].Comment = "mine now"
			}
			st.AddSet("cluster", ledgerName, "", members...)
			return nil
		},
		"a member is wider": func(st *pvesim.State) error {
			members, _ := st.Set("cluster", ledgerName)
			st.AddSet("cluster", ledgerName, "", append(members, pvesim.Member{CIDR: "192.0.2.0/28", Comment: comment})...)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hook{}
			sim := simulate(t, pvesim.Options{Hook: h.call})
			api := sim.client("pve1")
			begin := sim.State()
			for at := int64(1); ; at++ {
				sim.SetState(begin)
				var n atomic.Int64
				h.set(func(pvesim.Request) pvesim.Fault {
					if n.Add(1) == at {
						if err := sim.Change(edit); err != nil {
							t.Error(err)
						}
					}
					return pvesim.Fault{}
				})
				r := s.run(t, api, alice, reserving(alice, "192.0.2.11", "192.0.2.12"))
				h.set(nil)
				got := claims(sim.State())
				held := len(slices.DeleteFunc(slices.Clone(got), func(c string) bool { return !slices.Contains([]string{"192.0.2.11", "192.0.2.12"}, memberOf(c)) }))
				switch r.Outcome {
				case ledger.Done:
					if n.Load() >= at && name != "the set is deleted" && held != 2 {
						t.Errorf("request %d: done, and has %v", at, got)
					}
				case ledger.Lost, ledger.Failed:
				default:
					t.Errorf("request %d: %s %v", at, r.Outcome, r.Err)
				}
				if n.Load() < at {
					break
				}
			}
		})
	}
}

// entries leaves out the record itself: whether an empty one stays says nothing.
func entries(claims []string) []string {
	return slices.DeleteFunc(append([]string{}, claims...), func(c string) bool {
		return strings.HasPrefix(c, "set ") || strings.HasPrefix(c, "pool "+ledgerName+" ")
	})
}

// memberOf gives the address of a claim in a set, "" for other claims.
func memberOf(claim string) string {
	words := strings.Fields(claim)
	if words[0] != "member" {
		return ""
	}
	return words[1]
}
