package explore

import (
	"fmt"
	"slices"
	"strings"

	"homeward/agent/ledger"
)

// trespass says what a step does to an entry that is not its process's, or "".
func (s *search) trespass(w world, st step) string {
	if st.to.server == w.server {
		return ""
	}
	owner := s.scenario.Processes[st.who].Owner
	before, after := s.n.server.Page(w.server), s.n.server.Page(st.to.server)
	for _, pages := range [][2]ledger.Page{{before, after}, {after, before}} {
		for _, e := range pages[0].Entries {
			if e.OwnedBy(owner) {
				continue
			}
			if !slices.ContainsFunc(pages[1].Entries, func(o ledger.Entry) bool { return o.Prefix == e.Prefix && o.Comment == e.Comment }) {
				return fmt.Sprintf("%s touched the entry %s %q of somebody else", s.scenario.Processes[st.who].Name, e.Prefix, e.Comment)
			}
		}
	}
	return ""
}

// check says what is wrong in a world, or "".
func (s *search) check(w world) string {
	page := s.n.server.Page(w.server)
	for i, p := range s.scenario.Processes {
		if s.n.next(w.procs[i].machine).Op != ledger.OpDone {
			continue
		}
		if fault := s.checkEnded(page, p, w.procs[i]); fault != "" {
			return fault
		}
	}
	return ""
}

// checkEnded checks a process whose run has ended, for as long as the search goes
// on from there: what it believes has to stay true.
func (s *search) checkEnded(page ledger.Page, p Process, state proc) string {
	result := s.n.machines[state.machine].Result()
	wants := p.wants(int(state.run))
	alone, constant := s.sole(p)
	switch {
	case result.Outcome == ledger.Failed:
		return fmt.Sprintf("%s failed: %v", p.Name, result.Err)
	case result.Outcome == ledger.Unknown && !state.faulty:
		return p.Name + " does not know how it ended, and every request was answered"
	case result.Outcome == ledger.Done && (constant || alone):
		if fault := believes(page, p, wants, constant); fault != "" {
			return fault
		}
	}
	if !alone || state.faulty || result.Outcome == ledger.Unknown {
		return ""
	}
	return s.exact(page, p, wants, result.Outcome)
}

// believes says which address a process wrongly believes to hold, or "". While
// the owner's own commands differ, a late one can make an entry pending again.
func believes(page ledger.Page, p Process, wants []ledger.Want, constant bool) string {
	for _, want := range wants {
		e, ok := page.Of(want.Address)
		if !ok || !e.OwnedBy(p.Owner) || constant && e.Record.State != ledger.Held {
			return fmt.Sprintf("%s believes to hold %s, and the record has %q", p.Name, want.Address, e.Comment)
		}
	}
	return ""
}

// exact says how the owner's entries differ from what the outcome promises, or "".
func (s *search) exact(page ledger.Page, p Process, wants []ledger.Want, o ledger.Outcome) string {
	got := page.Owned(p.Owner)
	var due []ledger.Entry
	switch {
	case o == ledger.Lost:
		due = slices.DeleteFunc(s.scenario.Start.Owned(p.Owner), func(e ledger.Entry) bool { return e.Record.State != ledger.Held })
	case len(wants) > 0:
		for _, want := range wants {
			e, _ := page.Of(want.Address)
			due = append(due, e)
		}
	}
	same := slices.EqualFunc(got, due, func(a, b ledger.Entry) bool {
		return a.Prefix == b.Prefix && a.Record.State == ledger.Held
	})
	if same {
		return ""
	}
	return fmt.Sprintf("%s ended %s with %s", p.Name, o, describe(got))
}

// sole says whether only this process acts for its owner, and whether everything
// that acts for the owner wants the same.
func (s *search) sole(p Process) (alone, constant bool) {
	alone, constant = true, true
	for _, other := range s.scenario.Processes {
		if other.Owner != p.Owner {
			continue
		}
		alone = alone && other.Name == p.Name
		for _, wants := range other.Runs {
			constant = constant && slices.Equal(wants, p.Runs[0])
		}
	}
	return alone, constant
}

func describe(entries []ledger.Entry) string {
	if len(entries) == 0 {
		return "no entries"
	}
	var words []string
	for _, e := range entries {
		words = append(words, fmt.Sprintf("%s %s", e.Prefix.Addr(), e.Record.State))
	}
	return strings.Join(words, ", ")
}

// violated keeps the first fault and how it came about.
func (s *search) violated(fault string) {
	if s.found.Violation != "" {
		return
	}
	var b strings.Builder
	b.WriteString(fault)
	for _, st := range s.path {
		fmt.Fprintf(&b, "\n  %s", s.describeStep(st))
	}
	s.found.Violation = b.String()
}

func (s *search) describeStep(st step) string {
	name := s.scenario.Processes[st.who].Name
	what := string(st.what)
	if st.request != none {
		what = s.n.requests[st.request].String() + ": " + what
	}
	return fmt.Sprintf("%s: %s -> %s", name, what, describe(s.n.server.Page(st.to.server).Entries))
}
