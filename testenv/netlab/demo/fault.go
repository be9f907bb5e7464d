//go:build linux

package demo

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"homeward/testenv/netlab"
)

// fault is one thing that happens to the announcing node. When it returns, what
// the contender does about it may still be going on.
type fault struct {
	name string
	do   func(ctx context.Context, c *netlab.Cluster, m *member) error
}

// faultList is in the order of the report.
func faultList() []fault {
	return []fault{
		{"foreign `nft flush ruleset`", func(_ context.Context, c *netlab.Cluster, _ *member) error {
			return c.Nodes[0].FlushRuleset()
		}},
		{"process killed (SIGKILL)", restart(syscall.SIGKILL)},
		{"process stopped (SIGTERM)", restart(syscall.SIGTERM)},
	}
}

// restart ends the program and waits for its next start.
func restart(s syscall.Signal) func(context.Context, *netlab.Cluster, *member) error {
	return func(ctx context.Context, _ *netlab.Cluster, m *member) error {
		before, err := m.signal(s)
		if err != nil {
			return err
		}
		return m.waitStarted(ctx, before)
	}
}

// How the load goes before and after a fault.
const (
	loadConnections = 4
	// settle is the time before the fault, and again after the first replies.
	settle = 500 * time.Millisecond
	// drain is how long a datagram may be under way.
	drain = time.Second
)

// faults lets each fault happen under load.
func (o Options) faults(ctx context.Context, c *netlab.Cluster, t *team) ([]FaultReport, error) {
	var reports []FaultReport
	for _, f := range faultList() {
		o.Progress(fmt.Sprintf("%s: %s", t.members[0].program.Name, f.name))
		r, err := o.fault(ctx, c, t.members[0], f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		reports = append(reports, *r)
		if !r.Repaired {
			// Nothing that comes after could be told from this.
			return reports, nil
		}
	}
	return reports, nil
}

// fault measures one fault. UDP over long-lived sockets: nobody repeats a lost
// reply, so each is counted.
func (o Options) fault(ctx context.Context, c *netlab.Cluster, m *member, f fault) (*FaultReport, error) {
	load, err := netlab.StartLoad(ctx, netlab.LoadConfig{
		From: c.Behind, Protocol: netlab.UDP, Target: podHere(c),
		Rate: o.Rate, Connections: loadConnections, Drain: drain,
	})
	if err != nil {
		return nil, err
	}
	stop := func(err error) (*FaultReport, error) {
		load.Stop()
		return nil, err
	}
	if err := sleep(ctx, settle); err != nil {
		return stop(err)
	}
	limited, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	if err := f.do(limited, c, m); err != nil {
		return stop(err)
	}
	// Replies that were under way when it happened do not count as repair.
	if err := sleep(ctx, settle); err != nil {
		return stop(err)
	}
	repaired := load.WaitReplies(limited, o.Rate/4) == nil
	if ctx.Err() != nil {
		return stop(ctx.Err())
	}
	result := load.Stop()
	return &FaultReport{Fault: f.name, Repaired: repaired, Outage: result.LongestGap, Load: result}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
