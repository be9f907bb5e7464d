package returnpath

import (
	"context"
	"fmt"
	"strings"

	"homeward/netplan"
)

// Op is what a step does.
type Op string

// The operations, in the order in which a pass does them: what carries replies
// home comes before what takes something away.
const (
	OpLinkUp       Op = "link-up"
	OpRouteAdd     Op = "route-add"
	OpRuleAdd      Op = "rule-add"
	OpTableReplace Op = "table-replace"
	OpRuleDelete   Op = "rule-delete"
	OpRouteDelete  Op = "route-delete"
)

// Step is one change to the node. Which fields count depends on Op.
type Step struct {
	Op    Op
	Link  netplan.Link
	Rule  netplan.Rule
	Route netplan.Route

	// Table, Stamp and Counters are what OpTableReplace writes; Reasons says what
	// differs, at least one.
	Table    netplan.MarkTable
	Stamp    netplan.Stamp
	Counters netplan.Counters
	Reasons  []Difference
}

// Difference is one thing of our table that is not as it shall be.
type Difference struct {
	Kind netplan.ObjectKind
	Text string
}

// maxReasons is how many differences a step's text names.
const maxReasons = 4

// String says what the step does, for a log and for --dry-run.
func (s Step) String() string {
	switch s.Op {
	case OpLinkUp:
		return "set link " + s.Link.Name + " up"
	case OpRouteAdd:
		return "add route " + s.Route.String()
	case OpRouteDelete:
		return "delete route " + s.Route.String()
	case OpRuleAdd:
		return "add rule " + s.Rule.String()
	case OpRuleDelete:
		return "delete rule " + s.Rule.String()
	}
	var why []string
	for _, d := range s.Reasons[:min(len(s.Reasons), maxReasons)] {
		why = append(why, d.Text)
	}
	if n := len(s.Reasons) - maxReasons; n > 0 {
		why = append(why, fmt.Sprintf("and %d more", n))
	}
	return "replace table inet " + netplan.NFTablesTable + ": " + strings.Join(why, "; ")
}

// Kind is the label under which a repair is counted: what was broken.
func (s Step) Kind() string {
	switch s.Op {
	case OpLinkUp:
		return "link"
	case OpRouteAdd, OpRouteDelete:
		return "route"
	case OpRuleAdd, OpRuleDelete:
		return "ip_rule"
	}
	return "nft_" + string(s.Reasons[0].Kind)
}

// RepairKinds are all values of [Step.Kind], so that each can be counted from
// zero.
func RepairKinds() []string {
	return []string{"link", "route", "ip_rule", "nft_table", "nft_set", "nft_element", "nft_chain", "nft_rule"}
}

// apply does the step.
func (s Step) apply(ctx context.Context, k Kernel) error {
	switch s.Op {
	case OpLinkUp:
		return k.SetLinkUp(ctx, s.Link)
	case OpRouteAdd:
		return k.AddRoute(ctx, s.Route)
	case OpRouteDelete:
		return k.DeleteRoute(ctx, s.Route)
	case OpRuleAdd:
		return k.AddRule(ctx, s.Rule)
	case OpRuleDelete:
		return k.DeleteRule(ctx, s.Rule)
	}
	return k.ReplaceMarkTable(ctx, s.Table, s.Stamp, s.Counters)
}
