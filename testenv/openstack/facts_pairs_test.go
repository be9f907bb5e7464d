//go:build linux

package openstack_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pairs(addresses ...string) m {
	list := []any{}
	for _, address := range addresses {
		list = append(list, m{"ip_address": address})
	}
	return m{"allowed_address_pairs": list}
}

// pairsOf gives the addresses of a port's pairs, as they are.
func (a *api) pairsOf(port string) []string {
	a.t.Helper()
	addresses := []string{}
	for _, pair := range a.get("ports", port)["allowed_address_pairs"].([]any) {
		addresses = append(addresses, pair.(m)["ip_address"].(string))
	}
	return addresses
}

func TestAllowedAddressPairs(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	port := a.make("ports", with(fixed(s, ""), pairs("10.0.0.50", "10.0.0.51")))
	id := port["id"].(string)
	if mac := port["allowed_address_pairs"].([]any)[0].(m)["mac_address"]; mac != port["mac_address"] {
		t.Errorf("the MAC of a pair made without one: %v, want the port's", mac)
	}
	full := []string{}
	for i := range 10 {
		full = append(full, fmt.Sprintf("10.0.0.%d", 100+i))
	}
	for _, fact := range []struct {
		what    string
		set     []string
		want    string
		refused bool // it keeps what it had
	}{
		{what: "the list is replaced whole", set: []string{"10.0.0.52"}, want: "200"},
		{what: "outside the subnet, a prefix, IPv6", set: []string{"192.0.2.1", "198.51.100.0/24", "fd00::1"}, want: "200"},
		{what: "bits behind a prefix are kept", set: []string{"10.0.0.50/24"}, want: "200"},
		{what: "one address written in two ways is two pairs", set: []string{"10.0.0.50", "10.0.0.50/32"}, want: "200"},
		{what: "the port's own address", set: []string{port["fixed_ips"].([]any)[0].(m)["ip_address"].(string)}, want: "200"},
		{what: "ten", set: full, want: "200"},
		{what: "eleven", set: append(full, "10.0.0.111"), want: "400 AllowedAddressPairExhausted", refused: true},
		{what: "twice the same", set: []string{"10.0.0.50", "10.0.0.50"}, want: "400 DuplicateAddressPairInRequest", refused: true},
		{what: "no address", set: []string{"ten"}, want: "400 HTTPBadRequest", refused: true},
		{what: "none", set: []string{}, want: "200"},
	} {
		before := a.pairsOf(id)
		a.wants(fact.what, fact.want, a.update("ports", id, pairs(fact.set...)))
		want := fact.set
		if fact.refused {
			want = before
		}
		if diff := cmp.Diff(toSet(want), toSet(a.pairsOf(id))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fact.what, diff)
		}
	}
}

func toSet(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

func TestPairsNeedPortSecurity(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	off := m{"port_security_enabled": false, "security_groups": []any{}}
	a.wants("a port without port security", "201", a.create("ports", with(fixed(s, ""), off)))
	a.wants("one with a pair", "409 AddressPairAndPortSecurityRequired", a.create("ports", with(with(fixed(s, ""), off), pairs("10.0.0.50"))))
	id := a.makeID("ports", with(fixed(s, ""), pairs("10.0.0.50")))
	a.wants("off, with pairs", "409 AddressPairAndPortSecurityRequired", a.update("ports", id, off))
	network := a.makeID("networks", m{"name": "open", "port_security_enabled": false})
	subnet := a.makeID("subnets", m{"network_id": network, "ip_version": 4, "cidr": "10.5.0.0/24"})
	port := a.make("ports", m{"network_id": network, "fixed_ips": []any{m{"subnet_id": subnet}}})
	if port["port_security_enabled"] != false || len(port["security_groups"].([]any)) != 0 {
		t.Errorf("a port of a network without port security: %v, groups %v", port["port_security_enabled"], port["security_groups"])
	}
	a.wants("a group there", "400 PortSecurityAndIPRequiredForSecurityGroups",
		a.create("ports", m{"network_id": network, "security_groups": []any{a.makeID("security-groups", m{"name": "g"})}}))
}
