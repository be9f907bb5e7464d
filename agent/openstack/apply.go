package openstack

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger"
)

// defaultAbreast is how many steps of one stage run side by side, where it is not said.
const defaultAbreast = 8

// StepError is a step that failed; errors.Is finds the API's error in it.
type StepError struct {
	Words string
	err   error
}

// Error says what was to be done and why it was not.
func (e *StepError) Error() string { return e.Words + ": " + e.err.Error() }

// Unwrap gives the API's error.
func (e *StepError) Unwrap() error { return e.err }

// tally counts what steps did.
type tally struct {
	abreast       int
	mu            sync.Mutex
	made, removed int
	changed       int
	left          []Left
	at, total     int
	progress      func(done, total int)
}

// apply makes steps, stage after stage, and stops after the first stage in which one
// failed: what was made stays, and is found again. Of several that failed in one stage
// it gives the one that an operator must know of first.
func (t *tally) apply(ctx context.Context, api API, h *Holding, steps []Step) error {
	t.at, t.total = 0, len(steps)
	for len(steps) > 0 {
		n := 0
		for n < len(steps) && steps[n].stage == steps[0].stage {
			n++
		}
		if err := t.stage(ctx, api, h, steps[:n]); err != nil {
			return err
		}
		steps = steps[n:]
	}
	return nil
}

// stage runs the steps of one stage. After a failure no further one is begun.
func (t *tally) stage(ctx context.Context, api API, h *Holding, steps []Step) error {
	var group errgroup.Group
	group.SetLimit(t.abreast)
	var mu sync.Mutex
	var failed []error
	stop := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(failed) > 0 || ctx.Err() != nil
	}
	for _, s := range steps {
		if stop() {
			break
		}
		group.Go(func() error {
			if stop() {
				return nil
			}
			if err := t.step(ctx, api, h, s); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, &StepError{s.Words, err})
			}
			return nil
		})
	}
	_ = group.Wait()
	if len(failed) == 0 && ctx.Err() != nil {
		return fmt.Errorf("stopped before %q: %w", steps[0].Words, context.Cause(ctx))
	}
	return first(failed)
}

// first gives the error that decides: a refusal, then an unknown outcome.
func first(failed []error) error {
	for _, class := range []error{ledger.ErrRefused, ledger.ErrUnknown} {
		for _, err := range failed {
			if errors.Is(err, class) {
				return err
			}
		}
	}
	if len(failed) > 0 {
		return failed[0]
	}
	return nil
}

func (t *tally) step(ctx context.Context, api API, h *Holding, s Step) error {
	err := s.do(ctx, api, h)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && s.left != nil && errors.Is(err, ledger.ErrTaken):
		t.left = append(t.left, *s.left)
		return nil
	case err != nil && s.effect == removes && errors.Is(err, ledger.ErrGone):
		// Somebody else, perhaps our own request that got no answer, was faster.
		return nil
	case err != nil:
		return err
	}
	switch s.effect {
	case makes:
		t.made += s.count
	case removes:
		t.removed += s.count
	default:
		t.changed++
	}
	t.at++
	t.progress(t.at, t.total)
	return nil
}
