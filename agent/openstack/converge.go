package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"homeward/agent/ledger"
	"homeward/netplan"
)

// Bounds of one run.
const (
	// mostRounds of reading and changing: a run alone needs four, each failure and each
	// race with a second operator one more.
	mostRounds = 64
	// mostFailures in a row are tried again.
	mostFailures = 4
	// firstWait is before a round that follows a failure, doubled for each in a row.
	firstWait = 500 * time.Millisecond
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	// Done: all is as the plan has it; of a release, nothing of the owner's is left.
	Done Outcome = "done"
	// Rehearsed: a dry run; Steps has what would be done.
	Rehearsed Outcome = "dry-run"
	// InTheWay: something stands against it, see Conflicts.
	InTheWay Outcome = "conflicts"
	// Failed: the server would not, see Err. What was made is found by the next run.
	Failed Outcome = "failed"
	// Unknown: the server did not say what it did or what there is, see Err. Running
	// it again mends that.
	Unknown Outcome = "unknown"
)

// Result is how a run ended and what it did.
type Result struct {
	Outcome Outcome
	// Holding is as it was read last, nil where nothing could be read.
	Holding *Holding
	// Steps are those of a dry run, or of a status; none where all is as it should be.
	Steps []Step
	// Conflicts stand against it. Left are objects that should go and are in use.
	Conflicts []Conflict
	Left      []Left
	// Made, Removed and Changed count what the server confirmed in this run.
	Made, Removed, Changed int
	// Err is why it Failed or is Unknown, nil otherwise.
	Err error
}

// Cluster is one plan at one cloud.
type Cluster struct {
	Plan *netplan.Plan
	API  API
	// Owner has no ID while nothing was ever reserved. MakeOwner gives it one that is
	// kept, just before the first request that writes.
	Owner     ledger.Owner
	MakeOwner func() (id string, err error)
	Log       *slog.Logger
	// Progress is told of steps done, in order.
	Progress func(done, total int)
	// Abreast is how many requests that change something are under way at once, when
	// not zero.
	Abreast int
	// Sleep waits, and ends early with the context's error.
	Sleep func(context.Context, time.Duration) error
}

// nobody stands for an owner who has no id yet.
const nobody = "0000000000000000"

func (c *Cluster) desired() (Desired, error) {
	owner := c.Owner
	if owner.ID == "" {
		owner.ID = nobody
	}
	return For(c.Plan, owner)
}

// Shut says which ports of the plan nobody outside the cluster can reach.
func (c *Cluster) Shut() []string { return shut(c.Plan) }

// run is one convergence.
type run struct {
	*Cluster
	d Desired
	t tally
	// look gives what is to be done of what was read, or what stands against it.
	look  func(d Desired, a *Actual) (*Holding, []Step, []Conflict)
	query func(d Desired) Query
	// failures in a row without anything done, what the last was, and how many steps
	// were ahead before it.
	failures int
	last     error
	ahead    int
	// looks is how often conflicts were read: what a second operator made between two of
	// our lists looks like somebody else's, until it is read again.
	looks int
	// asked says that the quota was read, fresh that this run made the network.
	asked, fresh bool
}

func (c *Cluster) newRun(d Desired) *run {
	progress := c.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	return &run{Cluster: c, d: d, t: tally{progress: progress, abreast: cmp.Or(c.Abreast, defaultAbreast)}}
}

// converge reads and changes until nothing is left to do.
func (r *run) converge(ctx context.Context) Result {
	for range mostRounds {
		a, err := r.API.Read(ctx, r.query(r.d))
		if err != nil {
			return r.end(r.failed(ctx, Result{}, fmt.Errorf("reading what there is: %w", err)))
		}
		h, steps, conflicts := r.look(r.d, a)
		res := Result{Holding: h, Conflicts: conflicts, Left: slices.Concat(h.Left, r.t.left)}
		steps = r.withoutLeft(steps)
		switch {
		case len(conflicts) > 0 && r.looks >= h.patience():
			res.Outcome = InTheWay
			return r.end(res)
		case len(conflicts) > 0:
			r.looks++
			err = r.Sleep(ctx, firstWait)
		case len(steps) == 0:
			res.Outcome = Done
			return r.end(res)
		case r.Owner.ID == "":
			err = r.own()
		default:
			err = r.change(ctx, h, steps)
		}
		if err != nil {
			return r.end(r.failed(ctx, res, err))
		}
	}
	return r.end(r.failed(ctx, Result{}, fmt.Errorf("still not done after %d rounds: does something else change the same objects? %w", mostRounds, r.last)))
}

// change makes one round's steps. A failure that may pass is kept, and the next round
// finds what was done; an error ends the run.
func (r *run) change(ctx context.Context, h *Holding, steps []Step) error {
	if err := r.room(ctx, h, steps); err != nil {
		return err
	}
	if r.ahead > 0 && len(steps) < r.ahead {
		r.failures = 0 // what got no answer was done
	}
	r.ahead = len(steps)
	r.fresh = r.fresh || slices.ContainsFunc(steps, func(s Step) bool { return s.kind == KindNetwork && s.effect == makes })
	steps = thisRound(steps)
	err := r.t.apply(ctx, r.API, h, steps)
	if err == nil {
		r.failures, r.ahead = 0, 0
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, ledger.ErrRefused) {
		return r.explained(ctx, err, h, steps)
	}
	r.failures++
	r.last = err
	if r.failures > mostFailures {
		return err
	}
	r.Log.Debug("again, after: " + err.Error())
	return r.Sleep(ctx, firstWait<<(r.failures-1))
}

// thisRound are the steps that are made now. What is claimed first has to be looked at
// again. So has what is spare, once all else is made: by then it may be used, or turn
// out to be a second operator's.
func thisRound(steps []Step) []Step {
	claims := slices.ContainsFunc(steps, func(s Step) bool { return s.claims })
	if !claims && !slices.ContainsFunc(steps, func(s Step) bool { return s.effect == makes }) {
		return steps
	}
	return slices.DeleteFunc(steps, func(s Step) bool { return claims && s.needsClaim || s.stage >= stageRemoveFloating })
}

// own gives the owner an id that is kept: from here on things are written.
func (r *run) own() error {
	id, err := r.MakeOwner()
	if err != nil {
		return err
	}
	r.Owner.ID = id
	r.d, err = r.desired()
	return err
}

// failed ends a run with an error. That somebody has what is needed, and the lists do
// not show who, is a conflict too. Of a run that was stopped it is not known what its
// last requests did.
func (r *run) failed(ctx context.Context, res Result, err error) Result {
	res.Outcome, res.Err = outcomeOf(err), err
	if ctx.Err() != nil {
		res.Outcome = Unknown
	} else if errors.Is(err, ledger.ErrTaken) {
		res.Outcome = InTheWay
		c := Conflict{Blame: Foreign, Message: err.Error(), Remedy: "see what has it (openstack port list --all-projects takes an administrator), or choose another"}
		var request *Error
		if errors.As(err, &request) && request.overlaps() {
			c.Remedy = "choose another network.cidr"
			c = c.wrong()
		}
		res.Conflicts = append(res.Conflicts, c)
	}
	return res
}

// outcomeOf is how an error ends a run: what the server did not do for sure is a
// failure, unless it was only not to be reached.
func outcomeOf(err error) Outcome {
	var request *Error
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return Unknown
	case errors.Is(err, ledger.ErrRefused), errors.Is(err, ledger.ErrStale), errors.Is(err, ledger.ErrGone):
		return Failed
	case errors.As(err, &request):
		return Unknown
	}
	return Failed
}

func (r *run) end(res Result) Result {
	res.Made, res.Removed, res.Changed = r.t.made, r.t.removed, r.t.changed
	return res
}

// withoutLeft leaves out what turned out to be in use.
func (r *run) withoutLeft(steps []Step) []Step {
	return slices.DeleteFunc(steps, func(s Step) bool {
		return s.left != nil && slices.ContainsFunc(r.t.left, func(l Left) bool { return l.ID == s.left.ID })
	})
}
