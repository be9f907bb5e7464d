package openstack

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What a first reserve does, as a dry run shows it.
func TestTheStepsOfAFirstReserve(t *testing.T) {
	for name, p := range map[string]*netplan.Plan{
		"small": planOf(t),
		"chosen": planOf(t, choose("10.0.0.5", "10.0.0.6"), floatingIPs("203.0.113.80", ""), machine("edge-worker-01", "10.0.0.61", "bc:24:11:00:00:01"), func(s *netplan.Spec) {
			port := 9100
			s.Security = append(s.Security, netplan.AllowSpec{Name: "metrics", Port: &port, Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}, "all": {prefix("0.0.0.0/0")}}},
				netplan.AllowSpec{Name: "http", Hosts: map[string][]netip.Prefix{"office": {prefix("198.51.100.0/24")}}})
		}),
		"alone": planOf(t, func(s *netplan.Spec) { s.Workers, s.Security, s.DNS = nil, nil, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := For(p, owner)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld()
			w.allocated("203.0.113.80")
			a := &Actual{}
			for i := 0; w.list(a, d.query(), i); i++ {
			}
			h := Resolve(d, a)
			if len(h.Conflicts) > 0 {
				t.Fatal(h.Conflicts)
			}
			var b strings.Builder
			for _, s := range Diff(d, h) {
				fmt.Fprintln(&b, s)
			}
			golden(t, filepath.Join("testdata", name+".steps"), b.String())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Neutron chooses from what neither the gateway nor the plan has.
func TestPools(t *testing.T) {
	for _, c := range []struct {
		with []func(*netplan.Spec)
		cidr string
		want string
	}{
		{nil, "10.0.0.0/29", "10.0.0.2-10.0.0.6"},
		{[]func(*netplan.Spec){choose("10.0.0.2", "10.0.0.6")}, "10.0.0.0/29", "10.0.0.3-10.0.0.5"},
		{[]func(*netplan.Spec){choose("10.0.0.4", "10.0.0.5")}, "10.0.0.0/29", "10.0.0.2-10.0.0.3 10.0.0.6-10.0.0.6"},
		{[]func(*netplan.Spec){choose("10.0.0.254", ""), machine("edge-worker-01", "10.0.0.2", "")}, "10.0.0.0/24", "10.0.0.3-10.0.0.253"},
	} {
		p := planOf(t, append(c.with, func(s *netplan.Spec) { s.Cluster.CIDR = prefix(c.cidr) })...)
		d, err := For(p, owner)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, pool := range d.Subnet.Pools {
			got = append(got, fmt.Sprintf("%s-%s", pool[0], pool[1]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("of %s: %v, want %s", c.cidr, got, c.want)
		}
	}
}

// Rules that mean the same are equal, however Neutron says them.
func TestRulesAsNeutronSaysThem(t *testing.T) {
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		wire wireRule
		want Rule
		same bool
	}{
		{wireRule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", From: number(80), To: number(80)}, tcp(80, netip.Prefix{}), true},
		{wireRule{Direction: "ingress", EtherType: "IPv4", Protocol: "6", From: number(80), To: number(80), Source: prefix("0.0.0.0/0")}, tcp(80, prefix("0.0.0.0/0")), true},
		{wireRule{Direction: "egress", EtherType: "IPv4", Protocol: "any"}, Rule{Egress: true}, true},
		{wireRule{Direction: "ingress", EtherType: "IPv4", Protocol: "icmp"}, Rule{Protocol: "icmp"}, true},
		{wireRule{Direction: "ingress", EtherType: "IPv4", Protocol: "icmp", From: number(0), To: number(0)}, Rule{Protocol: "icmp"}, false},
		{wireRule{Direction: "ingress", EtherType: "IPv6", Protocol: "tcp", From: number(80), To: number(80)}, tcp(80, netip.Prefix{}), false},
		{wireRule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", From: number(80), To: number(80), AddressGroup: "g"}, tcp(80, netip.Prefix{}), false},
	} {
		if got := c.wire.rule().Rule; (got == c.want) != c.same {
			t.Errorf("%+v is %+v", c.wire, got)
		}
	}
}
