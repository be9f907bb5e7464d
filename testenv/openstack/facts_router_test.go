//go:build linux

package openstack_test

import (
	"strings"
	"testing"
)

func (a *api) addInterface(router string, body m) reply {
	a.t.Helper()
	return a.do("PUT", "routers/"+router+"/add_router_interface", body)
}

func (a *api) removeInterface(router, subnet string) reply {
	a.t.Helper()
	return a.do("PUT", "routers/"+router+"/remove_router_interface", m{"subnet_id": subnet})
}

func TestRouterInterfaces(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	again := a.addInterface(s.router, m{"subnet_id": s.subnet})
	a.wants("an interface again", "400 BadRequest", again)
	if !strings.Contains(again.message, "already has a port on subnet") {
		t.Errorf("an interface again: %s", again.message)
	}
	second := a.makeID("routers", m{"name": "second"})
	a.wants("a second router at the gateway's address", "409 IpAddressAlreadyAllocated", a.addInterface(second, m{"subnet_id": s.subnet}))
	a.wants("a second router at another address", "200", a.addInterface(second, m{"port_id": a.port(s, "10.0.0.9")}))
	network := a.makeID("networks", m{"name": "other"})
	overlapping := a.makeID("subnets", m{"network_id": network, "ip_version": 4, "cidr": "10.0.0.0/25"})
	a.wants("an overlapping subnet", "400 BadRequest", a.addInterface(s.router, m{"subnet_id": overlapping}))
	silent := a.makeID("subnets", m{"network_id": network, "ip_version": 4, "cidr": "10.9.0.0/24", "gateway_ip": nil})
	a.wants("a subnet without a gateway", "400 BadRequest", a.addInterface(s.router, m{"subnet_id": silent}))
	a.wants("removing what is not there", "404 RouterInterfaceNotFoundForSubnet", a.removeInterface(s.router, silent))

	third := a.makeID("routers", m{"name": "third"})
	verdicts := together(4, func() string { return a.addInterface(third, m{"subnet_id": overlapping}).verdict })
	if verdicts[0] != "200" || verdicts[1] == "200" {
		t.Errorf("the same interface at once: %v, want one", verdicts)
	}
}

func TestRouterGateway(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	gateway := func(info m) m { return m{"external_gateway_info": info} }
	a.wants("the same gateway again", "200", a.update("routers", s.router, gateway(m{"network_id": a.public()})))
	a.wants("a network that is not external", "400 BadRequest", a.update("routers", s.router, gateway(m{"network_id": s.network})))
	a.wants("a network not there", "404 NetworkNotFound", a.update("routers", s.router, gateway(m{"network_id": missing})))
	a.wants("with source NAT by a member", "403 PolicyNotAuthorized",
		a.create("routers", gateway(m{"network_id": a.public(), "enable_snat": true})))
	a.wants("with an address by a member", "403 PolicyNotAuthorized",
		a.create("routers", gateway(m{"network_id": a.public(), "external_fixed_ips": []any{m{"ip_address": "203.0.113.206"}}})))
	a.wants("a port on the external network by a member", "403 HTTPForbidden", a.create("ports", m{"network_id": a.public()}))
	if subnets := a.names("subnets", "network_id="+a.public()); len(subnets) != 0 {
		t.Errorf("a member sees subnets of the external network: %v", subnets)
	}
}

func TestOrderOfRemoval(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	port := a.port(s, "")
	floating := a.floating(m{"port_id": port})["id"].(string)
	routerPort := a.do("GET", "ports?device_id="+s.router+"&device_owner=network:router_interface", nil).body["ports"].([]any)[0].(m)["id"].(string)
	remove := func(path string) reply { return a.do("DELETE", path, nil) }

	a.wants("the interface before the floating address", "409 RouterInterfaceInUseByFloatingIP", a.removeInterface(s.router, s.subnet))
	a.wants("the gateway before the floating address", "409 RouterExternalGatewayInUseByFloatingIp",
		a.update("routers", s.router, m{"external_gateway_info": m{}}))
	a.wants("the floating address", "204", remove("floatingips/"+floating))
	a.wants("the router before its interface", "409 RouterInUse", remove("routers/"+s.router))
	a.wants("the interface as a port", "409 ServicePortInUse", remove("ports/"+routerPort))
	a.wants("the subnet before a port", "409 SubnetInUse", remove("subnets/"+s.subnet))
	a.wants("the network before a port", "409 NetworkInUse", remove("networks/"+s.network))
	a.wants("the port", "204", remove("ports/"+port))
	a.wants("the subnet before the router's interface", "409 SubnetInUse", remove("subnets/"+s.subnet))
	a.wants("the interface", "200", a.removeInterface(s.router, s.subnet))
	a.wants("the interface again", "404 RouterInterfaceNotFoundForSubnet", a.removeInterface(s.router, s.subnet))
	a.wants("the router", "204", remove("routers/"+s.router))
	a.wants("the network with its subnet", "204", remove("networks/"+s.network))
	for path, want := range map[string]string{
		"ports/" + port: "404 PortNotFound", "routers/" + s.router: "404 RouterNotFound",
		"subnets/" + s.subnet: "404 SubnetNotFound", "networks/" + s.network: "404 NetworkNotFound",
	} {
		a.wants(path+" again", want, remove(path))
	}
}

func TestSubnets(t *testing.T) {
	a := facts(t, nil)
	s := a.site(true)
	subnet := func(change m) m {
		return with(m{"network_id": s.network, "ip_version": 4, "cidr": "10.1.0.0/24"}, change)
	}
	for _, fact := range []struct {
		what   string
		change m
		want   string
	}{
		{"the same prefix in a network", m{"cidr": "10.0.0.0/24"}, "400 InvalidInput"},
		{"an overlapping prefix in a network", m{"cidr": "10.0.0.0/25"}, "400 InvalidInput"},
		{"a pool outside", m{"allocation_pools": []any{m{"start": "10.2.0.5", "end": "10.2.0.9"}}}, "400 OutOfBoundsAllocationPool"},
		{"a pool with the gateway", m{"allocation_pools": []any{m{"start": "10.1.0.1", "end": "10.1.0.9"}}}, "409 GatewayConflictWithAllocationPools"},
		{"six name servers", m{"dns_nameservers": []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6"}}, "400 DNSNameServersExhausted"},
		{"a name server twice", m{"dns_nameservers": []string{"192.0.2.1", "192.0.2.1"}}, "400 HTTPBadRequest"},
	} {
		a.wants(fact.what, fact.want, a.create("subnets", subnet(fact.change)))
	}
	if made := a.make("subnets", subnet(m{"cidr": "10.1.0.7/24"})); made["cidr"] != "10.1.0.0/24" {
		t.Errorf("bits behind a prefix: %v", made["cidr"])
	}
	a.port(s, "10.0.0.5")
	a.wants("pools that leave a port outside", "200",
		a.update("subnets", s.subnet, m{"allocation_pools": []any{m{"start": "10.0.0.200", "end": "10.0.0.210"}}}))
	a.wants("another gateway under a router", "409 GatewayIpInUse", a.update("subnets", s.subnet, m{"gateway_ip": "10.0.0.254"}))
}
