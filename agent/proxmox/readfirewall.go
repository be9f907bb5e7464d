package proxmox

import (
	"context"

	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"homeward/agent/ledger/inventory"
)

// clusterScope is the scope of what the datacenter's firewall holds.
const clusterScope = "cluster"

// filterName is a set of a guest that lets one of its NICs use certain addresses.
var filterName = regexp.MustCompile(`^ipfilter-net[0-9]+$`)

// anySetName is a set of anybody's.
var anySetName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{1,63}$`)

// set is a firewall set as the server lists it.
type set struct {
	Name    string `json:"name"`
	Comment Text   `json:"comment"`
}

// aliases reads the cluster's.
func (r *reader) aliases(ctx context.Context) error {
	var list []alias
	if err := r.get(ctx, "", Path("cluster", "firewall", "aliases"), nil, &list); err != nil {
		return r.failed(ctx, "firewall aliases", err)
	}
	r.addAliases(clusterScope, 0, list)
	return nil
}

func (r *reader) addAliases(scope string, vmid int, list []alias) {
	r.add(func(s *inventory.Snapshot) {
		for _, a := range list {
			if p, ok := parsePrefix(a.CIDR); ok && p.Addr().Is4() {
				s.Aliases = append(s.Aliases, inventory.Alias{Scope: scope, VMID: vmid, Name: a.Name, Comment: a.Comment, CIDR: p})
			}
		}
	})
}

// sets reads the cluster's sets and their members.
func (r *reader) sets(ctx context.Context) error {
	var list []set
	if err := r.get(ctx, "", Path("cluster", "firewall", "ipset"), nil, &list); err != nil {
		return r.failed(ctx, "firewall sets", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range list {
		if err := mustMatch("a firewall set", s.Name, anySetName); err != nil {
			r.unread("firewall sets", err.Error())
			continue
		}
		group.Go(func() error {
			found, err := r.members(ctx, "", []string{"cluster", "firewall", "ipset"}, s)
			if err != nil || found == nil {
				return r.failedUnless(ctx, "firewall set "+s.Name, err)
			}
			found.Scope = clusterScope
			r.add(func(s *inventory.Snapshot) { s.Sets = append(s.Sets, *found) })
			return nil
		})
	}
	return group.Wait()
}

// failedUnless is failed for an error, and nothing for none.
func (r *reader) failedUnless(ctx context.Context, source string, err error) error {
	if err == nil {
		return nil
	}
	return r.failed(ctx, source, err)
}

// members reads one set; nil when it was deleted since it was listed.
func (r *reader) members(ctx context.Context, node string, sets []string, s set) (*inventory.IPSet, error) {
	var list []member
	err := r.get(ctx, node, Path(append(sets, s.Name)...), nil, &list)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &inventory.IPSet{Name: s.Name, Comment: string(s.Comment)}
	for _, m := range list {
		out.Members = append(out.Members, inventory.Member{CIDR: m.CIDR, Comment: m.Comment, NoMatch: bool(m.NoMatch)})
	}
	return out, nil
}

// filters reads a guest's ipfilter sets, and its aliases where a member is one.
func (r *reader) filters(ctx context.Context, g inventory.Guest, source string) error {
	base := []string{"nodes", g.Node, string(g.Kind), strconv.Itoa(g.VMID), "firewall"}
	var list []set
	if err := r.get(ctx, g.Node, Path(append(base, "ipset")...), nil, &list); err != nil {
		if gone(err) {
			return nil
		}
		return r.failed(ctx, source+", its firewall sets", err)
	}
	aliased := false
	for _, s := range list {
		if !filterName.MatchString(s.Name) {
			continue
		}
		found, err := r.members(ctx, g.Node, append(base, "ipset"), s)
		if err != nil || found == nil {
			if err := r.failedUnless(ctx, source+", its set "+s.Name, err); err != nil {
				return err
			}
			continue
		}
		found.Scope, found.VMID = source, g.VMID
		r.add(func(s *inventory.Snapshot) { s.Sets = append(s.Sets, *found) })
		for _, m := range found.Members {
			_, ok := parsePrefix(m.CIDR)
			aliased = aliased || !ok && !strings.HasPrefix(m.CIDR, "dc/")
		}
	}
	if !aliased {
		return nil
	}
	var aliases []alias
	if err := r.get(ctx, g.Node, Path(append(base, "aliases")...), nil, &aliases); err != nil && !gone(err) {
		return r.failed(ctx, source+", its firewall aliases", err)
	}
	r.addAliases(source, g.VMID, aliases)
	return nil
}
