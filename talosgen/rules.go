package talosgen

import (
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"go.yaml.in/yaml/v4"

	"homeward/netplan"
)

// ruleSet is which routing rules a machine has.
type ruleSet struct{ vip, mark bool }

// routingRules are the rules of one machine: those into our table by priority,
// then those behind them. Each rule into our table has one behind it with the
// same selector that makes the packet unreachable: with the external NIC gone the
// table is empty, and without that rule the packet would go on to the main table
// and leave by the private NIC.
func routingRules(p *netplan.Plan, set ruleSet) []*network.RoutingRuleConfigV1Alpha1 {
	var lookups, unreachables []*network.RoutingRuleConfigV1Alpha1
	if set.vip {
		rules := pair(p.ReturnPath, p.ReturnPath.Priorities.VIP, p.ReturnPath.Priorities.VIPUnreachable)
		for _, rule := range rules {
			rule.RuleSrc = network.Prefix{Prefix: netip.PrefixFrom(p.KubeAPI.VIP, 32)}
		}
		lookups, unreachables = append(lookups, rules[0]), append(unreachables, rules[1])
	}
	if set.mark {
		rules := pair(p.ReturnPath, p.ReturnPath.Priorities.Mark, p.ReturnPath.Priorities.MarkUnreachable)
		for _, rule := range rules {
			rule.RuleFwMark = uint32(p.ReturnPath.Mark)
			// Without the mask Talos replaces the rule for ever, and the rule fails
			// as soon as anyone sets another bit.
			rule.RuleFwMask = uint32(p.ReturnPath.Mask)
		}
		lookups, unreachables = append(lookups, rules[0]), append(unreachables, rules[1])
	}
	return append(lookups, unreachables...)
}

// pair gives a rule into our table and its fail-closed one, without selectors.
func pair(rp *netplan.ReturnPath, lookup, unreachable netplan.Priority) []*network.RoutingRuleConfigV1Alpha1 {
	in := network.NewRoutingRuleConfigV1Alpha1(uint32(lookup))
	in.RuleTable = nethelpers.RoutingTable(rp.Table)
	closed := network.NewRoutingRuleConfigV1Alpha1(uint32(unreachable))
	closed.RuleAction = nethelpers.RoutingRuleActionUnreachable
	return []*network.RoutingRuleConfigV1Alpha1{in, closed}
}

func (s *stream) routing(rules []*network.RoutingRuleConfigV1Alpha1) {
	for _, rule := range rules {
		s.rule(rule)
	}
}

// rule encodes one rule. A rule without a table must not name one, but machinery
// would write `table: unspec`.
func (s *stream) rule(doc *network.RoutingRuleConfigV1Alpha1) {
	var node yaml.Node
	if err := node.Encode(doc); err != nil {
		s.fail(doc.Kind(), err)
		return
	}
	if doc.RuleTable == nethelpers.TableUnspec {
		removeKey(&node, "table")
	}
	s.value(doc.Kind(), &node)
}
