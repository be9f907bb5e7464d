package talosgen_test

import (
	"strings"
	"testing"

	"homeward/netplan"
	"homeward/talosgen"
)

func TestRoleOf(t *testing.T) {
	for _, c := range []struct{ name, base, want, text string }{
		{"a control plane", "version: v1alpha1\nmachine:\n  type: controlplane\n", "controlplane", ""},
		{"a worker behind another document", "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n---\nversion: v1alpha1\nmachine: {type: worker}\n", "worker", ""},
		{"another type", "machine:\n  type: hunter2\n", "", "line 2"},
		{"no machine", "kind: Pod\n", "", "talosctl gen config"},
		{"nothing", "", "", "talosctl gen config"},
		{"no YAML", "a: [hunter2\n", "", "not valid YAML"},
	} {
		t.Run(c.name, func(t *testing.T) {
			role, err := talosgen.RoleOf([]byte(c.base))
			if role != netplan.Role(c.want) {
				t.Errorf("role %q, want %q", role, c.want)
			}
			if c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("error %v, want %q in it", err, c.text)
			}
		})
	}
}
