package guests

import (
	"net/netip"
	"strings"

	"homeward/agent/ledger/inventory"
)

// firewall is which of Proxmox's two firewalls a node runs.
type firewall string

const (
	older firewall = "iptables and ebtables"
	newer firewall = "nftables"
)

// packet is something that a guest sends or gets.
type packet struct {
	out bool
	arp bool
	nic string
	// address is the sender's.
	address netip.Addr
	proto   string
	// sport and dport as a rule names them.
	sport, dport string
}

// passes says what becomes of a packet, from what the firewalls' configuration
// says: a pure model of what counts for these tests.
func (f *fake) passes(w firewall, p packet) bool {
	nic, err := inventory.ParseNIC(inventory.QEMU, f.Current[p.nic])
	if err != nil {
		return false
	}
	if f.Datacenter["enable"] != "1" || f.Options["enable"] != "1" || !nic.Firewall {
		return true
	}
	if p.out {
		return f.leaves(w, p)
	}
	for _, r := range f.Rules {
		if r["enable"] == "1" && r["type"] == "in" && matches(r, p) {
			return r["action"] == "ACCEPT"
		}
	}
	return f.Options["policy_in"] == "ACCEPT"
}

// leaves judges what the guest sends.
func (f *fake) leaves(w firewall, p packet) bool {
	set := f.Sets[filterSet(p.nic)]
	listed, literals, alias := false, 0, false
	if set != nil {
		for _, m := range set.Members {
			prefix, ok := literal(m.CIDR)
			switch {
			case !ok:
				alias = true
			case prefix.Addr().Is4() && !m.NoMatch:
				literals++
				listed = listed || prefix.Contains(p.address)
			}
		}
	}
	ipfilter := f.Options["ipfilter"] == "1"
	if w == newer {
		if ipfilter && !listed {
			return false
		}
	} else if p.arp {
		// An alias makes it skip the whole layer-2 filter; without a member there
		// is nothing to filter by.
		if literals > 0 && !alias && !listed {
			return false
		}
	} else if (set != nil || ipfilter) && !listed {
		return false
	}
	if p.arp {
		return true
	}
	for _, r := range f.Rules {
		if r["enable"] == "1" && r["type"] == "out" && matches(r, p) {
			return r["action"] == "ACCEPT"
		}
	}
	return f.Options["policy_out"] == "" || f.Options["policy_out"] == "ACCEPT"
}

func matches(r map[string]string, p packet) bool {
	fits := func(have, want string) bool { return have == "" || have == want }
	if !fits(r["iface"], p.nic) || !fits(r["proto"], p.proto) || !fits(r["dport"], p.dport) || !fits(r["sport"], p.sport) {
		return false
	}
	source, ok := literal(r["source"])
	return r["source"] == "" || ok && source.Contains(p.address)
}

// traffic is what must never be cut off: what the node announces and sends, and
// what the plan lets in.
func traffic(d Desired, a Actual) []packet {
	cards, err := nics(a.Config)
	if err != nil {
		panic(err)
	}
	private, _ := d.Private.locate(cards, d.External.MAC)
	external, _ := d.External.locate(cards, d.Private.MAC)
	net0, net1 := nicKey(private), nicKey(external)
	var out []packet
	for _, m := range d.Members {
		out = append(out,
			packet{out: true, arp: true, nic: net1, address: m.Prefix.Addr()},
			packet{out: true, nic: net1, address: m.Prefix.Addr(), proto: "tcp", dport: "443"})
	}
	for _, m := range d.PrivateMembers {
		out = append(out,
			packet{out: true, arp: true, nic: net0, address: m.Prefix.Addr()},
			packet{out: true, nic: net0, address: m.Prefix.Addr(), proto: "tcp", dport: "443"})
	}
	for _, o := range d.Openings {
		p := packet{nic: net1, address: netip.MustParseAddr("192.0.2.200"), proto: o.Proto}
		if o.Private {
			p.nic = net0
		}
		if o.Source.IsValid() {
			p.address = o.Source.Addr()
		}
		r := o.rule(mark{d.Owner}, net0)
		p.dport, p.sport = r.DPort, r.SPort
		if p.proto == "" {
			p.proto, p.dport = "tcp", "10250"
		}
		out = append(out, p)
	}
	return out
}

// String shows a packet in a failure.
func (p packet) String() string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "out ", false: "in "}[p.out] + map[bool]string{true: "ARP ", false: "IPv4 "}[p.arp])
	b.WriteString(p.nic + " from " + p.address.String() + " " + p.proto + " to port " + p.dport)
	return b.String()
}
