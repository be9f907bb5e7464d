//go:build linux

// Package demo shows on the wire what a return path is for: it builds the two-NIC
// cluster of package netlab once per contender, asks the whole matrix, and then
// destroys what the contender made, under load, and counts the lost replies.
//
// The contenders are nothing at all, the public alternative (a shell loop that
// needs the nft program), and whatever the caller adds as a [Program]. All run in
// the same way: one process per node, in the node's network, started again when
// it ends, as a kubelet does with a static pod.
//
// Call [Run] inside the lab (after netlab.Enter). It touches no network but the
// ones it makes, and leaves nothing behind.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"homeward/testenv/netlab"
)

// Options is what a demonstration shows.
type Options struct {
	// Contenders in the order of the report's columns.
	Contenders []Program
	// Progress is told of every long step; nil is nobody.
	Progress func(step string)
	// Patience is how long a repair may take before it counts as none; zero is
	// 45 s, which is more than the public alternative needs at worst.
	Patience time.Duration
	// Rate is the requests per second while faults happen; zero is 200.
	Rate int
}

// Report is what a demonstration has shown. Its JSON form is stable.
type Report struct {
	Contenders []ContenderReport `json:"contenders"`
}

// ContenderReport is one contender's part.
type ContenderReport struct {
	Name string `json:"name"`
	// Skipped is why the contender did not run; then the rest is empty.
	Skipped string `json:"skipped,omitempty"`
	// Ready is the time from the start on the announcing node to the first
	// answer to a client behind the router, in nanoseconds.
	Ready time.Duration `json:"ready_ns,omitempty"`
	// Cells is the matrix, in the same order for every contender.
	Cells []netlab.Cell `json:"cells,omitempty"`
	// Spoofed is how many packets the private gateway dropped while the matrix
	// was asked.
	Spoofed uint64        `json:"spoofed"`
	Faults  []FaultReport `json:"faults,omitempty"`
}

// FaultReport is what one fault cost.
type FaultReport struct {
	Fault string `json:"fault"`
	// Repaired says that replies came again within the patience.
	Repaired bool `json:"repaired"`
	// Outage is the longest time without a reply, in nanoseconds; at the default
	// rate up to some 10 ms is no outage.
	Outage time.Duration     `json:"outage_ns"`
	Load   netlab.LoadResult `json:"load"`
}

// Run runs the demonstration. A contender that cannot run here is skipped with
// the reason; an error is a fault of the lab.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Patience == 0 {
		o.Patience = 45 * time.Second
	}
	if o.Rate == 0 {
		o.Rate = 200
	}
	report := &Report{}
	for _, p := range o.Contenders {
		r, err := o.run(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("showing %s: %w", p.Name, err)
		}
		report.Contenders = append(report.Contenders, *r)
	}
	return report, nil
}

// run shows one contender on a cluster of its own.
func (o Options) run(ctx context.Context, p Program) (report *ContenderReport, err error) {
	report = &ContenderReport{Name: p.Name}
	if report.Skipped = p.missing(); report.Skipped != "" {
		return report, nil
	}
	o.Progress(p.Name + ": building the cluster")
	c, err := netlab.NewCluster(netlab.AnchorLayout)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	team, err := o.start(ctx, c, p, report)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, team.stop()) }()

	o.Progress(p.Name + ": asking the matrix")
	before, err := c.Spoofed()
	if err != nil {
		return nil, err
	}
	if report.Cells, err = c.Matrix(ctx, c.Nodes[0]); err != nil {
		return nil, err
	}
	after, err := c.Spoofed()
	if err != nil {
		return nil, err
	}
	report.Spoofed = after - before
	if p.Command != nil {
		report.Faults, err = o.faults(ctx, c, team)
	}
	return report, err
}

// start starts the contender on every node and waits until it works.
func (o Options) start(ctx context.Context, c *netlab.Cluster, p Program, report *ContenderReport) (*team, error) {
	if err := serve(c); err != nil {
		return nil, err
	}
	if p.Steered {
		for _, n := range c.Nodes {
			if err := n.Steer(); err != nil {
				return nil, err
			}
		}
	}
	if p.Command == nil {
		return &team{}, nil
	}
	o.Progress(p.Name + ": starting")
	started := time.Now()
	team, err := startTeam(c, p)
	if err != nil {
		return nil, err
	}
	if err := waitAnswered(ctx, c); err != nil {
		said := team.members[0].said()
		return nil, errors.Join(fmt.Errorf("waiting for it to work: %w; it said: %s", err, said), team.stop())
	}
	report.Ready = time.Since(started)
	return team, nil
}

// serve makes the first node announce and serve the matrix's services.
func serve(c *netlab.Cluster) error {
	if err := c.Serve(c.MatrixServices(c.Nodes[0])...); err != nil {
		return err
	}
	return c.Announce(c.Addresses.Pool[0], c.Nodes[0])
}
