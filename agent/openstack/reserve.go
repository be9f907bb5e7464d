package openstack

import (
	"context"
	"slices"
)

// Options say how to reserve or release.
type Options struct {
	// DryRun reads and gives the steps, and makes none.
	DryRun bool
}

// Reserve brings the cloud to the plan: what is missing is made, then what the plan has
// no more is removed. It can be repeated at any time, also after it was killed, and
// while another does the same. Where something stands against it nothing is changed,
// and what this run made of a new network is removed again.
func (c *Cluster) Reserve(ctx context.Context, o Options) Result {
	d, err := c.desired()
	if err != nil {
		return Result{Outcome: Failed, Err: err}
	}
	if o.DryRun {
		return c.rehearse(ctx, d, d.query(), lookToReserve)
	}
	r := c.newRun(d)
	r.query = Desired.query
	r.look = func(d Desired, a *Actual) (*Holding, []Step, []Conflict) {
		h, steps, conflicts := lookToReserve(d, a)
		if r.fresh {
			conflicts = append(conflicts, h.rivals(d, a)...)
		}
		return h, steps, conflicts
	}
	res := r.converge(ctx)
	if res.Outcome == InTheWay {
		c.unclaim(ctx, &res)
	}
	if res.Outcome == InTheWay && r.fresh {
		undone := c.Release(ctx, Options{})
		res.Removed += undone.Removed
		res.Holding = undone.Holding
		if undone.Outcome != Done {
			res.Left = append(res.Left, undone.Left...)
			res.Err = undone.Err
		}
	}
	return res
}

// unclaim takes our tag off the floating IPs that others were about to take as well.
func (c *Cluster) unclaim(ctx context.Context, res *Result) {
	if res.Holding == nil {
		return
	}
	for _, f := range res.Holding.claimed {
		if !res.Holding.tagged(f) {
			continue
		}
		if err := c.API.Untag(ctx, KindFloating, f.ID, tagOf(c.Owner)); err != nil && res.Err == nil {
			res.Err = err
		}
	}
}

func lookToReserve(d Desired, a *Actual) (*Holding, []Step, []Conflict) {
	h := Resolve(d, a)
	if len(h.Conflicts) > 0 {
		return h, nil, h.Conflicts
	}
	return h, Diff(d, h), nil
}

// rivals are networks of the cluster's name that were there before the one that this
// run made: of several that begin at once with ids of their own the first stays.
func (h *Holding) rivals(d Desired, a *Actual) []Conflict {
	var list []Conflict
	for _, n := range a.Networks {
		_, mine := h.markOf(n.Object)
		if !mine && n.Name == d.Name && h.Network != nil && n.before(h.Network.Object) {
			list = append(list, namesake(KindNetwork, n.Object, h.Owner))
		}
	}
	return list
}

// rehearse reads and gives the steps.
func (c *Cluster) rehearse(ctx context.Context, d Desired, q Query, look func(Desired, *Actual) (*Holding, []Step, []Conflict)) Result {
	a, err := c.API.Read(ctx, q)
	if err != nil {
		return Result{Outcome: outcomeOf(err), Err: err}
	}
	h, steps, conflicts := look(d, a)
	res := Result{Outcome: Rehearsed, Holding: h, Steps: steps, Conflicts: conflicts, Left: slices.Clone(h.Left)}
	if len(conflicts) > 0 {
		res.Outcome = InTheWay
	}
	return res
}

// Status reads what there is and gives the steps that would bring it to the plan:
// those are what has drifted. It changes nothing.
func (c *Cluster) Status(ctx context.Context) Result {
	d, err := c.desired()
	if err != nil {
		return Result{Outcome: Failed, Err: err}
	}
	return c.rehearse(ctx, d, d.query(), lookToReserve)
}
