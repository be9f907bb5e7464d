package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Step is one request that changes something.
type Step struct {
	// Words say what it does, in one line; Details more of it, a line each.
	Words   string   `json:"words"`
	Details []string `json:"details,omitempty"`

	stage  stage
	effect effect
	kind   Kind
	// count is how many objects it makes or removes.
	count int
	// left, where it is not nil, is what is left when something uses the object by
	// then: to remove it was not needed.
	left *Left
	do   func(ctx context.Context, api API, h *Holding) error
	// claims says that the step announces what a later one, which needsClaim, takes:
	// between the two there has to be a look whether others announced it too.
	claims, needsClaim bool
}

// String is what a dry run prints: the words, and below them the details.
func (s Step) String() string {
	return strings.Join(append([]string{s.Words}, s.Details...), "\n    ")
}

// effect is what a step does to the number of objects.
type effect int

const (
	changes effect = iota
	makes
	removes
)

// stage orders steps: those of one stage depend on none of the same and run side by
// side, and on all of the stages before. What adds stands before what removes, but for
// what must be free before it can be had.
type stage int

const (
	stageClear stage = iota // an address or a port's floating IP that is needed
	stageNetwork
	stageSubnet
	stageRouter
	stageReserved
	stageMachines
	stageChange
	stageFloating
	stageTag
	stageRemoveFloating
	stageUntag
	stageRemovePorts
	stageUnplug
	stageRemoveRouter
	stageRemoveSubnet
	stageRemoveNetwork
	stageRemoveGroup
)

// plan gathers steps.
type plan []Step

func (p *plan) add(s Step) { *p = append(*p, s) }

// ordered gives the steps by stage, within one as they were added.
func (p plan) ordered() []Step {
	slices.SortStableFunc(p, func(a, b Step) int { return int(a.stage) - int(b.stage) })
	return p
}

// remove is the step that deletes an object.
func remove(st stage, kind Kind, o Object, words string) Step {
	return Step{Words: words, stage: st, effect: removes, kind: kind, count: 1, do: func(ctx context.Context, api API, _ *Holding) error {
		return api.Delete(ctx, kind, o.ID)
	}}
}

// change is the step that changes an object and makes none.
func change(st stage, kind Kind, words string, do func(ctx context.Context, api API, h *Holding) error) Step {
	return Step{Words: words, stage: st, kind: kind, do: do}
}

// create is the step that makes one object.
func create(st stage, kind Kind, words string, do func(ctx context.Context, api API, h *Holding) error) Step {
	return Step{Words: words, stage: st, effect: makes, kind: kind, count: 1, do: do}
}

// tag is the step that tags an object as the owner's, nil for one that is to be made
// first; get gives the object by then.
func (h *Holding) tag(p *plan, kind Kind, now *Object, name string, get func(h *Holding) string) {
	tag, what := tagOf(h.Owner), string(kind)+" "+name
	if now != nil {
		if slices.Contains(now.Tags, tag) {
			return
		}
		what = named(kind, *now)
	}
	p.add(change(stageTag, kind, fmt.Sprintf("tag %s with %s", what, tag), func(ctx context.Context, api API, h *Holding) error {
		return api.Tag(ctx, kind, get(h), tag)
	}))
}

// rename is the step that gives an object its name back.
func (h *Holding) rename(p *plan, kind Kind, o Object, name string) {
	if o.Name == name {
		return
	}
	p.add(change(stageTag, kind, fmt.Sprintf("rename %s to %s", named(kind, o), name), func(ctx context.Context, api API, _ *Holding) error {
		return api.Rename(ctx, kind, o.ID, name)
	}))
}

// switchOn ends that something of ours is off, which cuts the cluster off.
func (h *Holding) switchOn(p *plan, kind Kind, o Object) {
	if !o.Off {
		return
	}
	words := fmt.Sprintf("switch %s on (admin_state_up)", named(kind, o))
	if kind == KindSubnet {
		words = fmt.Sprintf("have DHCP in %s (enable_dhcp), by which machines get their address", named(kind, o))
	}
	p.add(change(stageTag, kind, words, func(ctx context.Context, api API, _ *Holding) error {
		return api.SwitchOn(ctx, kind, o.ID)
	}))
}
