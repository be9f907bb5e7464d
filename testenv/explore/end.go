package explore

import (
	"fmt"
	"slices"
	"strings"

	"homeward/agent/ledger"
)

// maxAlone bounds a run that has the server for itself, in requests.
const maxAlone = 1000

// end checks a world in which nothing moves any more: what was killed or does not
// know is run again, one after the other, and then nothing is left over, and one
// of the reservers has its plan.
func (s *search) end(w world) string {
	s.found.Outcomes[s.outcomes(w)]++
	order := make([]int, len(s.scenario.Processes))
	for i := range order {
		order[i] = i
	}
	for range 2 {
		mended, fault := s.mend(w, order)
		if fault == "" {
			fault = s.checkMended(mended)
		}
		if fault != "" {
			return fmt.Sprintf("after every killed process ran again (%v): %s", order, fault)
		}
		slices.Reverse(order)
	}
	return ""
}

// mend runs every process again that had a fault, or has to after leftovers out of
// order, alone, in the given order.
func (s *search) mend(w world, order []int) (world, string) {
	for _, i := range order {
		result := s.n.result(w.procs[i].actor)
		if !w.procs[i].faulty && !(s.scenario.Disordered && result.Outcome == ledger.Lost) {
			continue
		}
		w = s.restarted(w, i)
		ends := false
		if w.server, w.procs[i].actor, ends = s.alone(w.server, w.procs[i].actor); !ends {
			return w, s.scenario.Processes[i].Name + " does not end"
		}
	}
	return w, ""
}

// alone runs a machine to its end while nobody else does anything.
func (s *search) alone(server, machine int32) (int32, int32, bool) {
	for range maxAlone {
		if s.n.ended(machine) {
			return server, machine, true
		}
		came := s.n.serve(server, s.n.requestOf[machine])
		server, machine = came.after, s.n.take(machine, came.reply)
	}
	return server, machine, false
}

// checkMended says what is wrong at the very end, or "".
func (s *search) checkMended(w world) string {
	page := s.n.server.Page(w.server)
	for i, p := range s.scenario.Processes {
		result := s.n.result(w.procs[i].actor)
		for _, e := range page.Owned(p.Owner) {
			if e.Record.State != ledger.Held {
				return fmt.Sprintf("%s is left pending for %s", e.Prefix.Addr(), p.Name)
			}
		}
		if s.memo.alone[p.Name] {
			if result.Outcome != ledger.Done && result.Outcome != ledger.Lost {
				return fmt.Sprintf("%s ended %s: %v", p.Name, result.Outcome, result.Err)
			}
			if result.Outcome == ledger.Lost && w.procs[i].faulty {
				continue
			}
			if fault := s.exact(page, p, p.wants(int(w.procs[i].run)), result.Outcome); fault != "" {
				return fault
			}
		}
	}
	return s.allLost(w)
}

// allLost says that every reserver lost, and none of them by somebody from
// outside the race.
func (s *search) allLost(w world) string {
	racing := func(e ledger.Entry) bool {
		return slices.ContainsFunc(s.scenario.Processes, func(p Process) bool {
			return len(p.Runs[0]) > 0 && e.OwnedBy(p.Owner)
		})
	}
	reservers := 0
	for i, p := range s.scenario.Processes {
		if len(p.wants(int(w.procs[i].run))) == 0 {
			continue
		}
		reservers++
		result := s.n.result(w.procs[i].actor)
		outside := slices.ContainsFunc(result.Conflicts, func(c ledger.Conflict) bool { return !racing(c.Entry) })
		if result.Outcome == ledger.Done || outside {
			return ""
		}
	}
	if reservers == 0 {
		return ""
	}
	return "all reservers lost"
}

// outcomes names how the processes ended.
func (s *search) outcomes(w world) string {
	var words []string
	for i, p := range s.scenario.Processes {
		words = append(words, fmt.Sprintf("%s %s", p.Name, s.n.result(w.procs[i].actor).Outcome))
	}
	return strings.Join(words, ", ")
}
