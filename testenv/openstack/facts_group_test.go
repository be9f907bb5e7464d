//go:build linux

package openstack_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// web is a rule that lets TCP port 80 in from everywhere.
func web(group string, change m) m {
	return with(m{"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp",
		"port_range_min": 80, "port_range_max": 80}, change)
}

func (a *api) rules(group string) []any {
	a.t.Helper()
	return a.get("security-groups", group)["security_group_rules"].([]any)
}

func TestRulesOfAGroup(t *testing.T) {
	a := facts(t, nil)
	group := a.makeID("security-groups", m{"name": "g", "description": "d"})
	for _, rule := range a.rules(group) {
		if r := rule.(m); r["direction"] != "egress" || r["protocol"] != nil || r["remote_ip_prefix"] != nil {
			t.Errorf("a new group lets in: %v", r)
		}
	}
	if n := len(a.rules(group)); n != 2 {
		t.Errorf("a new group has %d rules, want one for each family", n)
	}
	const exists = "409 SecurityGroupRuleExists"
	for _, fact := range []struct {
		what   string
		change m
		want   string
	}{
		{"the first", nil, "201"},
		{"the same", nil, exists},
		{"from 0.0.0.0/0", m{"remote_ip_prefix": "0.0.0.0/0"}, exists},
		{"another description", m{"description": "other"}, exists},
		{"the protocol by number", m{"protocol": "6"}, exists},
		{"the protocol in capitals", m{"protocol": "TCP"}, exists},
		{"from an address", m{"remote_ip_prefix": "198.51.100.7"}, "201"},
		{"from its /32", m{"remote_ip_prefix": "198.51.100.7/32"}, exists},
		{"from a prefix", m{"remote_ip_prefix": "198.51.100.0/24"}, "201"},
		{"from the prefix with bits behind it", m{"remote_ip_prefix": "198.51.100.7/24"}, "201"},
		{"from the other family", m{"remote_ip_prefix": "fd00::/64"}, "400 SecurityGroupRuleParameterConflict"},
		{"ports the wrong way", m{"port_range_min": 90}, "400 SecurityGroupInvalidPortRange"},
		{"from the group itself, everything", m{"protocol": nil, "port_range_min": nil, "port_range_max": nil, "remote_group_id": group}, "201"},
		{"of a group not there", m{"security_group_id": missing}, "404 SecurityGroupNotFound"},
	} {
		a.wants(fact.what, fact.want, a.create("security-group-rules", web(group, fact.change)))
	}
	texts := map[string]bool{}
	for _, r := range a.rules(group) {
		texts[fmt.Sprint(r.(m)["remote_ip_prefix"], " is ", r.(m)["normalized_cidr"])] = true
	}
	want := map[string]bool{"<nil> is <nil>": true, "198.51.100.7/32 is 198.51.100.7/32": true,
		"198.51.100.0/24 is 198.51.100.0/24": true, "198.51.100.7/24 is 198.51.100.0/24": true}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("prefixes as they are listed (-want +got):\n%s", diff)
	}
}

func TestRulesInBulk(t *testing.T) {
	a := facts(t, nil)
	group := a.makeID("security-groups", m{"name": "g"})
	bulk := func(rules ...any) reply {
		return a.do("POST", "security-group-rules", m{"security_group_rules": rules})
	}
	port := func(n int) m { return web(group, m{"port_range_min": n, "port_range_max": n}) }
	a.wants("two", "201", bulk(port(80), port(443)))
	a.wants("a new one and one that is there", "409 SecurityGroupRuleExists", bulk(port(6443), port(80)))
	a.wants("a new one twice", "409 DuplicateSecurityGroupRuleInPost", bulk(port(6443), port(6443)))
	a.wants("of two groups", "400 SecurityGroupNotSingleGroupRules",
		bulk(port(6443), web(a.makeID("security-groups", m{"name": "h"}), nil)))
	if n := len(a.rules(group)); n != 4 {
		t.Errorf("%d rules, want the first two and those of a new group: all or nothing", n)
	}
	want := append([]string{"201"}, slices.Repeat([]string{"409 SecurityGroupRuleExists"}, 3)...)
	if diff := cmp.Diff(want, together(4, func() string { return a.create("security-group-rules", port(50000)).verdict })); diff != "" {
		t.Errorf("the same at once (-want +got):\n%s", diff)
	}
}

func TestGroupInUse(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	group := a.makeID("security-groups", m{"name": "g"})
	port := a.get("ports", a.port(s, ""))
	id, groups := port["id"].(string), port["security_groups"].([]any)
	if len(groups) != 1 || a.get("security-groups", groups[0].(string))["name"] != "default" {
		t.Errorf("a port made without a group has %v", groups)
	}
	a.wants("a group of its own", "200", a.update("ports", id, m{"security_groups": []any{group}}))
	a.wants("a group not there", "404 SecurityGroupNotFound", a.update("ports", id, m{"security_groups": []any{missing}}))
	a.wants("deleting a group in use", "409 SecurityGroupInUse", a.do("DELETE", "security-groups/"+group, nil))
	a.wants("no group", "200", a.update("ports", id, m{"security_groups": []any{}}))
	a.wants("deleting it", "204", a.do("DELETE", "security-groups/"+group, nil))
	a.wants("deleting it again", "404 SecurityGroupNotFound", a.do("DELETE", "security-groups/"+group, nil))
	a.wants("deleting a rule not there", "404 SecurityGroupRuleNotFound", a.do("DELETE", "security-group-rules/"+missing, nil))
}
