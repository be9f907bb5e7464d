package reservation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// ReleaseOptions say what to give back.
type ReleaseOptions struct {
	DryRun bool
	// Dead is the owner of a cluster that is gone: ID, or ID/NAME where several
	// clusters have that id. Empty for the plan's own.
	Dead string
	// Partial releases a dead cluster's claims although not every source that could
	// show a guest which uses them could be read.
	Partial bool
}

// Release gives back everything of one owner and nothing else. Of a dead cluster it
// first looks that nothing uses its addresses.
func (c *Cluster) Release(ctx context.Context, l *Look, o ReleaseOptions) (*Report, error) {
	r := c.report(l)
	owner := c.Owner
	if o.Dead != "" {
		var err error
		if owner, err = l.dead(o.Dead); err != nil && l.RecordUnread {
			r.Outcome = Partial // it may own something
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.Owner, r.Addresses = owner, reservations(l.page(), owner, &owner)
		r.Conflicts = append(l.usersOf(owner), l.namesakes(c.Plan, owner)...)
		l.silentUnread(owner)
		r.Unread = l.Survey.Unread
		if len(r.Conflicts) > 0 {
			r.Outcome = InUse
			return r, nil
		}
		if len(r.Unread) > 0 && !o.Partial {
			r.Outcome = Partial
			return r, nil
		}
	}
	if !l.quorate && !o.DryRun {
		r.Outcome, r.Error = Failed, noQuorum
		return r, nil
	}
	r.Warnings = nil // they speak of the plan's addresses
	for i, shelf := range l.shelves {
		owned := l.Pages[i].Owned(owner)
		if len(owned) == 0 {
			continue
		}
		if !shelf.Writable {
			return nil, &ledger.RightError{Kind: shelf.Kind, Right: shelf.Right, Claims: len(owned)}
		}
		if err := c.releaseFrom(ctx, l, i, owner, o, r); err != nil || r.Outcome != "" && r.Outcome != Rehearsed {
			return r, err
		}
	}
	if r.Outcome == "" && l.RecordUnread && len(r.GivenBack) == 0 {
		r.Outcome = Partial // what it owns may stand where nothing could be read
	}
	if r.Outcome == "" {
		r.Outcome = Released
	}
	return r, nil
}

// namesakes lists guests on the segment that are called as the machines of an owner's
// cluster: pool and VIP are in no guest's configuration, so that they may well be
// announced by them.
func (l *Look) namesakes(p *netplan.Plan, o ledger.Owner) []Taken {
	var list []Taken
	near := inventory.Near(p, l.Snapshot)
	for _, g := range l.Snapshot.Guests {
		if g.Template || !strings.HasPrefix(g.Name, o.Cluster+"-") || !slices.Contains(near, g.VMID) {
			continue
		}
		list = append(list, Taken{Kind: kindGuest, Source: g.Source() + " is called as a machine of cluster " + o.Cluster,
			Remedy: "a cluster that lives gives back its own; delete what is left of a dead one"})
	}
	return list
}

// silentUnread makes guests on the segment of which no address is known a source that
// was not read.
func (l *Look) silentUnread(o ledger.Owner) {
	if n := len(l.Survey.Silent); n > 0 {
		const shown = 3
		names := strings.Join(l.Survey.Silent[:min(n, shown)], ", ")
		if n > shown {
			names += fmt.Sprintf(" and %d more", n-shown)
		}
		l.unread(names, "on this segment, and no address of it is known: whether it uses one of "+o.Cluster+"'s is not known either (--live asks running guests)")
	}
}

// releaseFrom gives back what one kind of record has.
func (c *Cluster) releaseFrom(ctx context.Context, l *Look, i int, owner ledger.Owner, o ReleaseOptions, r *Report) error {
	as := *c
	as.Owner = owner
	m, err := ledger.NewRelease(owner, c.limits())
	if err != nil {
		return err
	}
	book, err := as.sameBook(l, l.shelves[i].Kind)
	if err != nil {
		return err
	}
	if o.DryRun {
		return as.rehearse(ctx, l, l.shelves[i].Kind, book, m, r)
	}
	as.take(ctx, as.run(ctx, book, m), book, l, r)
	return nil
}

// dead finds the owner that an operator named.
func (l *Look) dead(name string) (ledger.Owner, error) {
	id, cluster, named := strings.Cut(name, "/")
	var found []ledger.Owner
	for _, e := range l.page().Entries {
		o := e.Record.Owner
		if e.Readable && o.ID == id && (!named || o.Cluster == cluster) && !slices.Contains(found, o) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return ledger.Owner{}, &PlanError{fmt.Errorf("--owner %q owns nothing on %s: `homeward status` lists the owners", name, l.Survey.Segment)}
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, o := range found {
		names[i] = o.ID + "/" + o.Cluster
	}
	return ledger.Owner{}, &PlanError{fmt.Errorf("--owner %q is several clusters: give one of %s", name, strings.Join(names, ", "))}
}

// usersOf lists who uses an owner's addresses, whoever that is.
func (l *Look) usersOf(o ledger.Owner) []Taken {
	list := []Taken{}
	for _, e := range l.page().Owned(o) {
		list = append(list, l.users(e, func(inventory.Claim) bool { return true })...)
	}
	return list
}

// users lists what really uses the address of an entry: what only names it does not.
func (l *Look) users(e ledger.Entry, counts func(inventory.Claim) bool) []Taken {
	var list []Taken
	for _, claim := range l.Survey.Claims {
		if claim.Accept != "" || claim.Kind == inventory.SDNIPAM || !claim.Range.Contains(e.Prefix.Addr()) || !counts(claim) {
			continue
		}
		list = append(list, Taken{Address: e.Prefix.Addr().String(), For: string(e.Record.Purpose), Kind: string(claim.Kind),
			Source: claim.Source, Remedy: claim.Remedy})
	}
	return list
}
