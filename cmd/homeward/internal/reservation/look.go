package reservation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/agent/segment"
	"homeward/netplan"
)

// LookOptions say how to look.
type LookOptions struct {
	// Live asks running guests which addresses they have.
	Live bool
	// Accept names claims that may stay, as Taken.Accept gives them.
	Accept []string
	// Local reads the guests and networks from this host instead of by the API; nil
	// otherwise.
	Local func() (*inventory.Snapshot, error)
	// Anything looks also for a plan that wants more than can be reserved, and then
	// for nothing of it: to give back what was claimed before that.
	Anything bool
}

// Look is what is known of the segment before anything is claimed.
type Look struct {
	Survey   *inventory.Survey
	Verdict  inventory.Verdict
	Snapshot *inventory.Snapshot
	// Wants is what the plan reserves, ascending; may be empty.
	Wants []ledger.Want
	// Record is the name of the segment's record, Pages what its two kinds have.
	Record string
	Pages  [2]ledger.Page
	// RecordUnread says that one kind of record could not be read, so that what is
	// claimed is not known.
	RecordUnread bool
	// Probe is what the segment itself said; nil where it was not asked.
	Probe *segment.Report
	wire  []Taken
	// quorate says that the cluster can write.
	quorate bool
	// accepted are the names that the operator gave.
	accepted []string
	// shelves are the two kinds, without their books.
	shelves [2]ledger.Shelf
	// second is the IPAM that takes a second claim, nil where the segment has none.
	second *subnetIPAM
}

// Look reads everything. What could not be read is in Survey.Unread; the error is
// for what leaves nothing to report.
func (c *Cluster) Look(ctx context.Context, o LookOptions) (*Look, error) {
	wants, err := ledger.WantsOf(c.Plan)
	if err != nil && !o.Anything {
		return nil, &PlanError{err}
	}
	rights, err := proxmox.ReadRights(ctx, c.API)
	if err != nil {
		return nil, err
	}
	l := &Look{Wants: wants, accepted: o.Accept}
	if l.quorate, err = proxmox.Quorate(ctx, c.API); err != nil {
		return nil, err
	}
	if l.Snapshot, err = c.snapshot(ctx, o, rights); err != nil {
		return nil, err
	}
	if l.Survey, err = inventory.Take(c.Plan, l.Snapshot); err != nil {
		return nil, &PlanError{err}
	}
	if l.Record, err = ledger.SetName(l.Survey.Segment); err != nil {
		return nil, &PlanError{err}
	}
	if err := c.readRecord(ctx, l, rights); err != nil {
		return nil, err
	}
	if !l.quorate {
		l.unread("the Proxmox cluster", noQuorum)
	}
	l.second = c.findIPAM(l)
	var mine func(netip.Addr) netplan.MAC
	if c.Owner.ID != "" {
		mine = func(a netip.Addr) netplan.MAC { return proxmox.IPAMAddress(c.Owner, a) }
	}
	var unused []string
	l.Verdict, unused = inventory.Judge(c.Plan, l.Survey, mine).Accept(o.Accept)
	for _, name := range unused {
		// Not an error, so that a script may go on accepting what is gone.
		c.Log.Warn("--accept " + netplan.Quote(name) + " is no conflict that may be accepted")
	}
	return l, nil
}

const noQuorum = "it has no quorum: what was read may be old, and nothing can be written (pvecm status on a node)"

// PlanError is a mistake of the plan that only Proxmox shows.
type PlanError struct{ err error }

// Error implements error.
func (e *PlanError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *PlanError) Unwrap() error { return e.err }

func (c *Cluster) snapshot(ctx context.Context, o LookOptions, rights proxmox.Rights) (*inventory.Snapshot, error) {
	if o.Local != nil {
		return c.localSnapshot(ctx, o, rights)
	}
	return proxmox.Read(ctx, c.API, proxmox.ReadOptions{
		Live: o.Live, Rights: rights,
		Closer:   func(s *inventory.Snapshot) []int { return inventory.Near(c.Plan, s) },
		Progress: func(done, total int) { c.Progress("reading what Proxmox knows", done, total) },
	})
}

// localSnapshot reads this host's files, and by the API what they do not say: the
// other nodes' interfaces.
func (c *Cluster) localSnapshot(ctx context.Context, o LookOptions, rights proxmox.Rights) (*inventory.Snapshot, error) {
	s, err := o.Local()
	if err != nil {
		return nil, err
	}
	nodes, unread, err := proxmox.ReadNodes(ctx, c.API, proxmox.ReadOptions{Progress: func(done, total int) {
		c.Progress("reading the nodes' interfaces", done, total)
	}})
	if err != nil {
		return nil, err
	}
	for _, need := range rights.Lacking(proxmox.ReadingBridges()...) {
		unread = append(unread, inventory.Unread{Source: need.Without, Reason: "the token lacks " + need.String()})
	}
	for _, u := range s.Unread {
		if !slices.ContainsFunc(nodes, func(n inventory.Node) bool { return u.Source == inventory.InterfacesOf(n.Name) }) {
			unread = append(unread, u)
		}
	}
	s.Nodes, s.Unread = nodes, unread
	return s, nil
}

// readRecord reads the segment's record in both kinds.
func (c *Cluster) readRecord(ctx context.Context, l *Look, rights proxmox.Rights) error {
	l.shelves = [2]ledger.Shelf{
		shelf(ledger.IPSet, rights, proxmox.WritingSet()),
		shelf(ledger.Pools, rights, proxmox.WritingPools(l.Record)),
	}
	for _, need := range rights.Lacking(proxmox.ReadingPools(l.Record)...) {
		l.RecordUnread = true
		l.unread(need.Without, fmt.Sprintf("the token has no %s", need))
	}
	for i, s := range l.shelves {
		book, err := c.book(l, s.Kind)
		if err != nil {
			return err
		}
		if l.Pages[i], err = book.Read(ctx); err != nil {
			if ctx.Err() != nil || !errors.Is(err, ledger.ErrRefused) {
				return fmt.Errorf("reading the claims kept as %s: %w", s.Kind, err)
			}
			l.RecordUnread = true
			l.unread("the claims kept as "+string(s.Kind), err.Error())
		}
	}
	return nil
}

func shelf(kind ledger.Kind, rights proxmox.Rights, needs []proxmox.Need) ledger.Shelf {
	lacking := rights.Lacking(needs...)
	texts := make([]string, len(lacking))
	for i, n := range lacking {
		texts[i] = n.String()
	}
	return ledger.Shelf{Kind: kind, Writable: len(lacking) == 0, Right: strings.Join(texts, " and ")}
}

// book is one kind of the segment's record.
func (c *Cluster) book(l *Look, kind ledger.Kind) (ledger.Book, error) {
	if kind == ledger.Pools {
		return proxmox.NewPoolBook(c.API, l.Record, c.acting())
	}
	return proxmox.NewIPSetBook(c.API, l.Record)
}

func (l *Look) unread(source, reason string) {
	l.Survey.Unread = append(l.Survey.Unread, inventory.Unread{Source: source, Reason: reason})
}

// Others are the entries of other owners for addresses of the plan, in both kinds of
// record.
func (l *Look) Others(o ledger.Owner) []ledger.Conflict {
	return append(ledger.Conflicts(l.Pages[0], l.Wants, o), ledger.Conflicts(l.Pages[1], l.Wants, o)...)
}

// page is the record as one, for what only looks.
func (l *Look) page() ledger.Page {
	entries := slices.Concat(l.Pages[0].Entries, l.Pages[1].Entries)
	ledger.SortEntries(entries)
	return ledger.Page{Exists: l.Pages[0].Exists || l.Pages[1].Exists, Entries: entries}
}
