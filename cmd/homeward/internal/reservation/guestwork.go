package reservation

import (
	"context"
	"errors"
	"slices"
	"sync"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox/guests"
	"homeward/netplan"
)

// guestReaders is how many guests are compared at once.
const guestReaders = 4

// GuestsDiffer says what is to be done about the cluster's own guests, and changes
// nothing.
func (c *Cluster) GuestsDiffer(ctx context.Context, l *Look) (*GuestWork, error) {
	return c.eachGuest(ctx, l, guestReaders, func(at guests.At, d guests.Desired, s guests.Surroundings, w *MachineWork) error {
		actual, err := guests.Read(ctx, c.API, at)
		if err != nil {
			return err
		}
		diff, err := guests.Diff(d, actual, s, guests.Options{})
		w.Steps, w.Items, w.Switches = diff.Steps, diff.Items, diff.Switches
		return err
	})
}

// ChangeGuests makes what is to be done about the cluster's own guests, one guest
// after another. A guest that fails does not stop the others; the first error that
// is of an unknown outcome, else the first, is returned beside the work.
func (c *Cluster) ChangeGuests(ctx context.Context, l *Look, o guests.Options) (*GuestWork, error) {
	var failed error
	work, err := c.eachGuest(ctx, l, 1, func(at guests.At, d guests.Desired, s guests.Surroundings, w *MachineWork) error {
		res, err := guests.Apply(ctx, c.API, at, d, s, o)
		w.Done, w.Steps, w.Items, w.Switches = res.Done, res.Left, res.Items, res.Switches
		if err != nil && (failed == nil || errors.Is(err, ledger.ErrUnknown) && !errors.Is(failed, ledger.ErrUnknown)) {
			failed = err
		}
		return err
	})
	return work, errors.Join(err, failed)
}

// eachGuest does something about every guest of the cluster, in the plan's order,
// n at a time.
func (c *Cluster) eachGuest(ctx context.Context, l *Look, n int, do func(guests.At, guests.Desired, guests.Surroundings, *MachineWork) error) (*GuestWork, error) {
	own := l.Survey.Own
	work := &GuestWork{Machines: make([]MachineWork, len(own.Guests)), Missing: own.Missing}
	for _, fault := range own.Faults {
		work.Items = append(work.Items, guests.Item{Message: fault})
	}
	if len(own.Guests) == 0 {
		return work, nil
	}
	around, err := guests.ReadSurroundings(ctx, c.API, l.Snapshot.Nodes)
	if err != nil {
		return nil, err
	}
	machines := map[string]netplan.Machine{}
	for _, m := range c.Plan.Machines {
		machines[m.Name] = m
	}
	var on []string
	var wg sync.WaitGroup
	var mu sync.Mutex
	free, done := make(chan struct{}, n), 0
	for i, g := range own.Guests {
		if !slices.Contains(on, g.Node) {
			on = append(on, g.Node)
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			w := &work.Machines[i]
			w.OwnGuest = g
			if err := do(guests.At{Node: g.Node, VMID: g.VMID}, guests.For(c.Plan, machines[g.Machine], c.acting()), around, w); err != nil {
				w.Error = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			c.Progress("the cluster's own guests", done, len(own.Guests))
		})
	}
	wg.Wait()
	work.Items = append(work.Items, around.Check(c.Plan, on)...)
	for _, u := range around.Unread {
		work.Items = append(work.Items, unknownItem(u))
	}
	return work, ctx.Err()
}

func unknownItem(u inventory.Unread) guests.Item {
	return guests.Item{Message: u.Source + " is not known: " + u.Reason}
}
