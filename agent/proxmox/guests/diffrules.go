package guests

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// rules adds the rules that are missing and gives the deletions of those of ours
// that are stale or stand there twice. private is the private NIC's key.
func (b *builder) rules(private string) (stale []Step) {
	if !b.d.Governs() {
		b.leftOver()
		return nil
	}
	wanted := make([]Rule, len(b.d.Openings))
	for i, o := range b.d.Openings {
		wanted[i] = o.rule(b.m, private)
	}
	kept, missing := b.match(wanted)
	// Each new rule goes to the top: the last one first, so that they stand in
	// their order.
	for _, r := range slices.Backward(missing) {
		b.step(partRules, post(b.path("firewall", "rules"), r.params()), "add the rule %s (%s)", r, purpose(r.Comment))
	}
	// From the bottom, so that the places of the others stay.
	for _, r := range slices.Backward(b.a.Rules) {
		if !b.m.made(r.Comment) || kept[r.Pos] {
			continue
		}
		at := strconv.Itoa(r.Pos + len(missing))
		s := Step{Guest: b.a.String(), Words: plain(fmt.Sprintf("delete the stale rule %s (%s)", r, purpose(r.Comment))), part: partRules,
			Request: remove(b.path("firewall", "rules", at), nil)}
		s.guard(b.a.RulesDigest)
		stale = append(stale, s)
	}
	b.foreignRules(wanted, kept, len(missing))
	return stale
}

// match says which rules of ours stay, by their place, and which are missing.
func (b *builder) match(wanted []Rule) (kept map[int]bool, missing []Rule) {
	kept = make(map[int]bool)
	for _, w := range wanted {
		at := slices.IndexFunc(b.a.Rules, func(r Rule) bool { return !kept[r.Pos] && r.Comment == w.Comment && r.same(w) })
		if at >= 0 {
			kept[at] = true
		} else {
			missing = append(missing, w)
		}
	}
	return kept, missing
}

// leftOver reports rules of ours that a plan without allowlists has left: deleting
// them while the firewall denies by default would cut the guest off.
func (b *builder) leftOver() {
	var commands []string
	for _, r := range slices.Backward(b.a.Rules) {
		if b.m.made(r.Comment) {
			commands = append(commands, pvesh("delete", b.a.plainPath("firewall/rules/"+strconv.Itoa(r.Pos)), nil))
		}
	}
	if len(commands) == 0 {
		return
	}
	if b.a.on("enable") {
		off := pvesh("set", b.a.plainPath("firewall/options"), map[string]string{"enable": "0"})
		commands = slices.Insert(commands, 0, off)
	}
	b.item(commands, "the plan has no security section, but rules of ours stand here: they are left, for without them the firewall might let nothing in")
}

// foreignRules reports rules of others that undo ours: one that denies before ours
// lets in, and one that lets in whom an allowlist leaves out. added is how many
// rules of ours will stand before all others.
func (b *builder) foreignRules(wanted []Rule, kept map[int]bool, added int) {
	for _, r := range b.a.Rules {
		if b.m.made(r.Comment) || !r.Enable {
			continue
		}
		// The place when all steps have been made.
		at := r.Pos + added
		for _, o := range b.a.Rules[:r.Pos] {
			if b.m.made(o.Comment) && !kept[o.Pos] {
				at--
			}
		}
		path := b.a.plainPath("firewall/rules/" + strconv.Itoa(at))
		shadowed := slices.ContainsFunc(b.a.Rules[r.Pos:], func(o Rule) bool { return kept[o.Pos] && r.reaches(o) })
		switch {
		case r.blocks() && shadowed:
			end := strconv.Itoa(len(b.a.Rules) + added)
			b.item([]string{pvesh("set", path, map[string]string{"moveto": end})},
				"rule %d (%s) is not ours and stands before rules of ours that let in what it may deny: move it behind them, or leave it if that is meant", at, r)
		case b.widens(r, wanted):
			b.item([]string{pvesh("delete", path, nil)},
				"rule %d (%s) is not ours and lets in whom the plan's allowlist of that port leaves out", at, r)
		}
	}
}

// widens says that a rule lets somebody in at a port that the plan restricts.
func (b *builder) widens(r Rule, wanted []Rule) bool {
	if r.Type != "in" || r.Action != "ACCEPT" || r.Macro != "" {
		return false
	}
	ports := make(map[string][]netip.Prefix)
	open := make(map[string]bool)
	for _, w := range wanted {
		if w.Proto != "tcp" || w.DPort == "" {
			continue
		}
		if p, ok := literal(w.Source); ok {
			ports[w.DPort] = append(ports[w.DPort], p)
		} else {
			open[w.DPort] = true
		}
	}
	p, ok := literal(r.Source)
	for port, allowed := range ports {
		if open[port] || !r.reaches(Rule{Type: "in", Proto: "tcp", DPort: port}) {
			continue
		}
		private := slices.ContainsFunc(wanted, func(w Rule) bool { return w.Proto == "" && w.Iface != "" && w.Iface == r.Iface })
		if !private && (!ok || !covers(allowed, p)) {
			return true
		}
	}
	return false
}

// purpose gives what a comment of ours says it is for.
func purpose(comment string) string {
	const key = " for="
	for i := range len(comment) {
		if rest := comment[i:]; len(rest) > len(key) && rest[:len(key)] == key {
			return rest[len(key):]
		}
	}
	return comment
}
