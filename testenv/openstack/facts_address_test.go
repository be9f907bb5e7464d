//go:build linux

package openstack_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/openstack"
)

func TestNamesAreNotUnique(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	for collection, fields := range map[string]m{
		"networks": {}, "ports": {"network_id": s.network}, "routers": {}, "security-groups": {},
		"subnets": {"network_id": s.network, "ip_version": 4, "cidr": "10.0.1.0/24"},
	} {
		a.make(collection, with(fields, m{"name": "twice"}))
		if collection == "subnets" {
			fields["cidr"] = "10.0.2.0/24"
		}
		a.wants("a second of "+collection+" with that name", "201", a.create(collection, with(fields, m{"name": "twice"})))
	}
	a.wants("a group called default", "409 SecurityGroupDefaultAlreadyExists", a.create("security-groups", m{"name": "default"}))
}

func TestFixedAddressIsTheMutex(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	a.port(s, "10.0.0.5")
	for _, fact := range []struct{ what, address, want string }{
		{"a free one", "10.0.0.6", "201"},
		{"one that a port has", "10.0.0.5", "409 IpAddressAlreadyAllocated"},
		{"the gateway, which the router's port has", "10.0.0.1", "409 IpAddressAlreadyAllocated"},
		{"the network's own", "10.0.0.0", "400 InvalidIpForSubnet"},
		{"the broadcast address", "10.0.0.255", "400 InvalidIpForSubnet"},
		{"outside the subnet", "10.0.1.5", "400 InvalidIpForSubnet"},
		{"no address", "ten", "400 HTTPBadRequest"},
	} {
		a.wants(fact.what, fact.want, a.create("ports", fixed(s, fact.address)))
	}
	id := a.port(s, "")
	a.wants("moving a port to one that another has", "409 IpAddressAlreadyAllocated",
		a.update("ports", id, m{"fixed_ips": []any{m{"subnet_id": s.subnet, "ip_address": "10.0.0.5"}}}))

	a.wants("the gateway where there is no router", "201", a.create("ports", fixed(a.site(false), "10.0.0.1")))
}

func TestOneOfManyGetsTheFixedAddress(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	verdicts := together(8, func() string { return a.create("ports", fixed(s, "10.0.0.77")).verdict })
	want := append([]string{"201"}, slices.Repeat([]string{"409 IpAddressAlreadyAllocated"}, 7)...)
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("eight at once (-want +got):\n%s", diff)
	}
}

// together asks n times at once and gives the sorted answers.
func together(n int, ask func() string) []string {
	answers := make([]string, n)
	var asking sync.WaitGroup
	for i := range answers {
		asking.Go(func() { answers[i] = ask() })
	}
	asking.Wait()
	slices.Sort(answers)
	return answers
}

// An address outside the allocation pools is never given to who asks for any, and
// may be asked for by name.
func TestAddressOutsideThePools(t *testing.T) {
	a := facts(t, nil)
	s := site{network: a.makeID("networks", m{"name": "net"})}
	s.subnet = a.makeID("subnets", m{"network_id": s.network, "ip_version": 4, "cidr": "10.0.0.0/29",
		"allocation_pools": []any{m{"start": "10.0.0.2", "end": "10.0.0.3"}}})
	a.wants("by name", "201", a.create("ports", fixed(s, "10.0.0.5")))
	for range 2 {
		a.port(s, "")
	}
	a.wants("any, when the pool is empty", "409 IpAddressGenerationFailure", a.create("ports", fixed(s, "")))
	a.wants("another by name", "201", a.create("ports", fixed(s, "10.0.0.4")))
}

func TestBulkPorts(t *testing.T) {
	a := facts(t, openstack.Quota{openstack.Ports: 5})
	s := a.site(false)
	bulk := func(addresses ...string) reply {
		var list []any
		for _, address := range addresses {
			list = append(list, fixed(s, address))
		}
		return a.do("POST", "ports", m{"ports": list})
	}
	count := func(what string, want int) {
		t.Helper()
		if n := len(a.names("ports", "network_id="+s.network)); n != want {
			t.Errorf("%s: %d ports, want %d", what, n, want)
		}
	}
	a.wants("three", "201", bulk("10.0.0.5", "10.0.0.6", ""))
	count("three", 3)
	a.wants("three of two left", "409 OverQuota", bulk("10.0.0.21", "10.0.0.22", "10.0.0.23"))
	count("three of two left: none is made", 3)
	a.wants("what a refused quota has left", "201", a.create("ports", fixed(s, "10.0.0.21")))
}

// Of a bulk that fails no port is made, but addresses that it had been given stay
// taken, by nothing, until the subnet goes. A port alone loses none.
func TestFailedBulkLosesAddresses(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	a.port(s, "10.0.0.5")
	bulk := func(one, other string) reply {
		return a.do("POST", "ports", m{"ports": []any{fixed(s, one), fixed(s, other)}})
	}
	const taken = "409 IpAddressAlreadyAllocated"
	a.wants("the second taken", taken, bulk("10.0.0.6", "10.0.0.5"))
	a.wants("its first, alone", taken, a.create("ports", fixed(s, "10.0.0.6")))
	a.wants("the first taken", taken, bulk("10.0.0.5", "10.0.0.7"))
	a.wants("its second, alone", "201", a.create("ports", fixed(s, "10.0.0.7")))
	a.wants("the second wrong", "400 InvalidIpForSubnet", bulk("10.0.0.8", "10.0.9.8"))
	a.wants("its first, alone", taken, a.create("ports", fixed(s, "10.0.0.8")))
	a.wants("the same twice", taken, bulk("10.0.0.9", "10.0.0.9"))
	a.wants("it, alone", taken, a.create("ports", fixed(s, "10.0.0.9")))
	if n := len(a.names("ports", "network_id="+s.network)); n != 2 {
		t.Errorf("%d ports, want the two that were made alone", n)
	}

	for what, more := range map[string]m{
		"a group not there": {"security_groups": []any{missing}},
		"eleven pairs": pairs("10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4", "10.1.0.5", "10.1.0.6", "10.1.0.7", "10.1.0.8", "10.1.0.9",
			"10.1.0.10", "10.1.0.11"),
	} {
		if r := a.create("ports", with(fixed(s, "10.0.0.30"), more)); r.verdict[0] != '4' {
			t.Errorf("a port with %s: %s", what, r.verdict)
		}
	}
	a.wants("a second address taken", taken, a.create("ports", m{"network_id": s.network, "fixed_ips": []any{m{"ip_address": "10.0.0.30"}, m{"ip_address": "10.0.0.5"}}}))
	a.wants("what they asked for", "201", a.create("ports", fixed(s, "10.0.0.30")))

	for _, port := range a.do("GET", "ports?network_id="+s.network, nil).body["ports"].([]any) {
		a.wants("a port's end", "204", a.do("DELETE", "ports/"+port.(m)["id"].(string), nil))
	}
	a.wants("the subnet's end", "204", a.do("DELETE", "subnets/"+s.subnet, nil))
	s.subnet = a.makeID("subnets", m{"network_id": s.network, "ip_version": 4, "cidr": "10.0.0.0/24"})
	a.wants("a lost address in the new subnet", "201", a.create("ports", fixed(s, "10.0.0.6")))
}

func TestMACAddress(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	made := a.make("ports", with(fixed(s, ""), m{"mac_address": "02:00:00:00:00:11"}))
	if made["mac_address"] != "02:00:00:00:00:11" {
		t.Errorf("a port made with a MAC has %v", made["mac_address"])
	}
	a.wants("the same MAC in the network", "409 MacAddressInUse", a.create("ports", with(fixed(s, ""), m{"mac_address": "02:00:00:00:00:11"})))
	a.wants("another MAC later", "403 PolicyNotAuthorized", a.update("ports", made["id"].(string), m{"mac_address": "02:00:00:00:00:12"}))
	a.wants("the same MAC in another network", "201", a.create("ports", with(fixed(a.site(false), ""), m{"mac_address": "02:00:00:00:00:11"})))
	if mac, _ := a.make("ports", fixed(s, ""))["mac_address"].(string); mac[:8] != "fa:16:3e" {
		t.Errorf("a MAC of Neutron's choice: %s", mac)
	}
}
