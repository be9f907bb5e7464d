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
	actor int32
	run   int8
	// faulty says that it was killed or left without an answer before.
	faulty bool
}

// key is a world in few bytes.
type key [2]uint64

// maxNumber is how many machines, requests and states of the server a key can tell
// apart.
const maxNumber = 1 << 16

func (w world) key() key {
	k := key{uint64(w.server)}
	for i, p := range w.procs {
		k[0] |= uint64(p.actor) << (16 * (i + 1))
		k[1] |= uint64(uint16(w.late[i])) << (16 * i)
		k[1] |= uint64(p.run) << (48 + 4*i)
		if p.faulty {
			k[1] |= 8 << (48 + 4*i)
		}
	}
	return k
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
	s := &search{scenario: sc, n: newNumbering(server), seen: map[key]bool{}, memo: newMemo(sc), found: Found{Outcomes: map[string]int{}}}
	w := world{}
	for i := range most {
		w.late[i] = none
	}
	for i, p := range sc.Processes {
		for run := range p.Runs {
			m, err := p.start(run)
			if err != nil {
				return Found{}, fmt.Errorf("starting %s: %w", p.Name, err)
			}
			a, err := server.Start(p.Owner, m)
			if err != nil {
				return Found{}, fmt.Errorf("starting %s: %w", p.Name, err)
			}
			s.starts[i] = append(s.starts[i], s.n.actor(a))
		}
		w.procs[i].actor = s.starts[i][0]
	}
	s.run(w)
	return s.found, nil
}

type search struct {
	scenario Scenario
	n        *numbering
	seen     map[key]bool
	memo     *memo
	found    Found
	// starts are the machines with which the runs of each process begin.
	starts [most][]int32
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
		if s.seen[next.to.key()] {
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
	s.seen[w.key()] = true
	s.found.States++
	if s.n.most() >= maxNumber {
		s.violated("too many numbers for a key")
		return nil
	}
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
	req := s.n.requestOf[p.actor]
	if s.n.ended(p.actor) {
		if s.n.result(p.actor).Outcome == ledger.Unknown {
			steps = append(steps, step{s.restarted(w, i), i, none, again})
		}
		return steps
	}
	came := s.n.serve(w.server, req)
	to := w
	to.server = came.after
	to.procs[i].actor = s.n.take(p.actor, came.reply)
	if s.fused(p.actor, to.procs[i].actor) {
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
// it would be refused and leave the process exactly where it was before the read.
func (s *search) fused(before, after int32) bool {
	if s.n.ended(after) || s.n.requests[s.n.requestOf[before]].Writes() {
		return false
	}
	return s.n.requests[s.n.requestOf[after]].Guarded() && s.n.take(after, s.n.stale) == before
}

// faults appends the ways in which a request can go wrong.
func (s *search) faults(steps []step, w world, i int, req, after int32) []step {
	w.procs[i].faulty = true
	open, killed := w, s.restarted(w, i)
	open.procs[i].actor = s.n.take(w.procs[i].actor, s.n.unanswered)
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
	p.actor = s.starts[i][min(int(p.run), len(s.starts[i])-1)]
	return w
}
