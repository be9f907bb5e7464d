package returnpath

import (
	"context"
	"errors"

	"homeward/netplan"
)

// Actual is what the kernel has. A part whose error is set is not known: nothing
// is concluded from it, and nothing in it is changed.
type Actual struct {
	Links  []netplan.Link
	Rules  []netplan.Rule
	Routes []netplan.Route
	Table  netplan.TableListing
	// Legacy says that the earlier scheme's table is there.
	Legacy bool

	LinksErr, RulesErr, RoutesErr, TableErr, LegacyErr error
}

// List asks the kernel for everything that the agent looks at.
func List(ctx context.Context, k Kernel, table netplan.TableID) Actual {
	var a Actual
	a.Table, a.TableErr = k.MarkTable(ctx)
	a.Links, a.LinksErr = k.Links(ctx)
	a.Rules, a.RulesErr = k.Rules(ctx)
	a.Routes, a.RoutesErr = k.Routes(ctx, table)
	a.Legacy, a.LegacyErr = k.HasLegacyTable(ctx)
	return a
}

// Err joins what could not be listed.
func (a Actual) Err() error {
	return errors.Join(a.TableErr, a.LinksErr, a.RulesErr, a.RoutesErr, a.LegacyErr)
}
