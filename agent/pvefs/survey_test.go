package pvefs

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/netplan"
)

// What stands in the files is enough for a survey: the same as over the API, but
// for the other nodes' interfaces.
func TestSurveyFromFiles(t *testing.T) {
	s, err := Read(host())
	if err != nil {
		t.Fatal(err)
	}
	plan := &netplan.Plan{External: &netplan.External{
		Segment: netplan.Segment{VNet: "v1691"}, CIDR: netip.MustParsePrefix("203.0.113.0/25"), AnchorCIDR: netip.MustParsePrefix("169.254.32.0/20"),
	}}
	survey, err := inventory.Take(plan, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := (netplan.Segment{Bridge: "vmbr0", VLAN: 1691}); survey.Segment != want {
		t.Errorf("the VNet is %s, want %s", survey.Segment, want)
	}
	var got []string
	for _, c := range survey.Claims {
		line := inventory.Addresses(c.Range) + " " + c.Source
		if c.Pending {
			line += ", pending"
		}
		got = append(got, line)
	}
	want := []string{
		"203.0.113.1 SDN subnet 203.0.113.0/25, VNet v1691, gateway",
		"203.0.113.11 node pve1, vmbr0.1691",
		"203.0.113.75 alias dc/ingress-vip",
		`203.0.113.75 alias guest/self of VM 113 "db1" on pve1`,
		`203.0.113.75 VM 113 "db1" on pve1, net1, ipconfig1`,
		`203.0.113.75 VM 113 "db1" on pve1, ipfilter-net1`,
		`203.0.113.78 CT 120 "dns" on pve2, net0, pending`,
		"203.0.113.78 ipset dc/web",
		`203.0.113.100 IPAM pve, zone zv, VNet v1691, VM 113 "db1" on pve1`,
		"203.0.113.100-203.0.113.110 SDN subnet 203.0.113.0/25, VNet v1691, dhcp-range",
		`203.0.113.101 IPAM pve, zone zv, VNet v1691, VM 114 "odd" on pve2`,
		"203.0.113.120-203.0.113.121 SDN subnet 203.0.113.0/25, VNet v1691, dhcp-range, pending",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
