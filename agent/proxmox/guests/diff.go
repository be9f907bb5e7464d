package guests

import (
	"fmt"
	"strings"

	"homeward/agent/ledger/inventory"
)

// Options are what an operator allows.
type Options struct {
	// AllowReplug lets a running guest lose a NIC for a moment.
	AllowReplug bool
}

// Diff gives the requests that bring a guest to what it should be, in the order in
// which they must be made (see the package), and what only an operator may do. The
// zero Surroundings are one of which nothing is known. It fails for a guest that is
// not the machine's and for one whose NICs cannot be read; then nothing may be
// changed.
func Diff(d Desired, a Actual, s Surroundings, o Options) (Difference, error) {
	if err := d.check(a); err != nil {
		return Difference{}, err
	}
	cards, err := nics(a.Config)
	if err != nil {
		return Difference{}, fmt.Errorf("%s: %w", a, err)
	}
	b := &builder{d: d, a: a, s: s, o: o, m: mark{d.Owner}}
	private, hasPrivate := d.Private.locate(cards, d.External.MAC)
	external, hasExternal := d.External.locate(cards, d.Private.MAC)
	var staleMembers, staleRules []Step
	if d.hasExternal() {
		staleMembers = b.filter(nicKey(external))
	}
	staleRules = b.rules(nicKey(private))
	blocked := b.blockers(nicKey(private))
	b.options(blocked)
	b.card(d.Private, private, cards, hasPrivate, blocked)
	if d.hasExternal() {
		b.card(d.External, external, cards, hasExternal, blocked)
	}
	b.Steps = append(append(b.Steps, staleRules...), staleMembers...)
	b.privateFilter(nicKey(private))
	b.Switches = b.switches(cards, private, external)
	return b.Difference, nil
}

// check refuses a guest that is not the machine's.
func (d Desired) check(a Actual) error {
	if d.Owner.ID == "" {
		return fmt.Errorf("changing %s: no owner: nothing could be found again", a)
	}
	if !d.ours(a) {
		why := "neither its name nor a MAC is"
		switch {
		case a.Template:
			why = "it is a template"
		case d.Machine.VMID != 0 && d.Machine.VMID != a.VMID:
			why = fmt.Sprintf("the plan gives it vmid %d", d.Machine.VMID)
		}
		return fmt.Errorf("%s is not %s: %s", a, d.Machine.Name, why)
	}
	return nil
}

// blockers are why the firewall must not be put in force by us: what would then
// cut the cluster off is not ours to remove.
func (b *builder) blockers(private string) []string {
	var out []string
	if policy := strings.ToUpper(b.a.Options["policy_out"]); policy != "" && policy != "ACCEPT" {
		out = append(out, "policy_out is "+policy+", so that nothing would go out that no rule lets out")
	}
	last := -1
	for _, r := range b.a.Rules {
		if b.m.made(r.Comment) {
			last = r.Pos
		}
	}
	for _, r := range b.a.Rules {
		// A rule of ours that is yet to be made stands before all others.
		if r.blocks() && (r.Type != "in" || r.Pos < last) && !b.m.made(r.Comment) {
			out = append(out, fmt.Sprintf("the rule %s, which is not ours, would come into force before ours", r))
		}
	}
	if why := b.privateFilterFault(private); why != "" {
		out = append(out, why)
	}
	return out
}

// options switches the guest's firewall on, default deny: by now every rule of ours
// stands.
func (b *builder) options(blocked []string) {
	if !b.d.Governs() {
		return
	}
	change := make(map[string]string)
	if !b.a.on("enable") {
		change["enable"] = "1"
	}
	if policy := strings.ToUpper(b.a.Options["policy_in"]); policy != "DROP" && policy != "REJECT" {
		change["policy_in"] = "DROP"
	}
	if len(change) == 0 {
		return
	}
	if change["enable"] != "" && len(blocked) > 0 {
		b.item([]string{pvesh("set", b.a.plainPath("firewall/options"), change)},
			"the guest's firewall is off, so that no rule counts; it is left off because %s", strings.Join(blocked, "; "))
		return
	}
	words := "deny what no rule lets in"
	if change["enable"] != "" {
		words = "switch the guest's firewall on, and " + words
	}
	b.step(partOptions, put(b.path("firewall", "options"), values(change)), "%s", words).guard(b.a.OptionsDigest)
}

// Switches are the three that must all be on for a rule to count, as they were
// read: "on", "off", "unknown", and empty for a NIC that is not there.
type Switches struct {
	Datacenter string `json:"datacenter"`
	Guest      string `json:"guest"`
	Private    string `json:"private_nic,omitempty"`
	External   string `json:"external_nic,omitempty"`
}

func (b *builder) switches(cards map[int]inventory.NIC, private, external int) Switches {
	s := Switches{Datacenter: "unknown", Guest: onOff(b.a.on("enable"))}
	if b.s.Datacenter != nil {
		s.Datacenter = onOff(truth(b.s.Datacenter["enable"]))
	}
	if nic, ok := cards[private]; ok {
		s.Private = onOff(nic.Firewall)
	}
	if nic, ok := cards[external]; ok && b.d.hasExternal() {
		s.External = onOff(nic.Firewall)
	}
	return s
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
