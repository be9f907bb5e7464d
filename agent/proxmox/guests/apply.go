package guests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
)

// maxTries is how often one step is tried: an outcome can stay unknown, and others
// may write at the same time.
const maxTries = 3

// retryPause is how long after an unknown outcome is read again: a write that the
// server still makes is then seen rather than made twice.
const retryPause = 2 * time.Second

// Result is what became of one guest. Where Apply fails, Left begins with the step
// that failed.
type Result struct {
	Done  []Step `json:"done"`
	Left  []Step `json:"left,omitempty"`
	Items []Item `json:"items,omitempty"`
	// Switches as they are in the end.
	Switches Switches `json:"switches"`
}

// Apply makes the steps of a guest's difference, one at a time. After each it reads
// again what the step changed and whether the guest is still the machine's, and
// finds the next step from that, so that what others write meanwhile is respected
// and running it again goes on where it ended. A guest that is as it should be gets
// no request that writes. It ends at the first step that fails, with ledger's
// ErrUnknown in the error where the server did not say whether it was made.
func Apply(ctx context.Context, api proxmox.API, at At, d Desired, s Surroundings, o Options) (Result, error) {
	r := run{api: api, at: at, d: d, s: s, o: o, tries: make(map[string]int), pause: sleep}
	err := r.all(ctx)
	return r.result, err
}

// run is one Apply.
type run struct {
	api   proxmox.API
	at    At
	d     Desired
	s     Surroundings
	o     Options
	a     Actual
	tries map[string]int
	// most is how many steps may be made before it looks endless.
	most   int
	pause  func(context.Context, time.Duration) error
	result Result
}

// all works until there is no step left.
func (r *run) all(ctx context.Context) error {
	if err := r.readAll(ctx); err != nil {
		return err
	}
	r.most = 2*len(r.result.Left) + 16
	for whole := true; ; {
		if len(r.result.Left) == 0 {
			if whole {
				return nil
			}
			// Parts that no step changed may have changed meanwhile.
			if err := r.readAll(ctx); err != nil {
				return err
			}
			whole = true
			continue
		}
		whole = false
		step := r.result.Left[0]
		if err := r.try(ctx, step); err != nil {
			return fmt.Errorf("%s: %s: %w", step.Guest, step.Words, err)
		}
	}
}

// try makes one step and reads again. A step whose outcome is not known, or that
// came too late, is found again by the next difference when it is still missing.
func (r *run) try(ctx context.Context, step Step) error {
	if len(r.result.Done) >= r.most {
		return fmt.Errorf("%d steps were made, and the difference does not go away: does somebody else change the guest?", len(r.result.Done))
	}
	err := r.send(ctx, step)
	if err != nil {
		if r.tries[step.Words]++; r.tries[step.Words] >= maxTries || ctx.Err() != nil {
			return err
		}
		return r.again(ctx, err)
	}
	delete(r.tries, step.Words)
	r.result.Done, r.result.Left = append(r.result.Done, step), r.result.Left[1:]
	for _, p := range []part{partConfig, step.part} {
		if err := r.a.read(ctx, r.api, p); err != nil {
			return err
		}
	}
	return r.diff()
}

// again reads the whole guest again where that may mend a failure, and gives back
// the failure where it does not.
func (r *run) again(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ledger.ErrUnknown), errors.Is(err, ledger.ErrBusy):
		if r.pause(ctx, retryPause) != nil {
			return err
		}
	case errors.Is(err, ledger.ErrStale), errors.Is(err, ledger.ErrTaken), errors.Is(err, ledger.ErrGone):
	default:
		return err
	}
	return r.readAll(ctx)
}

// send makes the request. Its answer, null or a task, says nothing more.
func (r *run) send(ctx context.Context, step Step) error {
	q := step.Request
	switch q.Method {
	case http.MethodPost:
		return r.api.Post(ctx, q.Path, step.params(), nil)
	case http.MethodPut:
		return r.api.Put(ctx, q.Path, step.params(), nil)
	}
	return r.api.Delete(ctx, q.Path, step.params(), nil)
}

func (r *run) readAll(ctx context.Context) (err error) {
	if r.a, err = Read(ctx, r.api, r.at); err != nil {
		return err
	}
	return r.diff()
}

// diff finds what is left; it refuses a guest that is not the machine's any more.
func (r *run) diff() error {
	found, err := Diff(r.d, r.a, r.s, r.o)
	if err != nil {
		return err
	}
	r.result.Left, r.result.Items, r.result.Switches = found.Steps, found.Items, found.Switches
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
