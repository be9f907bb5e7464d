package inventory

import (
	"net/netip"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// texts are all that a survey and its verdict say.
func texts(s *Survey, v Verdict) []string {
	out := append([]string{}, s.Notes...)
	out = append(out, s.Own.Faults...)
	for _, c := range s.Claims {
		out = append(out, c.Source, c.Remedy, c.Accept)
	}
	for _, u := range s.Unread {
		out = append(out, u.Source, u.Reason)
	}
	for _, g := range s.Own.Guests {
		out = append(out, g.Differs...)
	}
	for _, c := range append(v.Conflicts, v.Warnings...) {
		out = append(out, c.String())
	}
	return out
}

// hostile puts one text everywhere that somebody else names things.
func hostile(text string) *Snapshot {
	mac := netplan.MAC{0xbc, 0x24, 0x11, 0, 0, 1}
	g := vm(113, text, text, "net1: virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=1691", "ipconfig1: ip=203.0.113.75/25")
	g.Live = []LiveAddress{{Interface: text, MAC: mac, Address: netip.MustParseAddr("203.0.113.76")}}
	copy := vm(114, text, text, nic1b)
	trunk := vm(115, text, text, "net0: virtio=BC:24:11:00:00:02,bridge=vmbr0", "net1: "+text, "ipconfig0: "+text)
	silent := vm(116, text, text, "net1: virtio=BC:24:11:00:00:03,bridge=vmbr0,tag=1691", "ipconfig1: "+text)
	return &Snapshot{
		Guests: []Guest{g, copy, trunk, silent, vm(202, "edge-worker-01", text, nic1a, nic1b)},
		Nodes: []Node{{Name: text, Interfaces: []Interface{
			{Name: "vmbr0", Type: "bridge", Ports: []string{text}}, {Name: text, Type: text, VLANRaw: "vmbr0", VLAN: 1691, VIDs: text, Addresses: prefixes("203.0.113.77/25")}}}},
		Zones:   []Zone{{Name: text, Type: "vlan", Bridge: "vmbr0", IPAM: text}},
		VNets:   []VNet{{Name: text, Zone: text, Tag: 1691}},
		Subnets: []Subnet{{ID: text, VNet: text, Zone: text, CIDR: netip.MustParsePrefix("203.0.113.0/25"), Gateway: netip.MustParseAddr("203.0.113.78")}},
		IPAM:    []IPAMEntry{{Address: netip.MustParseAddr("203.0.113.79"), Zone: text, VNet: text, Hostname: text}},
		Sets:    []IPSet{{Name: text, Members: []Member{{CIDR: "203.0.113.75"}, {CIDR: text}}}, {VMID: 113, Scope: text, Name: "ipfilter-net1", Members: []Member{{CIDR: text}}}},
		Aliases: []Alias{{Name: text, CIDR: netip.MustParsePrefix("203.0.113.75/32")}, {VMID: 113, Name: text, CIDR: netip.MustParsePrefix("203.0.113.76/32")}},
	}
}

func TestHostileNamesAreQuoted(t *testing.T) {
	for name, text := range map[string]string{
		"escape":    "\x1b]0;owned\x07\x1b[2J",
		"newline":   "db1\nVM 1 \"root\" on pve1",
		"long":      strings.Repeat("A", 4<<10),
		"not UTF-8": "\xff\xfe\x00",
		"bidi":      "a\u202egpj.exe",
	} {
		t.Run(name, func(t *testing.T) { checkHostile(t, text) })
	}
	survey := checkHostile(t, "web\x1b[31m")
	// The test sees something only where the texts got through.
	count := 0
	for _, c := range survey.Claims {
		if strings.Contains(c.Source, `web\x1b[31m`) {
			count++
		}
	}
	if count < 8 {
		t.Errorf("only %d claims name what the text names", count)
	}
}

func checkHostile(t *testing.T, text string) *Survey {
	t.Helper()
	plan := edgePlan(t)
	survey, err := Take(plan, hostile(text))
	if err != nil {
		return nil
	}
	for _, said := range texts(survey, Judge(plan, survey, nil)) {
		if strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("says %q", said)
		}
		if len(said) > 1500 {
			t.Errorf("says %d bytes: %q", len(said), said)
		}
	}
	return survey
}

func FuzzTake(f *testing.F) {
	for _, text := range []string{"db1", "virtio=BC:24:11:00:00:01,bridge=vmbr0", "203.0.113.0/25", "vmbr0.1691", "eno1", "hw-vmbr0-1691", "ip=dhcp", "2-4094", "dc/x", "vlan1691", "\x1b\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHostile(t, text) })
}

func FuzzParsers(f *testing.F) {
	f.Add("ip=203.0.113.20/25,gw=203.0.113.1,ip6=auto")
	f.Add("2 10-20;30")
	f.Add("start-address=10.0.0.50,end-address=10.0.0.99")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseIPConfig(text); err == nil && c.Address.IsValid() && !c.Address.Addr().Is4() {
			t.Errorf("%q has address %s", text, c.Address)
		}
		set, err := ParseVLANs(text)
		for _, r := range set {
			if err == nil && (r.First < 1 || r.Last > maxVLAN || r.Last < r.First || !set.Contains(r.Last)) {
				t.Errorf("%q has VLANs %v", text, r)
			}
		}
		if r, err := ParseDHCPRange(text); err == nil && r.Count() < 1 {
			t.Errorf("%q is range %s", text, r)
		}
		if p, err := ParseProperties(text); err == nil && p.String() != text {
			t.Errorf("%q became %q", text, p)
		}
	})
}

func TestParseDHCPRange(t *testing.T) {
	for text, want := range map[string]string{
		"start-address=10.0.0.50,end-address=10.0.0.99": "10.0.0.50-10.0.0.99",
		"start-address=10.0.0.50,end-address=10.0.0.50": "10.0.0.50/32",
		"start-address=10.0.0.99,end-address=10.0.0.50": "it ends at 10.0.0.50, before it starts at 10.0.0.99",
		"start-address=10.0.0.99":                       `end-address "" is not an IPv4 address`,
		"10.0.0.1":                                      `start-address "" is not an IPv4 address`,
	} {
		r, err := ParseDHCPRange(text)
		got := r.String()
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
