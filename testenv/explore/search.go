package explore

import (
	"fmt"

	"homeward/agent/ledger"
)

// world is one state of a search.
type world struct {
	server int32
	procs  [most]proc
	// late has, for each process, the number of a request that it no longer waits
	// for and that may yet be done, or none.
	late [most]int32
}

// proc is a process in a world.
type proc struct {
	machine int32
	run     int8
	// faulty says that it was killed or left without an answer before.
	faulty bool
}

// none is no request.
const none = -1

// step is a world that follows on another, and what happened.
type step struct {
	to  world
	who int
	// request is what reached the server, or none.
	request int32
	what    happening
}

// happening is what happens in a step.
type happening string

const (
	answered     happening = "is answered"
	unknownNever happening = "gets no answer, nothing is done"
	unknownDone  happening = "gets no answer, it is done"
	unknownLater happening = "gets no answer, it may be done later"
	killedNever  happening = "is killed before it is done"
	killedDone   happening = "is killed after it is done"
	killedLater  happening = "is killed, it may be done later"
	doneLate     happening = "is done late"
	again        happening = "starts again"
)

// Search visits every state that can be reached from the scenario's start, which
// has to be state 0 of the server.
func Search(server Server, sc Scenario) (Found, error) {
	s := &search{scenario: sc, n: newNumbering(server), seen: map[world]bool{}, found: Found{Outcomes: map[string]int{}}}
	w := world{}
	for i := range most {
		w.late[i] = none
	}
	for i, p := range sc.Processes {
		m, err := p.start(0)
		if err != nil {
			return Found{}, fmt.Errorf("starting %s: %w", p.Name, err)
		}
		w.procs[i].machine = s.n.machine(m)
	}
	s.run(w)
	return s.found, nil
}

type search struct {
	scenario Scenario
	n        *numbering
	seen     map[world]bool
	found    Found
	// path are the steps that led to the world that is looked at.
	path []step
}

// frame is a world on the way and its steps that are not gone yet.
type frame struct {
	steps []step
}

// run goes through all worlds, depth first, without recursion because ways are
// long.
func (s *search) run(start world) {
	stack := []frame{{s.visit(start)}}
	for len(stack) > 0 && s.found.Violation == "" {
		top := &stack[len(stack)-1]
		if len(top.steps) == 0 {
			stack = stack[:len(stack)-1]
			s.path = s.path[:max(0, len(stack)-1)]
			continue
		}
		next := top.steps[0]
		top.steps = top.steps[1:]
		if s.seen[next.to] {
			continue
		}
		if len(s.seen) >= s.scenario.Most {
			return
		}
		s.path = append(s.path, next)
		stack = append(stack, frame{s.visit(next.to)})
	}
	s.found.Complete = s.found.Violation == ""
}

// visit checks a world and gives what can follow.
func (s *search) visit(w world) []step {
	s.seen[w] = true
	s.found.States++
	if fault := s.check(w); fault != "" {
		s.violated(fault)
		return nil
	}
	steps := s.steps(w)
	moving := false
	for _, st := range steps {
		moving = moving || st.what != doneLate
		if fault := s.trespass(w, st); fault != "" {
			s.path = append(s.path, st)
			s.violated(fault)
			return nil
		}
	}
	if !moving {
		s.found.Ends++
		if fault := s.end(w); fault != "" {
			s.violated(fault)
		}
	}
	return steps
}

// steps gives what can happen in a world.
func (s *search) steps(w world) []step {
	var steps []step
	for i := range s.scenario.Processes {
		steps = s.stepsOf(steps, w, i)
		if w.late[i] != none {
			to := w
			to.server = s.n.serve(w.server, w.late[i]).after
			to.late[i] = none
			steps = append(steps, step{to, i, w.late[i], doneLate})
		}
	}
	return steps
}

// stepsOf appends the steps of one process.
func (s *search) stepsOf(steps []step, w world, i int) []step {
	p := w.procs[i]
	req := s.n.requestOf[p.machine]
	if s.n.next(p.machine).Op == ledger.OpDone {
		if s.n.machines[p.machine].Result().Outcome == ledger.Unknown {
			steps = append(steps, step{s.restarted(w, i), i, none, again})
		}
		return steps
	}
	came := s.n.serve(w.server, req)
	to := w
	to.server = came.after
	to.procs[i].machine = s.n.take(p.machine, came.reply)
	if s.fused(p.machine, to.procs[i].machine) {
		steps = s.stepsOf(steps, to, i)
	} else {
		steps = append(steps, step{to, i, req, answered})
	}
	if p.faulty || s.scenario.Processes[i].Faults == 0 {
		return steps
	}
	return s.faults(steps, w, i, req, came.after)
}

// fused says that a read and the write which it led to count as one step: the
// write is guarded by the version that was read, and had anything come in between,
// it would be refused and leave the machine exactly where it was before the read.
func (s *search) fused(before, after int32) bool {
	return s.n.next(before).Op == ledger.OpRead && s.n.next(after).Version != "" &&
		s.n.take(after, s.n.stale) == before
}

// faults appends the ways in which a request can go wrong.
func (s *search) faults(steps []step, w world, i int, req, after int32) []step {
	w.procs[i].faulty = true
	open, killed := w, s.restarted(w, i)
	open.procs[i].machine = s.n.take(w.procs[i].machine, s.n.unanswered)
	steps = append(steps, step{open, i, none, unknownNever}, step{killed, i, none, killedNever})
	if !s.n.requests[req].Writes() {
		return steps
	}
	if after != w.server {
		now := open
		now.server = after
		steps = append(steps, step{now, i, req, unknownDone})
		now = killed
		now.server = after
		steps = append(steps, step{now, i, req, killedDone})
	}
	if !s.scenario.Prompt {
		open.late[i], killed.late[i] = req, req
		steps = append(steps, step{open, i, none, unknownLater}, step{killed, i, none, killedLater})
	}
	return steps
}

// restarted gives the world in which a process begins its next run.
func (s *search) restarted(w world, i int) world {
	p := &w.procs[i]
	p.run++
	p.machine = s.begin(i, int(p.run))
	return w
}

// begin gives the machine with which a run of a process begins.
func (s *search) begin(i, run int) int32 {
	// Owner and wants were found good when the search began, or the next run fails
	// where it reads: an empty machine makes no request that a server knows.
	m, err := s.scenario.Processes[i].start(run)
	if err != nil {
		s.violated(err.Error())
	}
	return s.n.machine(m)
}
