//go:build linux

package openstack_test

import (
	"testing"

	"homeward/testenv/openstack"
)

func TestQuotaOfEveryKind(t *testing.T) {
	a := facts(t, openstack.Quota{openstack.Networks: 1, openstack.Subnets: 1, openstack.Ports: 2, openstack.Routers: 1,
		openstack.FloatingIPs: 1, openstack.Groups: 2, openstack.GroupRules: 7})
	s := a.site(true) // its router's interface is not held to the quota of ports
	for range 2 {
		a.port(s, "")
	}
	a.floating(nil)
	group := a.makeID("security-groups", m{"name": "g"}) // beside the default group with its four rules
	a.make("security-group-rules", web(group, nil))
	for collection, fields := range map[string]m{
		"networks": {}, "subnets": {"network_id": s.network, "ip_version": 4, "cidr": "10.1.0.0/24"}, "ports": fixed(s, ""), "routers": {},
		"floatingips": {"floating_network_id": a.public()}, "security-groups": {"name": "h"}, "security-group-rules": web(group, m{"port_range_max": 90}),
	} {
		r := a.create(collection, fields)
		a.wants("one more of "+collection, "409 OverQuota", r)
		if want := "Quota exceeded for resources: ['" + kindOf(collection) + "']."; r.message != want {
			t.Errorf("one more of %s: %q, want %q", collection, r.message, want)
		}
	}
	must(t, lab.SetQuota(t.Context(), a.project.ID, openstack.Quota{openstack.Groups: 3}))
	a.wants("a group whose own two rules are too many", "409 OverQuota", a.create("security-groups", m{"name": "h"}))
	details := a.do("GET", "quotas/"+a.project.ID+"/details.json", nil)
	a.wants("a member's look at the quota", "200", details)
	if used := details.body["quota"].(m)["port"].(m); used["limit"] != 2.0 || used["used"] != 2.0 {
		t.Errorf("ports: %v, want two of two used", used)
	}
}
