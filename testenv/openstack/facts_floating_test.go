//go:build linux

package openstack_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/openstack"
)

// floating takes a floating address of the public network.
func (a *api) floating(fields m) m {
	a.t.Helper()
	return a.make("floatingips", with(m{"floating_network_id": a.public()}, fields))
}

func (a *api) adopt(id, port string) reply {
	a.t.Helper()
	return a.update("floatingips", id, m{"port_id": port})
}

func TestFloatingAddressOfChoice(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	const chosen = "203.0.113.205" // outside the range, so that no other test gets it
	a.wants("chosen by a member", "403 PolicyNotAuthorized",
		a.create("floatingips", m{"floating_network_id": a.public(), "floating_ip_address": chosen}))
	id := a.asAdmin().makeID("floatingips", m{"floating_network_id": a.public(), "floating_ip_address": chosen, "project_id": a.project.ID})
	found := a.do("GET", "floatingips?floating_ip_address="+chosen, nil).body["floatingips"].([]any)
	if len(found) != 1 || found[0].(m)["id"] != id {
		t.Fatalf("found by its address: %v", found)
	}
	port, other := a.port(s, ""), a.port(s, "")
	a.wants("adopted", "200", a.adopt(id, port))
	a.wants("adopted again", "200", a.adopt(id, port))
	a.wants("taken away for another port, without a word", "200", a.adopt(id, other))
	a.wants("deleting the port", "204", a.do("DELETE", "ports/"+other, nil))
	if left := a.get("floatingips", id); left["port_id"] != nil || left["floating_ip_address"] != chosen {
		t.Errorf("a floating address after its port: %v", left)
	}
	foreign, client := member(t, nil)
	stranger := &api{t, client, foreign}
	a.wants("of another project", "404 FloatingIPNotFound", stranger.do("GET", "floatingips/"+id, nil))
	a.wants("deleting it", "204", a.do("DELETE", "floatingips/"+id, nil))
	a.wants("deleting it again", "404 FloatingIPNotFound", a.do("DELETE", "floatingips/"+id, nil))
}

func TestFloatingAddressOfAPort(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	port := a.port(s, "")
	ask := m{"floating_network_id": a.public(), "port_id": port}
	want := append([]string{"201"}, slices.Repeat([]string{"409 FloatingIPPortAlreadyAssociated"}, 3)...)
	if diff := cmp.Diff(want, together(4, func() string { return a.create("floatingips", ask).verdict })); diff != "" {
		t.Errorf("four at once (-want +got):\n%s", diff)
	}
	free := a.floating(nil)["id"].(string)
	a.wants("a second one of the port", "409 FloatingIPPortAlreadyAssociated", a.adopt(free, port))
	a.wants("a port that is not there", "404 PortNotFound", a.adopt(free, missing))
	a.wants("another one not there", "404 FloatingIPNotFound", a.adopt(missing, port))
	unrouted := a.port(a.site(false), "")
	a.wants("a port without a router", "404 ExternalGatewayForFloatingIPNotFound", a.adopt(free, unrouted))
	a.wants("a new one for a port without a router", "404 ExternalGatewayForFloatingIPNotFound",
		a.create("floatingips", m{"floating_network_id": a.public(), "port_id": unrouted}))
	a.wants("from a network that is not external", "400 BadRequest", a.create("floatingips", m{"floating_network_id": s.network}))

	// One at a time it is certain; at once, both are told 200.
	a.wants("one address for two ports, the first", "200", a.adopt(free, a.port(s, "")))
	a.wants("one address for two ports, the second", "200", a.adopt(free, a.port(s, "")))
}

// missing is the id of nothing.
const missing = "b0b3ce0d-bba2-4b7a-9b0a-a8f5e7d1a111"

func TestFloatingPoolEmpty(t *testing.T) {
	a := facts(t, nil)
	external, err := lab.NewExternal(t.Context(), openstack.External{Name: "tiny", Subnet: netip.MustParsePrefix("198.51.100.0/24"),
		Floating: openstack.Range{First: netip.MustParseAddr("198.51.100.10"), Last: netip.MustParseAddr("198.51.100.11")}})
	must(t, err)
	t.Cleanup(func() { must(t, lab.DeleteExternal(contextOf(t), external)) })
	router := a.makeID("routers", m{"external_gateway_info": m{"network_id": external}})
	floating := a.makeID("floatingips", m{"floating_network_id": external})
	a.wants("one more", "409 IpAddressGenerationFailure", a.create("floatingips", m{"floating_network_id": external}))
	a.wants("a router, which takes one too", "409 IpAddressGenerationFailure",
		a.create("routers", m{"external_gateway_info": m{"network_id": external}}))
	a.wants("for a port behind another external network", "404 ExternalGatewayForFloatingIPNotFound",
		a.adopt(floating, a.port(a.site(true), "")))
	a.wants("its end", "204", a.do("DELETE", "floatingips/"+floating, nil))
	a.wants("the router's end", "204", a.do("DELETE", "routers/"+router, nil))
}
