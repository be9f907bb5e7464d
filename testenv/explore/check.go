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
	at := [3]int32{w.server, st.to.server, int32(st.who)}
	fault, ok := s.memo.trespass[at]
	if !ok {
		fault = s.compare(s.n.server.Page(w.server), s.n.server.Page(st.to.server), s.scenario.Processes[st.who])
		s.memo.trespass[at] = fault
	}
	return fault
}

// compare says which entry that is not p's differs between two pages, or "".
func (s *search) compare(before, after ledger.Page, p Process) string {
	for _, pages := range [][2]ledger.Page{{before, after}, {after, before}} {
		for _, e := range pages[0].Entries {
			if e.OwnedBy(p.Owner) || s.scenario.Loose && e.Readable && e.Record.State == ledger.Pending {
				continue
			}
			if !slices.ContainsFunc(pages[1].Entries, func(o ledger.Entry) bool { return s.untouched(e, o) }) {
				return fmt.Sprintf("%s touched the entry %s %q of somebody else", p.Name, e.Prefix, e.Comment)
			}
		}
	}
	return ""
}

// untouched says that an entry of somebody else is as it was.
func (s *search) untouched(was, is ledger.Entry) bool {
	if was.Prefix != is.Prefix {
		return false
	}
	return was.Comment == is.Comment || s.scenario.Loose && was.Readable && is.OwnedBy(was.Record.Owner)
}

// check says what is wrong in a world, or "".
func (s *search) check(w world) string {
	for i := range s.scenario.Processes {
		p := w.procs[i]
		row := w.server<<4 | int32(p.run)<<1
		if p.faulty {
			row |= 1
		}
		c := s.memo.views[i].at(row, p.actor)
		if !c.known {
			*c = cell[string]{true, s.look(view{w.server, p, i})}
		}
		if c.value != "" {
			return c.value
		}
	}
	return ""
}

// view is a process as it stands before a state of the server.
type view struct {
	server int32
	state  proc
	who    int
}

// look says what is wrong with a process, or "".
func (s *search) look(v view) string {
	p := s.scenario.Processes[v.who]
	if s.n.ended(v.state.actor) {
		return s.checkEnded(s.n.server.Page(v.server), p, v.state)
	}
	if _, _, ends := s.alone(v.server, v.state.actor); !ends {
		return p.Name + " does not end although nobody disturbs it"
	}
	return ""
}

// memo remembers what was checked before.
type memo struct {
	trespass map[[3]int32]string
	// views are, by process, what is wrong with it.
	views [most]table[string]
	// alone and constant are those of sole, by process.
	alone, constant map[string]bool
}

func newMemo(sc Scenario) *memo {
	m := &memo{trespass: map[[3]int32]string{}, alone: map[string]bool{}, constant: map[string]bool{}}
	for _, p := range sc.Processes {
		m.alone[p.Name], m.constant[p.Name] = sc.sole(p)
	}
	return m
}

// checkEnded checks a process whose run has ended, for as long as the search goes
// on from there: what it believes has to stay true.
func (s *search) checkEnded(page ledger.Page, p Process, state proc) string {
	result := s.n.result(state.actor)
	wants := p.wants(int(state.run))
	alone, constant := s.memo.alone[p.Name], s.memo.constant[p.Name]
	switch {
	case result.Outcome == ledger.Failed:
		return fmt.Sprintf("%s failed: %v", p.Name, result.Err)
	case result.Outcome == ledger.Unknown && !state.faulty:
		return p.Name + " does not know how it ended, and every request was answered"
	case result.Outcome == ledger.Done && (constant || alone):
		if fault := believes(page, p, wants, constant && !s.scenario.Loose); fault != "" {
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
		return a.Prefix == b.Prefix && (s.scenario.Loose || a.Record.State == ledger.Held)
	})
	if same {
		return ""
	}
	return fmt.Sprintf("%s ended %s with %s", p.Name, o, describe(got))
}

// sole says whether only this process acts for its owner, and whether everything
// that acts for the owner wants the same.
func (sc Scenario) sole(p Process) (alone, constant bool) {
	alone, constant = true, true
	for _, other := range sc.Processes {
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
