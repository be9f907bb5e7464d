package inventory

import (
	"net/netip"
	"testing"
)

func TestParseSubnetID(t *testing.T) {
	for id, want := range map[string]struct{ zone, cidr string }{
		"lab-10.0.0.0-24":      {"lab", "10.0.0.0/24"},
		"my-lab-10.0.0.0-24":   {"my-lab", "10.0.0.0/24"},
		"lab-2001:db8::-64":    {"lab", "2001:db8::/64"},
		"lab-10.0.0.0":         {},
		"10.0.0.0-24":          {},
		"lab-10.0.0.0-33":      {},
		"lab-10.0.0-24":        {},
		"":                     {},
		"lab-10.0.0.0-24-more": {},
	} {
		t.Run(id, func(t *testing.T) {
			zone, cidr, err := ParseSubnetID(id)
			if want.cidr == "" {
				if err == nil {
					t.Errorf("it became %q, %s", zone, cidr)
				}
				return
			}
			if err != nil || zone != want.zone || cidr != netip.MustParsePrefix(want.cidr) {
				t.Errorf("%q, %s, %v", zone, cidr, err)
			}
		})
	}
}
