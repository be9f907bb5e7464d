package load

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Faults speak of the file's own layout, the second place where it is used.
func TestFaultsUseTheLayoutOfTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		edit
		want []string
	}{
		"missing key": {edit{"    gateway: 203.0.113.1\n", ""}, []string{
			"9: network.external.gateway: missing: give the router's address on the external link, like 203.0.113.1"}},
		"missing key that has one place only": {edit{"external: {bridge: vmbr0}", "external: {}"}, []string{
			"20: proxmox.network.external.bridge: missing: give the Proxmox bridge, like vmbr0, or a vnet"}},
		"the other party": {edit{"kubeapi_vip: 203.0.113.79", "kubeapi_vip: 203.0.113.76"}, []string{
			"14: network.external.kubeapi_vip: 203.0.113.76 is inside ingress_pool 203.0.113.75-203.0.113.78: give a free one, like 203.0.113.79 (network.external.ingress_pool, line 15)"}},
		"paths within the message": {edit{"cluster: {cidr: 10.0.0.0/24}", "cluster: {cidr: 203.0.113.0/24}"}, []string{
			"7: network.cluster.cidr: 203.0.113.0/24 overlaps network.external.cidr 203.0.113.0/25: give a network outside it (network.external.cidr, line 11)"}},
		"a key that is neither party": {edit{"gateway: 203.0.113.1\n    anchor_cidr: 169.254.32.0/20\n    kubeapi_vip: 203.0.113.79\n    ingress_pool: 203.0.113.75-203.0.113.78", "gateway: 203.0.113.1\n    anchor_cidr: 169.254.32.0/20\n    kubeapi_vip: 203.0.113.1\n    ingress_pool: 203.0.113.2-203.0.113.126"}, []string{
			"14: network.external.kubeapi_vip: 203.0.113.1 is also the gateway: no address is free: give 203.0.113.126, and shrink network.external.ingress_pool to 203.0.113.2-203.0.113.125 (network.external.gateway, line 12)"}},
		"a section that is missing": {edit{"proxmox:\n", "other:\n"}, []string{
			"1: proxmox: missing: give the provider's section, with network.cluster and network.external (or openstack, with external_net)"}},
		"a section with a wrong kind": {edit{"  external:\n    vlan: 1691", "  external: 5\nx:\n    vlan: 1691"}, []string{
			"9: network.external: is a number: give a map of its keys"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mistakes(t, with(t, read(t, "moved.yaml"), c.old, c.new))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
