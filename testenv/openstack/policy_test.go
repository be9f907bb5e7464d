//go:build linux

package openstack_test

import (
	"strings"
	"testing"

	"homeward/testenv/openstack"
)

// A cloud may forbid what the defaults allow: by the answer nobody but its text says
// what of the port it was.
func TestPolicyThatForbidsAMAC(t *testing.T) {
	a := facts(t, nil)
	s := a.site(false)
	t.Cleanup(func() { must(t, lab.SetPolicy(nil)) })
	must(t, lab.SetPolicy(openstack.Policy{"create_port:mac_address": "rule:admin_only"}))
	mac := with(fixed(s, ""), m{"mac_address": "02:00:00:00:00:11"})
	r := a.create("ports", mac)
	a.wants("a port with a MAC", "403 PolicyNotAuthorized", r)
	if !strings.Contains(r.message, "create_port:mac_address") {
		t.Errorf("it says %q", r.message)
	}
	a.wants("a port without", "201", a.create("ports", fixed(s, "")))
	must(t, lab.SetPolicy(nil))
	a.wants("a port with a MAC, by default", "201", a.create("ports", mac))
}
