// Package reservation is what reserve, release and status do at Proxmox, without
// their printing: it looks who claims an address of the plan's segment, runs the
// ledger's protocol, keeps the second claim in SDN's IPAM, and says what has
// drifted. What it returns is what -o json prints.
package reservation

import (
	"context"
	"log/slog"
	"time"

	"homeward/agent/ledger"
	"homeward/agent/proxmox"
	"homeward/netplan"
)

// Cluster is one plan at one Proxmox cluster.
type Cluster struct {
	Plan *netplan.Plan
	API  proxmox.API
	// Owner has no ID while nothing was ever reserved. MakeOwner gives it one that is
	// kept, just before the first claim.
	Owner     ledger.Owner
	MakeOwner func() error
	Log       *slog.Logger
	// Progress is told of long steps, in order; total can grow.
	Progress func(what string, done, total int)
	// Now is the time of new claims, Sleep waits between requests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	// Patience is how long others that are in the middle of a reservation are waited
	// for; zero is the ledger's default.
	Patience time.Duration
}

// rollback is how long a reservation that was interrupted may take to give up what
// it had claimed: a hung node answers after 30 s.
const rollback = 40 * time.Second

// finish is how long a write under way is waited for then, so that what became of it
// is known: a node waits 10 s for its locks.
const finish = 11 * time.Second

// Linger is how long a command may need after a signal until it has said what it
// left: the write under way, the roll-back with its last one, and the look at the
// record after it.
const Linger = 2*(finish+rollback) + 5*time.Second

func (c *Cluster) limits() ledger.Limits {
	l := ledger.DefaultLimits()
	if c.Patience > 0 {
		l.Patience = c.Patience
	}
	return l
}

// run drives one machine.
func (c *Cluster) run(ctx context.Context, b ledger.Book, m ledger.Machine) ledger.Result {
	d := ledger.Driver{Book: b, Sleep: c.Sleep, Grace: rollback, Finish: finish, Log: c.Log, Report: func(p ledger.Progress) {
		c.Progress(string(p.Stage), p.Done, p.Of)
	}}
	return d.Run(ctx, m)
}
