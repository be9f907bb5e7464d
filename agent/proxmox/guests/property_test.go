package guests

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"homeward/netplan"
)

// anyGuest is a guest in a state that somebody, or an earlier run, may have left.
func anyGuest(r *rand.Rand, d Desired) *fake {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	m := mark{d.Owner}
	f := &fake{
		Name: d.Machine.Name, Running: r.IntN(4) > 0, Config: map[string]string{}, Current: map[string]string{},
		Options: map[string]string{}, Sets: map[string]*fakeSet{}, Datacenter: map[string]string{"enable": pick("1", "1", "0")},
	}
	for key, values := range map[string][]string{
		"enable": {"", "0", "1", "1"}, "policy_in": {"", "ACCEPT", "DROP", "REJECT"}, "policy_out": {"", "", "", "DROP"}, "ipfilter": {"", "", "1"},
	} {
		if v := pick(values...); v != "" {
			f.Options[key] = v
		}
	}
	for i, c := range []Card{d.Private, d.External} {
		if r.IntN(6) == 0 {
			continue
		}
		nic := pick("virtio", "virtio", "e1000") + "=" + strings.ToUpper(c.MAC.String()) + ",bridge=" + pick(c.Bridge, c.Bridge, "vmbr7") +
			pick("", ",firewall=1", ",firewall=1", ",firewall=0") + pick("", ",mtu=1", ",mtu=1400") + pick("", ",queues=4,rate=2.5") + pick("", ",tag=1691", ",tag=7,trunks=8;9")
		f.Config[nicKey(i)], f.Current[nicKey(i)] = nic, nic
	}
	for _, name := range []string{"ipfilter-net0", "ipfilter-net1", "homeward-ipfilter-net1"} {
		if r.IntN(2) == 0 {
			f.Sets[name] = anySet(r, d, name)
		}
	}
	for range r.IntN(6) {
		one := map[string]string{"type": "in", "action": pick("ACCEPT", "ACCEPT", "DROP"), "enable": pick("0", "1", "1"),
			"proto": "tcp", "dport": pick("22", "6443", "9100", "80"), "comment": pick("by hand", "", "homeward/1 owner=ffffffffffffffff cluster=edge for=icmp")}
		switch r.IntN(6) {
		case 0:
			one = map[string]string{"type": pick("out", "in"), "action": pick("DROP", "REJECT"), "enable": "1", "comment": "closed"}
		case 1, 2:
			o := d.Openings[r.IntN(len(d.Openings))].rule(m, "net0")
			one = map[string]string{"type": o.Type, "action": o.Action, "enable": pick("0", "1", "1"), "comment": o.Comment}
			for k, v := range map[string]string{"iface": o.Iface, "source": o.Source, "proto": o.Proto, "dport": pick(o.DPort, o.DPort, "1"), "sport": o.SPort} {
				if v != "" {
					one[k] = v
				}
			}
		}
		f.Rules = append(f.Rules, one)
	}
	return f
}

func anySet(r *rand.Rand, d Desired, name string) *fakeSet {
	m := mark{d.Owner}
	set := &fakeSet{Comment: "by hand"}
	if strings.HasPrefix(name, "homeward-") {
		set.Comment = m.comment(forFilter)
	}
	for _, x := range append(slices.Clone(d.Members), d.PrivateMembers...) {
		if r.IntN(2) == 0 {
			set.Members = append(set.Members, fakeMember{CIDR: canonical(x.Prefix), Comment: []string{m.comment(x.For), "by hand"}[r.IntN(2)]})
		}
	}
	for _, x := range []fakeMember{
		{CIDR: "192.0.2.77", Comment: m.comment(forPool)}, {CIDR: "203.0.113.64/27", Comment: m.comment(forPool)}, {CIDR: "192.0.2.78", Comment: "by hand"}, {CIDR: "203.0.113.72/29", Comment: "wide"},
		{CIDR: "upstream", Comment: "an alias"}, {CIDR: "198.18.0.0/16", Comment: "not these", NoMatch: true}, {CIDR: "fe80::/10", Comment: "six"},
	} {
		if r.IntN(5) == 0 {
			set.Members = append(set.Members, x)
		}
	}
	return set
}

// TestApplyNeverCutsOff looks at every state between two requests, from many
// states: what passed either firewall at the start passes to the end, and what is
// foreign stays.
func TestApplyNeverCutsOff(t *testing.T) {
	p := edge(t)
	seen, passed := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := For(p, p.Machines[r.IntN(2)], owner)
		f := anyGuest(r, d)
		if d.Machine.VMID != 0 {
			d.Machine.VMID = fakeVMID
		}
		if r.IntN(4) == 0 {
			d.Openings = nil
		}
		start := f.clone()
		a, err := Read(t.Context(), f, f.at())
		if err != nil {
			t.Fatal(err)
		}
		packets := traffic(d, a)
		f.each = func() {
			seen++
			for _, w := range []firewall{older, newer} {
				for _, x := range packets {
					if !start.passes(w, x) {
						continue
					}
					passed++
					if !f.passes(w, x) && reachable(start, w, x) {
						t.Fatalf("seed %d, %s: %s does not pass any more after\n%s\nfrom %s\nto %s", seed, w, x, strings.Join(f.log, "\n"), start.state(), f.state())
					}
				}
			}
		}
		if _, err := apply(f, d, Options{AllowReplug: r.IntN(2) == 0}); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, start.state())
		}
		if lost := foreignLost(start, f, d); lost != "" {
			t.Fatalf("seed %d: %s is lost\nfrom %s\nto %s", seed, lost, start.state(), f.state())
		}
		f.each, f.writes = nil, 0
		if again, err := apply(f, d, Options{AllowReplug: true}); err != nil {
			t.Fatalf("seed %d: second run: %v", seed, err)
		} else if again, err = apply(f, d, Options{}); err != nil || len(again.Done) > 0 {
			t.Fatalf("seed %d: third run: %v: %v", seed, err, again.Done)
		}
	}
	if seen < 1_500 || passed < 20_000 {
		t.Fatalf("only %d states and %d packets were looked at", seen, passed)
	}
	t.Logf("%d states between requests, %d packets that had to pass", seen, passed)
}

// reachable says whether an ARP that passed was of use: the older firewall lets ARP
// through a set without IPv4 members, and drops every IPv4 packet from the same
// address.
func reachable(f *fake, w firewall, p packet) bool {
	p.arp = false
	return f.passes(w, p)
}

// foreignLost names something of others that was there at first and is not now.
func foreignLost(start, end *fake, d Desired) string {
	m := mark{d.Owner}
	for name, set := range start.Sets {
		for _, x := range set.Members {
			if !m.made(x.Comment) && !end.has(name, x.CIDR) && !end.has("ipfilter-net1", x.CIDR) && !m.made(set.Comment) {
				return "member " + x.CIDR + " of " + name
			}
		}
	}
	at := 0
	for _, rule := range start.Rules {
		if m.made(rule["comment"]) {
			continue
		}
		// In their order.
		for at < len(end.Rules) && fmt.Sprint(end.Rules[at]) != fmt.Sprint(rule) {
			at++
		}
		if at == len(end.Rules) {
			return fmt.Sprint("rule ", rule)
		}
		at++
	}
	for key, value := range start.Config {
		for _, option := range strings.Split(value, ",")[1:] {
			name, _, _ := strings.Cut(option, "=")
			if !slices.Contains([]string{"bridge", "tag", "firewall", "mtu"}, name) && !strings.Contains(end.Config[key], option) {
				return option + " of " + key
			}
		}
	}
	for key, value := range start.Options {
		if key != "enable" && key != "policy_in" && end.Options[key] != value {
			return "option " + key
		}
	}
	return ""
}

func TestCoversFindsExactlyWhatIsMissing(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		set := netplan.AddressSet{}
		for range 1 + r.IntN(3) {
			first := r.IntN(200)
			set = append(set, addressRange(t, fmt.Sprintf("203.0.113.%d-203.0.113.%d", first, first+r.IntN(50))))
		}
		all := prefixes(set.Merged()[0])
		for _, x := range set.Merged()[1:] {
			all = append(all, prefixes(x)...)
		}
		whole := prefixes(addressRange(t, "203.0.113.0/24"))[0]
		for _, p := range []int{24, 27, 30, 32} {
			for i := 0; i < 256; i += 1 << (32 - p) {
				probe := addressRange(t, fmt.Sprintf("203.0.113.%d/%d", i, p))
				want := true
				for _, a := range (netplan.AddressSet{probe}).Addresses() {
					want = want && set.Contains(a)
				}
				if got := covers(all, prefixes(probe)[0]); got != want {
					t.Fatalf("seed %d: covers(%v, %s) = %v", seed, all, probe, got)
				}
			}
		}
		if len(all) == 0 || !covers([]netip.Prefix{whole}, all[0]) {
			t.Fatal("a prefix does not cover its part")
		}
	}
}
