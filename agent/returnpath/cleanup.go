package returnpath

import (
	"context"
	"errors"
	"slices"

	"homeward/netplan"
)

// CleanupOptions says what to take away besides our table.
type CleanupOptions struct {
	// Managed takes away rules and routes of our own protocol.
	Managed bool
	// Legacy takes away the earlier scheme.
	Legacy bool
}

// Cleanup removes the return path from the node, and nothing else. It says what
// it removed; nothing there is no error, so it may run twice. What steers replies
// goes first, so that no marked packet finds an empty table.
func Cleanup(ctx context.Context, k Kernel, o CleanupOptions) (removed []string, err error) {
	var errs []error
	take := func(what string, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		removed = append(removed, what)
	}
	switch listing, err := k.MarkTable(ctx); {
	case err != nil:
		errs = append(errs, err)
	case listing.Present:
		take("table inet "+netplan.NFTablesTable, k.DeleteMarkTable(ctx))
	}
	if o.Legacy {
		errs = append(errs, cleanLegacy(ctx, k, take))
	}
	if o.Managed {
		errs = append(errs, cleanManaged(ctx, k, take))
	}
	return removed, errors.Join(errs...)
}

// cleanManaged removes the rules and routes of our protocol.
func cleanManaged(ctx context.Context, k Kernel, take func(string, error)) error {
	rules, err := k.Rules(ctx)
	if err != nil {
		return err
	}
	// Lookups first: between the two kinds a packet falls on the unreachable rule.
	own := ownRules(rules)
	slices.SortStableFunc(own, func(a, b netplan.Rule) int { return int(a.Priority) - int(b.Priority) })
	for _, r := range own {
		take("rule "+r.String(), k.DeleteRule(ctx, r))
	}
	routes, err := k.Routes(ctx, 0)
	if err != nil {
		return err
	}
	for _, r := range ownRoutes(routes) {
		take("route "+r.String(), k.DeleteRoute(ctx, r))
	}
	return nil
}

// cleanLegacy removes the earlier scheme's table and rules. Its routing table is
// emptied only when its rules were there and no other rule leads to it: the
// number may be someone else's by now.
func cleanLegacy(ctx context.Context, k Kernel, take func(string, error)) error {
	there, err := k.HasLegacyTable(ctx)
	if err != nil {
		return err
	}
	if there {
		take("table ip "+netplan.LegacyNFTablesTable, k.DeleteLegacyTable(ctx))
	}
	rules, err := k.Rules(ctx)
	if err != nil {
		return err
	}
	found, shared := false, false
	for _, r := range rules {
		switch {
		case IsLegacyRule(r):
			found = true
			take("rule "+r.String(), k.DeleteRule(ctx, r))
		case r.Table == netplan.LegacyTable:
			shared = true
		}
	}
	if !found || shared {
		return nil
	}
	routes, err := k.Routes(ctx, netplan.LegacyTable)
	if err != nil {
		return err
	}
	for _, r := range routes {
		if r.Table == netplan.LegacyTable {
			take("route "+r.String(), k.DeleteRoute(ctx, r))
		}
	}
	return nil
}
