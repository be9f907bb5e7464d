//go:build linux

package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"

	attributes "github.com/mdlayher/netlink"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// Rules lists the IPv4 routing rules in the kernel's order. It reads the
// kernel's messages itself: the library's RuleList (v1.3.1) loses the action, so
// that an unreachable rule looks like a lookup in table 0, and attributes it does
// not know, so that a rule with one looks like ours.
func (k *Kernel) Rules(ctx context.Context) ([]netplan.Rule, error) {
	return dump(ctx, k.log, "rules", wholeRules)
}

// The actions of a rule in linux/fib_rules.h, where they are not one of ours.
const (
	actionLookup      = 1
	actionGoto        = 2
	actionNop         = 3
	actionUnreachable = 7
)

// parseRule reads a fib_rule_hdr, which has the layout of an rtmsg (the action in
// the place of the type), and its attributes.
func parseRule(m []byte) (netplan.Rule, error) {
	if len(m) < unix.SizeofRtMsg {
		return netplan.Rule{}, fmt.Errorf("rule message of %d bytes", len(m))
	}
	head := nl.DeserializeRtMsg(m)
	// Not the library's ParseRouteAttr: it panics when the last attribute is not
	// padded.
	attrs, err := attributes.UnmarshalAttributes(m[unix.SizeofRtMsg:])
	if err != nil {
		return netplan.Rule{}, fmt.Errorf("rule message: %w", err)
	}
	r := netplan.Rule{Source: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Table: netplan.TableID(head.Table)}
	var others []string
	if head.Flags&netlink.FibRuleInvert != 0 {
		others = append(others, "not")
	}
	if head.Tos != 0 {
		others = append(others, fmt.Sprintf("tos 0x%x", head.Tos))
	}
	for _, a := range attrs {
		if other := ruleAttribute(&r, head, a.Type, a.Data); other != "" {
			others = append(others, other)
		}
	}
	switch head.Type {
	case actionLookup:
		r.Action = netplan.ActionLookup
	case actionUnreachable:
		r.Action = netplan.ActionUnreachable
	default:
		r.Action = netplan.RuleAction(fmt.Sprintf("action %d", head.Type))
		if head.Type == actionGoto || head.Type == actionNop {
			others = append(others, "jump")
		}
	}
	if r.Action != netplan.ActionLookup {
		r.Table = 0
	}
	r.Others = strings.Join(others, " ")
	return r, nil
}

// ruleAttribute puts one attribute into the rule, or names it.
func ruleAttribute(r *netplan.Rule, head *nl.RtMsg, kind uint16, v []byte) string {
	number := func() uint32 {
		if len(v) < 4 {
			return 0
		}
		return binary.NativeEndian.Uint32(v)
	}
	switch kind {
	case nl.FRA_PRIORITY:
		r.Priority = netplan.Priority(number())
	case nl.FRA_TABLE:
		r.Table = netplan.TableID(number())
	case nl.FRA_FWMARK:
		r.Mark = netplan.Mark(number())
	case nl.FRA_FWMASK:
		r.Mask = netplan.Mask(number())
	case nl.FRA_SRC:
		if a, ok := netip.AddrFromSlice(v); ok {
			r.Source = netip.PrefixFrom(a, int(head.Src_len))
		}
	case nl.FRA_PROTOCOL:
		if len(v) > 0 {
			r.Protocol = netplan.RouteProtocol(v[0])
		}
	case nl.FRA_IIFNAME:
		return "iif " + strings.TrimRight(string(v), "\x00")
	case nl.FRA_OIFNAME:
		return "oif " + strings.TrimRight(string(v), "\x00")
	case nl.FRA_SUPPRESS_PREFIXLEN:
		if len(v) == 4 && number() == 0 {
			r.SuppressDefault = true
		} else if number() != ^uint32(0) {
			return "suppress"
		}
	case nl.FRA_SUPPRESS_IFGROUP:
		if number() != ^uint32(0) {
			return "suppress"
		}
	case nl.FRA_FLOW, nl.FRA_TUN_ID:
		if number() != 0 {
			return fmt.Sprintf("attribute %d", kind)
		}
	case nl.FRA_PAD:
	default:
		// A later kernel may give every rule an attribute that we do not know; as
		// long as it is zero it selects nothing.
		if strings.Trim(string(v), "\x00") != "" {
			return fmt.Sprintf("attribute %d", kind)
		}
	}
	return ""
}

// AddRule adds a rule; that it is there already is no error.
func (k *Kernel) AddRule(ctx context.Context, r netplan.Rule) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	if err := netlink.RuleAdd(ruleOf(r)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("adding rule %s: %w", r, err)
	}
	return nil
}

// DeleteRule deletes a rule; that it is gone already is no error. Every field is
// given: the kernel deletes the first rule that matches what is given, and with a
// family alone that is `lookup local`.
func (k *Kernel) DeleteRule(ctx context.Context, r netplan.Rule) error {
	if err := errDone(ctx); err != nil {
		return err
	}
	if r.Priority == 0 {
		return fmt.Errorf("deleting rule %s: priority 0 is the kernel's own", r)
	}
	if err := netlink.RuleDel(ruleOf(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting rule %s: %w", r, err)
	}
	return nil
}

func ruleOf(r netplan.Rule) *netlink.Rule {
	out := netlink.NewRule()
	out.Family = netlink.FAMILY_V4
	out.Priority = int(r.Priority)
	out.Src = ipNetOf(r.Source)
	out.Table = int(r.Table)
	out.Protocol = uint8(r.Protocol)
	out.Type = actionLookup
	if r.Action == netplan.ActionUnreachable {
		out.Type = actionUnreachable
	}
	if r.SuppressDefault {
		out.SuppressPrefixlen = 0
	}
	if r.Mask != 0 {
		mask := uint32(r.Mask)
		out.Mark, out.Mask = uint32(r.Mark), &mask
	}
	return out
}
