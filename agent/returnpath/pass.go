package returnpath

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"homeward/netplan"
)

// rounds is how often a pass applies steps before it gives up for now: what it
// mended may be broken again at once.
const rounds = 3

// Pass brings the node to the desired state once: list, diff, apply, list
// again. It gives the status after it, and never an error: what is wrong stands
// in the status.
func (a *Agent) Pass(ctx context.Context) Status {
	began := a.cfg.Clock.Elapsed()
	desired, actual, todo, nicErr := a.look(ctx)
	var done []Step
	var applyErr error
	for range rounds {
		if len(todo) == 0 {
			break
		}
		applyErr = a.apply(ctx, todo)
		done = append(done, todo...)
		// The calls' results are not trusted: a flush can fail with ENOBUFS though
		// the kernel has done it.
		desired, actual, todo, nicErr = a.look(ctx)
	}
	problems := a.problems(ctx, desired, actual, nicErr)
	if len(todo) > 0 {
		problems = append(problems, notConverged(todo, applyErr))
	}
	a.log(done, problems)
	return a.publish(began, desired, actual, done, problems)
}

// problems gathers what the operator should know after a pass.
func (a *Agent) problems(ctx context.Context, desired State, actual Actual, nicErr error) []Problem {
	var out []Problem
	if err := actual.Err(); err != nil {
		out = append(out, Problem{Kind: ProblemNotListed, Text: oneLine(err), Blocking: true})
	}
	if nicErr != nil {
		kind := ProblemNICMissing
		if errors.Is(nicErr, ErrAmbiguousUplink) {
			kind = ProblemNICAmbiguous
		}
		out = append(out, Problem{
			Kind: kind, Text: nicErr.Error(), Blocking: true,
			Remedy: "compare --external-mac with the VM's NICs; the rest of the return path stays up",
		})
	}
	if s := a.superseded; s != nil {
		out = append(out, Problem{
			Kind: ProblemSuperseded, Blocking: true,
			Text:   fmt.Sprintf("an agent that started later (%s after boot) with other settings owns the table; this one writes nothing", s.by.Start.Round(time.Second)),
			Remedy: "stop one of the two: the older pod normally ends by itself",
		})
	}
	out = append(out, routingProblems(a.cfg.Settings, desired, actual)...)
	out = append(out, checkReversePath(ctx, a.cfg.Kernel, desired, actual)...)
	out = append(out, ipv6Problems(ctx, a.cfg.Kernel, desired)...)
	return append(out, legacyProblem(actual)...)
}

// notConverged says which steps are still to be done although they were tried.
func notConverged(todo []Step, err error) Problem {
	text := make([]string, len(todo))
	for i, s := range todo {
		text[i] = s.String()
	}
	p := Problem{Kind: ProblemNotConverged, Text: "still to do: " + strings.Join(text, "; "), Blocking: true}
	if err != nil {
		p.Text += ": " + oneLine(err)
	}
	return p
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// publish counts the pass and makes its outcome the agent's status.
func (a *Agent) publish(began time.Duration, desired State, actual Actual, steps []Step, problems []Problem) Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.status
	if moved(s.Uplink, desired.Uplink) {
		wake(a.uplinkMoved)
	}
	s.Uplink = desired.Uplink
	s.problems = problems
	s.Passes++
	s.LastPass = a.cfg.Clock.Wall()
	s.LastPassMillis = millis(a.cfg.Clock.Elapsed() - began)
	if actual.TableErr == nil {
		s.Counters = actual.Table.Counters
	}
	for _, step := range steps {
		if a.converged {
			s.Repairs[step.Kind()]++
		}
	}
	if len(steps) > 0 {
		s.LastChange, s.LastSteps = s.LastPass, texts(steps)
	}
	done := !s.has(ProblemNotConverged) && !s.has(ProblemNotListed)
	a.converged = a.converged || done
	if !done {
		s.FailedPasses++
	}
	a.turned = a.cfg.Clock.Elapsed()
	return s.copy()
}

func texts(steps []Step) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = s.String()
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// moved says that the link is another one, or that it came or went.
func moved(a, b *netplan.Link) bool {
	if a == nil || b == nil {
		return a != b
	}
	return *a != *b
}

// wake leaves a word for a loop that may be busy.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
