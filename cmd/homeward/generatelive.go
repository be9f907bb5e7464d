package main

import (
	"context"
	"fmt"
	"path/filepath"

	"homeward/agent/openstack"
	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/netplan"
	"homeward/netplan/load"
)

// nothingWritten begins the errors of a generate that lacks addresses.
const nothingWritten = "nothing is written"

// addressed gives the plan that generate renders, with every address known. With --live
// it gives what was asked for besides, which is to be kept; else nil.
func (t *tool) addressed(ctx context.Context, f generateFlags, result *load.Result) (*netplan.Plan, *netplan.Allocation, error) {
	if !f.live {
		plan, err := t.settled(result.Plan, f.file, f.out, nothingWritten)
		return plan, nil, err
	}
	if result.Plan.OpenStack == nil {
		return nil, nil, usage("--live is for OpenStack: on %s the plan has all addresses", result.Plan.Provider)
	}
	a, err := t.liveAllocation(ctx, f, result)
	if err != nil {
		return nil, nil, err
	}
	plan, err := result.Plan.Allocated(a)
	if err != nil {
		return nil, nil, usage("what is reserved is not what the plan chooses: %w: run homeward reserve, which brings both together, or correct the plan", err)
	}
	return plan, &a, nil
}

// liveAllocation asks the cloud what the last reserve allocated, and writes nothing
// there.
func (t *tool) liveAllocation(ctx context.Context, f generateFlags, result *load.Result) (netplan.Allocation, error) {
	s, err := t.cloudOf(ctx, &lookFlags{file: f.file, out: f.out}, result)
	if err != nil {
		return netplan.Allocation{}, err
	}
	if s.Owner.ID == "" {
		return netplan.Allocation{}, usage("there is no %s beside %s, so nothing in the cloud is this cluster's: put back the one of its first reserve, or run homeward reserve", ownerid.FileName, f.file)
	}
	s.progress.step("reading what there is")
	res := s.Status(ctx)
	s.progress.end()
	if res.Err != nil {
		code := exitUnknown
		if res.Outcome == openstack.Failed {
			code = exitFailed
		}
		return netplan.Allocation{}, &coded{code, fmt.Errorf("%s: %w", nothingWritten, res.Err)}
	}
	a, ok := res.Holding.Allocation()
	if !ok {
		return a, &coded{exitUnknown, fmt.Errorf("%s: not every address is allocated, homeward status shows which: run homeward reserve -f %s", nothingWritten, f.file)}
	}
	if len(res.Steps)+len(res.Left)+len(res.Conflicts) > 0 {
		t.log.Warn("the addresses are there, and the cloud differs from the plan otherwise: homeward status shows how")
	}
	return a, nil
}

// keepLive keeps what was asked for where the next generate and verify read it.
func keepLive(f generateFlags, a *netplan.Allocation) error {
	if a == nil {
		return nil
	}
	return allocation.Save(filepath.Join(f.out, allocation.FileName), *a)
}
