package proxmox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/inventory"
)

// resource is a guest in the cluster's list.
type resource struct {
	Type     string `json:"type"`
	VMID     Number `json:"vmid"`
	Name     Text   `json:"name"`
	Node     string `json:"node"`
	Status   string `json:"status"`
	Template Flag   `json:"template"`
}

// name is how an operator knows it: `VM 113 "db1" on pve2`.
func (g resource) name() string {
	what := "VM"
	if g.Type == string(inventory.LXC) {
		what = "CT"
	}
	name := ""
	if g.Name != "" {
		name = " " + strconv.Quote(string(g.Name))
	}
	return fmt.Sprintf("%s %d%s on %s", what, g.VMID, name, g.Node)
}

// How often a guest is looked for that is not where the list says, and how long it
// is waited in between: a migration's last step takes a moment.
const (
	searches    = 3
	searchPause = 300 * time.Millisecond
)

// list reads which guests there are and where.
func (r *reader) list(ctx context.Context) ([]resource, error) {
	var all []resource
	if err := r.get(ctx, "", Path("cluster", "resources"), url.Values{"type": {"vm"}}, &all); err != nil {
		return nil, fmt.Errorf("listing the guests: %w", err)
	}
	var list []resource
	for _, g := range all {
		if g.Type != string(inventory.QEMU) && g.Type != string(inventory.LXC) {
			continue
		}
		err := mustMatch("a node", g.Node, nodeName)
		if g.VMID < minVMID || g.VMID > maxVMID {
			err = errors.Join(err, fmt.Errorf("%d is no guest's number", g.VMID))
		}
		if err != nil {
			return nil, fmt.Errorf("listing the guests: %w", err)
		}
		list = append(list, g)
	}
	return list, nil
}

// guests reads the configurations, and looks again for those that were not where
// the list had them.
func (r *reader) guests(ctx context.Context, list []resource) error {
	for range searches {
		missing, err := r.pass(ctx, list)
		if err != nil || len(missing) == 0 {
			return err
		}
		now, err := r.list(ctx)
		if err != nil {
			return err
		}
		where := make(map[Number]resource, len(now))
		for _, g := range now {
			where[g.VMID] = g
		}
		list = list[:0:0]
		moved := false
		for _, g := range missing {
			if there, ok := where[g.VMID]; ok { // else it was deleted
				list = append(list, there)
				moved = moved || there.Node != g.Node
			}
		}
		if len(list) > 0 && !moved {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(searchPause):
			}
		}
	}
	for _, g := range list {
		r.unread(g.name(), "its configuration is not where the cluster's list says: is it migrating?")
	}
	return nil
}

// pass reads each guest's configuration once and gives those that are not there.
func (r *reader) pass(ctx context.Context, list []resource) (missing []resource, err error) {
	group, ctx := errgroup.WithContext(ctx)
	for _, g := range list {
		if r.offline[g.Node] {
			continue // noted with its node
		}
		group.Go(func() error {
			guest, err := r.guest(ctx, g)
			switch {
			case gone(err):
				r.add(func(*inventory.Snapshot) { missing = append(missing, g) })
				return nil
			case err != nil:
				return r.failed(ctx, g.name(), err)
			}
			r.add(func(s *inventory.Snapshot) { s.Guests = append(s.Guests, guest) })
			return nil
		})
	}
	err = group.Wait()
	return missing, err
}

// guest reads what is in force and what is pending, in one request.
func (r *reader) guest(ctx context.Context, g resource) (inventory.Guest, error) {
	var items []struct {
		Key     string `json:"key"`
		Value   *Text  `json:"value"`
		Pending *Text  `json:"pending"`
		Delete  Number `json:"delete"`
	}
	if err := r.get(ctx, g.Node, GuestPath(g.Node, g.Type, int(g.VMID), "pending"), nil, &items); err != nil {
		return inventory.Guest{}, err
	}
	running, err := r.running(ctx, g)
	if err != nil {
		return inventory.Guest{}, err
	}
	guest := inventory.Guest{
		Kind: inventory.GuestKind(g.Type), VMID: int(g.VMID), Name: string(g.Name), Node: g.Node,
		Running: running, Template: bool(g.Template),
		Config: map[string]string{}, Pending: map[string]string{},
	}
	for _, item := range items {
		switch {
		case item.Key == "digest" && item.Value != nil:
			guest.Digest = string(*item.Value)
		case item.Key == "template" && item.Value != nil:
			guest.Template = *item.Value == "1"
		}
		if !relevant.MatchString(item.Key) {
			continue
		}
		if item.Value != nil {
			guest.Config[item.Key] = string(*item.Value)
		}
		switch {
		case item.Delete > 0:
			guest.Pending[item.Key] = ""
		case item.Pending != nil:
			guest.Pending[item.Key] = string(*item.Pending)
		}
	}
	// The list has names only of guests whose statistics somebody sends.
	guest.Name = cmp.Or(guest.Name, guest.Config["name"], guest.Config["hostname"])
	return guest, nil
}

// running says whether a guest runs. The list knows it from the nodes' statistics,
// which can be missing: then the guest's node is asked. A guest of which nobody says
// that it is stopped counts as running, for that is what one must be careful with.
func (r *reader) running(ctx context.Context, g resource) (bool, error) {
	status := g.Status
	if status != "running" && status != "stopped" {
		var now struct {
			Status string `json:"status"`
		}
		err := r.get(ctx, g.Node, GuestPath(g.Node, g.Type, int(g.VMID), "status", "current"), nil, &now)
		if err != nil {
			return false, err
		}
		status = now.Status
	}
	return status != "stopped", nil
}

// relevant are the options that an inventory reads.
var relevant = regexp.MustCompile(`^(net[0-9]+|ipconfig[0-9]+|name|hostname|ostype|agent|tags)$`)
