package inventory

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

func TestJudge(t *testing.T) {
	r := func(text string) netplan.Range {
		t.Helper()
		out, err := netplan.ParseRange(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const nothing, warns, refuses = "nothing", "warning", "conflict"
	for _, c := range []struct {
		name  string
		claim Claim
		want  string
	}{
		{"outside the plan", Claim{Kind: GuestConfig, Range: r("203.0.113.74")}, nothing},
		{"below the pool's first", Claim{Kind: GuestConfig, Range: r("203.0.113.75")}, refuses},
		{"the pool's last", Claim{Kind: GuestConfig, Range: r("203.0.113.78")}, refuses},
		{"the VIP", Claim{Kind: NodeAddress, Range: r("203.0.113.79")}, refuses},
		{"above the VIP", Claim{Kind: NodeAddress, Range: r("203.0.113.80")}, nothing},
		{"an anchor", Claim{Kind: GuestLive, Range: r("169.254.38.3")}, refuses},
		{"a machine's real address", Claim{Kind: GuestConfig, Range: r("203.0.113.61")}, refuses},
		{"a DHCP range that ends in the pool", Claim{Kind: DHCPRange, Range: r("203.0.113.2-203.0.113.75")}, refuses},
		{"a DHCP range around it all", Claim{Kind: DHCPRange, Range: r("203.0.113.2-203.0.113.126")}, refuses},
		{"an alias of one address", Claim{Kind: FirewallAlias, Range: r("203.0.113.75"), Accept: "alias dc/x"}, refuses},
		{"an alias of a part of the network", Claim{Kind: FirewallAlias, Range: r("203.0.113.72/29"), Accept: "alias dc/x"}, warns},
		{"a machine's own anchor", Claim{Kind: GuestConfig, Range: r("169.254.38.3"), Machine: "edge-worker-02"}, nothing},
		{"a machine with another's anchor", Claim{Kind: GuestConfig, Range: r("169.254.38.3"), Machine: "edge-worker-01"}, refuses},
		{"a machine's own real address", Claim{Kind: GuestConfig, Range: r("203.0.113.61"), Machine: "edge-worker-01"}, nothing},
		{"a pool address in a machine's configuration", Claim{Kind: GuestConfig, Range: r("203.0.113.76"), Machine: "edge-worker-01"}, refuses},
		{"a pool address live on a machine", Claim{Kind: GuestLive, Range: r("203.0.113.76"), Machine: "edge-worker-01"}, warns},
		{"the VIP live on a machine", Claim{Kind: GuestLive, Range: r("203.0.113.79"), Machine: "edge-controlplane-01"}, nothing},
		{"the VIP in a machine's configuration", Claim{Kind: GuestConfig, Range: r("203.0.113.79"), Machine: "edge-controlplane-01"}, refuses},
		{"an IPAM entry", Claim{Kind: SDNIPAM, Range: r("203.0.113.75"), MAC: netplan.MAC{2, 9}}, refuses},
		{"the owner's own IPAM entry", Claim{Kind: SDNIPAM, Range: r("203.0.113.75"), MAC: netplan.MAC{2, 75}}, nothing},
		{"that MAC on a guest", Claim{Kind: GuestConfig, Range: r("203.0.113.75"), MAC: netplan.MAC{2, 75}}, refuses},
		{"a MAC of the plan", Claim{Kind: PlanMAC, MAC: netplan.MAC{2, 1}}, refuses},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours := func(a netip.Addr) netplan.MAC { return netplan.MAC{2, a.As4()[3]} }
			v := Judge(edgePlan(t), &Survey{Claims: []Claim{c.claim}}, ours)
			got := nothing
			switch {
			case len(v.Conflicts) > 0 && len(v.Warnings) > 0:
				got = "both"
			case len(v.Conflicts) > 0:
				got = refuses
			case len(v.Warnings) > 0:
				got = warns
			}
			if got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, v)
			}
		})
	}
}

// Of a range that meets several planned addresses each use is a conflict, with the
// addresses that they share.
func TestJudgeNamesTheSharedAddresses(t *testing.T) {
	span, err := netplan.ParseRange("203.0.113.60-203.0.113.76")
	if err != nil {
		t.Fatal(err)
	}
	v := Judge(edgePlan(t), &Survey{Claims: []Claim{{Kind: DHCPRange, Range: span, Source: "the range"}}}, nil)
	var got []string
	for _, c := range v.Conflicts {
		got = append(got, c.String())
	}
	want := []string{
		"203.0.113.61 (external_address of edge-worker-01): the range has 203.0.113.60-203.0.113.76",
		"203.0.113.75-203.0.113.76 (ingress): the range has 203.0.113.60-203.0.113.76",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAccept(t *testing.T) {
	plan := edgePlan(t)
	survey, err := Take(plan, richSnapshot())
	if err != nil {
		t.Fatal(err)
	}
	before := Judge(plan, survey, nil)
	after, unused := before.Accept([]string{"alias dc/ingress-vip", "ipset dc/web", "alias dc/typo", `VM 113 "db1" on pve2, net1, ipconfig1`})
	if diff := cmp.Diff([]string{"alias dc/typo", `VM 113 "db1" on pve2, net1, ipconfig1`}, unused); diff != "" {
		t.Errorf("unused: %s", diff)
	}
	if len(before.Conflicts)-len(after.Conflicts) != 3 || len(after.Warnings)-len(before.Warnings) != 3 {
		t.Errorf("of %d conflicts and %d warnings became %d and %d, want the alias and two members of the set to change sides",
			len(before.Conflicts), len(before.Warnings), len(after.Conflicts), len(after.Warnings))
	}
	for _, c := range after.Conflicts {
		if c.Claim.Source == "alias dc/ingress-vip" {
			t.Errorf("%s is still a conflict", c)
		}
	}
}

func TestTakeNeedsAnExternalLink(t *testing.T) {
	plan := edgePlan(t)
	plan.External = nil
	if _, err := Take(plan, &Snapshot{}); err == nil {
		t.Error("took a survey of no segment")
	}
	if got := PlannedOn(plan); got != nil {
		t.Errorf("planned on no link: %v", got)
	}
}
