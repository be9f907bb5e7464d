package proxmox

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/exchange"
)

// hidden looks at each node that answers.
func (r *reader) hidden(ctx context.Context, list []resource) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range r.snapshot.Nodes {
		if !n.Online {
			continue
		}
		seen := map[int]bool{}
		for _, g := range list {
			seen[int(g.VMID)] = true
		}
		group.Go(func() error { return r.ports(ctx, n.Name, seen) })
	}
	return group.Wait()
}

// ports looks who has a port at a node's bridges, to find running guests that the
// token may not see: lists leave them out, and what is denied on one path does not
// show among the token's rights. Servers older than this call have none of it.
func (r *reader) ports(ctx context.Context, node string, seen map[int]bool) error {
	var bridges []struct {
		Name  string `json:"name"`
		Ports []struct {
			VMID Number `json:"vmid"`
		} `json:"ports"`
	}
	err := r.get(ctx, node, Path("nodes", node, "sdn", "zones", "localnetwork", "bridges"), nil, &bridges)
	if err != nil {
		// It only adds to what the lists say: a node or a right that lacks has been
		// noted with them, and not every server can answer this.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	for _, b := range bridges {
		for _, p := range b.Ports {
			if id := int(p.VMID); id != 0 && !seen[id] {
				seen[id] = true
				r.unread(fmt.Sprintf("guest %d on %s", id, node), "it has a port at "+exchange.OneLine(b.Name)+", and the token may not see it (VM.Audit on /vms/"+fmt.Sprint(id)+")")
			}
		}
	}
	return nil
}
