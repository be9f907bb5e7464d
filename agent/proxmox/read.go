package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
)

// ReadOptions say how much of a cluster is read, and how.
type ReadOptions struct {
	// Live asks guest agents and containers for the addresses that they have.
	Live bool
	// Rights are the token's where they were read before; else they are read first.
	Rights Rights
	// Closer gives the guests whose own firewall sets, and live addresses, matter: it
	// is called once with everything else that was read. Nil is all guests.
	Closer func(*inventory.Snapshot) []int
	// Progress is called with the requests that are done and those known to be
	// needed, never from two goroutines at once. Total can grow.
	Progress func(done, total int)
	// InFlight is how many requests are under way at most, DefaultInFlight when zero.
	InFlight int
}

// Read reads what claims addresses, as far as the token may. What could not be read
// is in Unread, with the right that would help; the error is for what leaves nothing
// to report: a token that is not taken, a list of guests that does not come, a
// context that ended.
//
// The requests, at most InFlight at once:
//
//	1                  the token's rights
//	1 + 1              the nodes, the guests
//	2 per node         its interfaces, and who has a port at its bridges; none of a
//	                   node that is offline
//	3 + 1 per VNet     SDN's zones, VNets, IPAM; a VNet's subnets
//	2 + 1 per set      the cluster's aliases and sets; a set's members
//	1 per guest        its configuration and what is pending
//	1 per odd guest    whether it runs, where the list says neither that nor that it is stopped
//	1 per close guest  the names of its own sets
//	1 per ipfilter     the members of a close guest's ipfilter set
//	1 per live guest   its addresses, with Live: running, close, and with an agent
//
// A guest that is deleted meanwhile is left out, one that migrates is asked for on
// its new node.
func Read(ctx context.Context, api API, o ReadOptions) (*inventory.Snapshot, error) {
	r := newReader(api, o)
	rights := o.Rights
	if rights == nil {
		var err error
		if rights, err = ReadRights(ctx, api); err != nil {
			return nil, err
		}
	}
	for _, lack := range rights.Lacking(Reading(o.Live)...) {
		r.unread(lack.Without, "the token lacks "+lack.String())
	}
	list, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.everything(ctx, list); err != nil {
		return nil, err
	}
	if err := r.hidden(ctx, list); err != nil {
		return nil, err
	}
	if err := r.closer(ctx); err != nil {
		return nil, err
	}
	r.sort()
	return &r.snapshot, nil
}

// reader gathers a snapshot from several goroutines.
type reader struct {
	api     API
	options ReadOptions
	slots   chan struct{}
	offline map[string]bool // nodes that are, from the start

	mu          sync.Mutex
	snapshot    inventory.Snapshot
	down        map[string]error // nodes that stopped answering, and how
	done, total int
}

func newReader(api API, o ReadOptions) *reader {
	n := o.InFlight
	if n <= 0 {
		n = DefaultInFlight
	}
	return &reader{api: api, options: o, slots: make(chan struct{}, n), offline: map[string]bool{}, down: map[string]error{}}
}

// first reads the lists that say what else there is to read.
func (r *reader) first(ctx context.Context) ([]resource, error) {
	if err := r.nodes(ctx); err != nil {
		return nil, err
	}
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range r.snapshot.Nodes {
		if !n.Online {
			r.noteOffline(n.Name, list)
		}
	}
	return list, nil
}

// nodes lists the nodes.
func (r *reader) nodes(ctx context.Context) error {
	var nodes []struct {
		Node   string `json:"node"`
		Status string `json:"status"`
	}
	if err := r.get(ctx, "", Path("nodes"), nil, &nodes); err != nil {
		return fmt.Errorf("listing the nodes: %w", err)
	}
	for _, n := range nodes {
		if err := mustMatch("a node", n.Node, nodeName); err != nil {
			return fmt.Errorf("listing the nodes: %w", err)
		}
		// "unknown" is a node whose statistics nobody sends: it may answer all the same.
		r.snapshot.Nodes = append(r.snapshot.Nodes, inventory.Node{Name: n.Node, Online: n.Status != "offline"})
	}
	return nil
}

// nodeOffline is why nothing is known of a node.
const nodeOffline = "the node is offline"

// noteOffline notes a node that cannot be asked, and with it its guests: their
// configuration is reached through their node alone.
func (r *reader) noteOffline(node string, list []resource) {
	r.offline[node] = true
	r.unread(inventory.InterfacesOf(node), nodeOffline)
	var ids []string
	for _, g := range list {
		if g.Node == node {
			ids = append(ids, g.name())
		}
	}
	if len(ids) > 0 {
		const most = 8
		more := ""
		if len(ids) > most {
			more = fmt.Sprintf(" and %d more", len(ids)-most)
			ids = ids[:most]
		}
		r.unread("the guests on "+node, nodeOffline+": "+strings.Join(ids, ", ")+more)
	}
}

// everything reads all but what only close guests are asked.
func (r *reader) everything(ctx context.Context, list []resource) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, read := range []func(context.Context) error{r.zones, r.vnets, r.ipam, r.aliases, r.sets} {
		group.Go(func() error { return read(ctx) })
	}
	for i := range r.snapshot.Nodes {
		if n := &r.snapshot.Nodes[i]; n.Online {
			group.Go(func() error { return r.interfaces(ctx, n) })
		}
	}
	group.Go(func() error { return r.guests(ctx, list) })
	return group.Wait()
}

// get makes one request. Node is the one that has to answer, "" for any: where it
// stopped doing so it is not asked again, for each time takes half a minute.
func (r *reader) get(ctx context.Context, node, path string, params url.Values, out any) error {
	r.count(0, 1)
	defer r.count(1, 0)
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := r.isDown(node); err != nil {
		return err
	}
	err := r.api.Get(ctx, path, params, out)
	var failed *Error
	if node != "" && errors.As(err, &failed) && (failed.Status == 595 || failed.Status == 596) {
		r.mu.Lock()
		r.down[node] = fmt.Errorf("the node stopped answering (%d)", failed.Status)
		r.mu.Unlock()
	}
	return err
}

func (r *reader) isDown(node string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.down[node]
}

func (r *reader) count(done, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.total = r.done+done, r.total+total
	if r.options.Progress != nil {
		r.options.Progress(r.done, r.total)
	}
}

// failed turns the failure of one source into an entry of Unread. It gives back
// only what ends the whole reading.
func (r *reader) failed(ctx context.Context, source string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.unread(source, err.Error())
	return nil
}

func (r *reader) unread(source, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snapshot.Unread = append(r.snapshot.Unread, inventory.Unread{Source: source, Reason: reason})
}

// add changes the snapshot.
func (r *reader) add(change func(*inventory.Snapshot)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.snapshot)
}

// sort makes two readings of the same cluster equal.
func (r *reader) sort() {
	s := &r.snapshot
	slices.SortFunc(s.Guests, func(a, b inventory.Guest) int { return a.VMID - b.VMID })
	slices.SortFunc(s.Nodes, func(a, b inventory.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.Sets, func(a, b inventory.IPSet) int {
		if a.VMID != b.VMID {
			return a.VMID - b.VMID
		}
		return strings.Compare(a.Name, b.Name)
	})
	slices.SortStableFunc(s.Subnets, func(a, b inventory.Subnet) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(s.Unread, func(a, b inventory.Unread) int { return strings.Compare(a.Source, b.Source) })
	s.Unread = slices.Compact(s.Unread)
}

// gone says that the object a request was for does not exist.
func gone(err error) bool { return errors.Is(err, ledger.ErrGone) }
