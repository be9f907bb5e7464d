package returnpath

import (
	"slices"

	"homeward/netplan"
)

// additions gives the routes and rules that are missing: the rules that fail
// closed, then the routes, then the rules that lead to them.
func additions(desired State, actual Actual) []Step {
	var closed, routes, lookups []Step
	for _, r := range missingRules(desired, actual) {
		step := Step{Op: OpRuleAdd, Rule: r}
		if r.Action == netplan.ActionUnreachable {
			closed = append(closed, step)
		} else {
			lookups = append(lookups, step)
		}
	}
	for _, r := range missingRoutes(desired, actual) {
		// One that is there and yet not taken is shadowed: adding it again is no cure.
		if !slices.Contains(actual.Routes, r) {
			routes = append(routes, Step{Op: OpRouteAdd, Route: r})
		}
	}
	return slices.Concat(closed, routes, lookups)
}

// missingRules gives the desired rules that nothing in the kernel stands for,
// whoever owns it; none while the rules are not known.
func missingRules(desired State, actual Actual) []netplan.Rule {
	if actual.RulesErr != nil {
		return nil
	}
	var out []netplan.Rule
	for _, want := range desired.Rules {
		if !slices.ContainsFunc(actual.Rules, want.SameEffect) {
			out = append(out, want)
		}
	}
	return out
}

// missingRoutes is the same for routes. A route that another one of the same
// destination shadows by a lower metric counts as missing.
func missingRoutes(desired State, actual Actual) []netplan.Route {
	if actual.RoutesErr != nil {
		return nil
	}
	var out []netplan.Route
	for _, want := range desired.Routes {
		if best, ok := preferred(actual.Routes, want); !ok || !want.SameEffect(best) {
			out = append(out, want)
		}
	}
	return out
}

// preferred gives the route to the same destination in the same table that the
// kernel would take.
func preferred(routes []netplan.Route, like netplan.Route) (netplan.Route, bool) {
	var best netplan.Route
	found := false
	for _, r := range routes {
		if r.Table != like.Table || r.Destination != like.Destination {
			continue
		}
		if !found || r.Metric < best.Metric {
			best, found = r, true
		}
	}
	return best, found
}

// removals gives the rules and routes of our own protocol that are no longer
// wanted. Others' are never touched, and nothing is concluded from an unknown
// listing or a missing link.
func removals(desired State, actual Actual) []Step {
	var out []Step
	if actual.RulesErr == nil {
		for _, r := range ownRules(actual.Rules) {
			if !slices.ContainsFunc(desired.Rules, r.SameEffect) {
				out = append(out, Step{Op: OpRuleDelete, Rule: r})
			}
		}
	}
	if actual.RoutesErr == nil && desired.Uplink != nil {
		for _, r := range ownRoutes(actual.Routes) {
			if !slices.Contains(desired.Routes, r) {
				out = append(out, Step{Op: OpRouteDelete, Route: r})
			}
		}
	}
	return out
}

func ownRules(rules []netplan.Rule) []netplan.Rule {
	var out []netplan.Rule
	for _, r := range rules {
		if r.Protocol == netplan.AgentProtocol {
			out = append(out, r)
		}
	}
	return out
}

func ownRoutes(routes []netplan.Route) []netplan.Route {
	var out []netplan.Route
	for _, r := range routes {
		if r.Protocol == netplan.AgentProtocol {
			out = append(out, r)
		}
	}
	return out
}
