package returnpath

import (
	"fmt"
	"slices"
	"strings"

	"homeward/netplan"
)

// Problem is something about the node that the operator should know.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Text string      `json:"text"`
	// Remedy is what to do about it, empty when there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
	// Blocking problems make the agent not ready: replies may get lost.
	Blocking bool `json:"blocking"`
}

// ProblemKind names a problem for machines.
type ProblemKind string

// The kinds of problems.
const (
	ProblemNICMissing    ProblemKind = "nic_missing"
	ProblemNICAmbiguous  ProblemKind = "nic_ambiguous"
	ProblemSuperseded    ProblemKind = "superseded"
	ProblemRuleMissing   ProblemKind = "rule_missing"
	ProblemRouteMissing  ProblemKind = "route_missing"
	ProblemRouteShadowed ProblemKind = "route_shadowed"
	ProblemRuleShadowed  ProblemKind = "rule_shadowed"
	ProblemMarkShared    ProblemKind = "mark_shared"
	ProblemRPFilter      ProblemKind = "rp_filter"
	ProblemGateway       ProblemKind = "gateway"
	ProblemNotConverged  ProblemKind = "not_converged"
	ProblemNotListed     ProblemKind = "not_listed"
	ProblemLegacy        ProblemKind = "legacy"
	ProblemIPv6Default   ProblemKind = "ipv6_default"
)

// routingProblems says what is wrong with rules and routes beyond what the
// agent puts right itself.
func routingProblems(s Settings, desired State, actual Actual) []Problem {
	var out []Problem
	for _, r := range missingRules(desired, actual) {
		p := Problem{Kind: ProblemRuleMissing, Text: fmt.Sprintf("rule %s is missing", r), Blocking: true}
		if !s.Manage {
			p.Remedy = fmt.Sprintf("Talos makes it of RoutingRuleConfig %q: is the generated patch applied?", fmt.Sprint(r.Priority))
		}
		out = append(out, p)
	}
	for _, r := range missingRoutes(desired, actual) {
		out = append(out, routeProblem(s, r, actual))
	}
	out = append(out, shadows(desired, actual)...)
	return append(out, sharedMarks(desired, actual)...)
}

// routeProblem says why a route is not the one that the kernel takes.
func routeProblem(s Settings, want netplan.Route, actual Actual) Problem {
	if best, ok := preferred(actual.Routes, want); ok {
		return Problem{
			Kind: ProblemRouteShadowed, Blocking: true,
			Text:   fmt.Sprintf("route %s takes the place of %s", best, want),
			Remedy: fmt.Sprintf("remove it, or give it a metric above %d", netplan.TalosRouteMetric),
		}
	}
	p := Problem{Kind: ProblemRouteMissing, Text: fmt.Sprintf("route %s is missing", want), Blocking: true}
	if !s.Manage {
		p.Remedy = "Talos makes it of the LinkConfig of the external link: is the generated patch applied?"
	}
	return p
}

// markRule is the desired rule that leads marked packets to our table.
func markRule(desired State) netplan.Rule {
	i := slices.IndexFunc(desired.Rules, func(r netplan.Rule) bool {
		return r.Mark != 0 && r.Action == netplan.ActionLookup && !r.SuppressDefault
	})
	return desired.Rules[i]
}

// shadows finds rules in front of ours that take every marked packet elsewhere:
// they ask for nothing but bits that our packets have, or for a mark that is not some
// other, and their table has a default route, which they take. The earlier scheme's
// rule is none: its table leads out of the same link.
func shadows(desired State, actual Actual) []Problem {
	if actual.RulesErr != nil || actual.RoutesErr != nil {
		return nil
	}
	mark := markRule(desired)
	var out []Problem
	for _, r := range actual.Rules {
		if r.Priority >= mark.Priority || r.SuppressDefault || r.Source.Bits() > 0 || !carries(mark, r) || r.Table == mark.Table {
			continue
		}
		if r.Action == netplan.ActionLookup && !leadsElsewhere(desired, actual, r.Table) {
			continue
		}
		out = append(out, Problem{
			Kind: ProblemRuleShadowed, Blocking: true,
			Text:   fmt.Sprintf("rule %s stands before ours at %d and takes the marked replies", r, mark.Priority),
			Remedy: fmt.Sprintf("give it a priority above %d, or a selector that leaves mark %s out", mark.Priority, mark.Mark),
		})
	}
	return out
}

// leadsElsewhere says that a table has a default route by another link than ours.
func leadsElsewhere(desired State, actual Actual, table netplan.TableID) bool {
	return slices.ContainsFunc(actual.Routes, func(r netplan.Route) bool {
		ours := desired.Uplink != nil && r.Link == desired.Uplink.Index
		return r.Table == table && r.Destination.Bits() == 0 && !ours
	})
}

// legacyProblem reports the earlier scheme: its table, or a rule into its table
// at one of its priorities.
func legacyProblem(actual Actual) []Problem {
	var parts []string
	if actual.Legacy {
		parts = append(parts, "table ip "+netplan.LegacyNFTablesTable)
	}
	for _, r := range actual.Rules {
		if IsLegacyRule(r) {
			parts = append(parts, "rule "+r.String())
		}
	}
	if parts == nil {
		return nil
	}
	return []Problem{{
		Kind:   ProblemLegacy,
		Text:   "an earlier return-path scheme is on this node: " + strings.Join(parts, ", "),
		Remedy: "it does no harm; remove it with `homeward-agent cleanup --legacy` once its pod is gone",
	}}
}

// IsLegacyRule says whether a rule is one of the earlier scheme's.
func IsLegacyRule(r netplan.Rule) bool {
	if r.Table != netplan.LegacyTable || r.Others != "" || r.SuppressDefault || r.Action != netplan.ActionLookup {
		return false
	}
	marks := r.Priority == netplan.LegacyMarkPriority && r.Mark == netplan.LegacyMark
	vip := r.Priority == netplan.LegacyVIPPriority && r.Source.Bits() == 32
	return marks || vip
}

// sharedMarks finds rules of others for a mark that has our bit and more (NetBird's
// 0x1bd00): our rule takes the packets that carry it, unless it stands behind theirs,
// and our table marks replies of connections that do.
func sharedMarks(desired State, actual Actual) []Problem {
	if actual.RulesErr != nil {
		return nil
	}
	ours := markRule(desired)
	var out []Problem
	for _, r := range actual.Rules {
		has := uint32(r.Mark)&uint32(ours.Mask) == uint32(ours.Mark)
		if more := uint32(r.Mark) &^ uint32(ours.Mask); !has || more == 0 {
			continue
		}
		out = append(out, Problem{
			Kind:   ProblemMarkShared,
			Text:   fmt.Sprintf("rule %s is for a mark that has our bit %s: what carries it leaves by the external link", r, ours.Mark),
			Remedy: fmt.Sprintf("give return_path.mark and return_path.mask a bit that is not in %s, where the network plugin leaves one, like 0x1000000", r.Mark),
		})
	}
	return out
}

// carries says that a packet with no other mark than ours satisfies a rule's
// selectors, and that the rule asks for no bit but ours; or that the rule is for
// every packet without some mark that is not ours.
func carries(ours, r netplan.Rule) bool {
	matches := uint32(ours.Mark)&uint32(r.Mask) == uint32(r.Mark)
	switch r.Others {
	case "":
		return matches && uint32(r.Mask)&^uint32(ours.Mask) == 0
	case "not":
		return !matches
	}
	return false
}

// ProblemKinds are all kinds, so that each can be reported as absent.
func ProblemKinds() []ProblemKind {
	return []ProblemKind{
		ProblemNICMissing, ProblemNICAmbiguous, ProblemSuperseded, ProblemRuleMissing, ProblemRouteMissing,
		ProblemRouteShadowed, ProblemRuleShadowed, ProblemMarkShared, ProblemRPFilter, ProblemGateway, ProblemNotConverged,
		ProblemNotListed, ProblemLegacy, ProblemIPv6Default,
	}
}
