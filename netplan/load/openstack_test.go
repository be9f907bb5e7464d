package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

func TestOpenStackKeysArrive(t *testing.T) {
	p := mustLoad(t, read(t, "openstack-full.yaml")).Plan
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"provider", p.Provider, netplan.OpenStack},
		{"url", p.OpenStack.URL, "https://openstack.example.edu:5000/v3"},
		{"external_net", p.OpenStack.ExternalNet, "public"},
		{"region", p.OpenStack.Region, "RegionTwo"},
		{"availability_zone", p.OpenStack.AvailabilityZone, "az1"},
		{"kubeapi_address", p.OpenStack.KubeAPI.Fixed.String(), "192.0.2.5"},
		{"kubeapi_floating_ip", p.OpenStack.KubeAPI.Floating.String(), "203.0.113.81"},
		{"ingress_address", p.OpenStack.Ingress.Fixed.String(), "192.0.2.10"},
		{"ingress_floating_ip", p.OpenStack.Ingress.Floating.String(), "203.0.113.80"},
		{"network.cidr at its second place", p.Cluster.CIDR.String(), "192.0.2.0/24"},
		{"machines.*.address", p.Machines[3].Address.String(), "192.0.2.61"},
		{"machines.*.macs.cluster", p.Machines[3].MACs.Cluster.String(), "fa:16:3e:00:00:01"},
		{"class", p.Ingress.Class, "nginx"},
		{"policy", p.Ingress.ExternalTrafficPolicy, "Local"},
		{"pin", p.Ingress.Pin, "annotation"},
		{"endpoint", p.KubeAPI.Endpoint, "https://api.example.edu:6443"},
		{"sans", strings.Join(p.KubeAPI.SANs, " "), "192.0.2.5 203.0.113.81 api.example.edu api2.example.edu"},
		{"security", len(p.Security), 4},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

// A file that other tools keep, flavors, disks and NTP servers in it.
func TestOpenStackFileOfOtherTools(t *testing.T) {
	r := mustLoad(t, read(t, "openstack.yaml"))
	if len(r.Plan.Warnings) > 0 {
		t.Errorf("warnings %v", r.Plan.Warnings)
	}
	var unused []string
	for _, k := range r.Unused {
		unused = append(unused, k.Path)
	}
	want := []string{"controlplane.flavor", "controlplane.disk", "workers.worker.flavor", "workers.worker.disk", "network.ntp"}
	if diff := cmp.Diff(want, unused); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
}

func TestOpenStackMistakes(t *testing.T) {
	const section = "  external_net: public"
	for name, c := range map[string]struct {
		edit
		want []string
	}{
		"typo":                     {edit{section, "  extrnal_net: public"}, []string{"14: openstack.extrnal_net: unknown key: did you mean external_net?"}},
		"far from every known key": {edit{section, section + "\n  keypair: me"}, []string{"15: openstack.keypair: unknown key: known here are url, external_net, region, availability_zone, kubeapi_address, kubeapi_floating_ip, ingress_address, ingress_floating_ip"}},
		"no network":               {edit{section + "\n", ""}, []string{"11: openstack.external_net: missing: give the network that floating IPs come from, by name or id, like public"}},
		"an empty section":         {edit{read(t, "openstack.yaml")[strings.Index(read(t, "openstack.yaml"), "openstack:"):], "openstack:\n"}, []string{"11: openstack: has no value: give a map of its keys, or remove the key"}},
		"a list":                   {edit{"openstack:\n", "openstack: []\nx:\n"}, []string{"11: openstack: is a list: give a map of its keys"}},
		"a typo of the section":    {edit{"openstack:\n", "openstak:\n"}, []string{"11: openstak: unknown key: did you mean openstack?"}},
		"fixed outside": {edit{section, section + "\n  ingress_address: 10.9.9.9"}, []string{
			"15: openstack.ingress_address: 10.9.9.9 is no host's address in 192.0.2.0/24: give one in 192.0.2.2-192.0.2.254 (network.cidr, line 8)"}},
		"a pool": {edit{section, section + "\n  ingress_address: 192.0.2.10-192.0.2.20"}, []string{`15: openstack.ingress_address: "192.0.2.10-192.0.2.20" is not an IPv4 address`}},
		"two-NIC keys": {edit{"network:\n", "network:\n  external: {vlan: 1691, cidr: 203.0.113.0/25}\n  cluster: {vlan: 7, kubeapi_vip: 192.0.2.9}\n"}, []string{
			"8: network.external: has no meaning on OpenStack: a router and floating IPs lead outside there, leave it out (the addresses are chosen by openstack.kubeapi_address, ingress_address and the floating IPs beside them)",
			"9: network.cluster.kubeapi_vip: has no meaning on OpenStack: give it as openstack.kubeapi_address",
			"9: network.cluster.vlan: has no meaning on OpenStack: a tenant network has no tag, leave it out",
		}},
		"the pool's NIC, also when it is true": {edit{"worker: {count: 3,", "worker: {external: true, count: 3,"}, []string{
			"6: workers.worker.external: has no meaning on OpenStack: its machines have one NIC, leave it out"}},
		"the resolver is the router": {edit{"[198.51.100.53]", "[192.0.2.1]"}, []string{
			"9: network.dns: 192.0.2.1 is the router's, the network's first address, and no resolver: give one that answers outside (network.cidr, line 8)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mistakes(t, with(t, read(t, "openstack.yaml"), c.old, c.new))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Loading refuses on OpenStack exactly what the table marks as Proxmox's.
func TestOnlyOnProxmox(t *testing.T) {
	s := compiled(t)
	samples := map[kind]string{
		text: "some", boolean: "true", number: "200", mark: "0x1000", mask: "0x1000", addr: "192.0.2.66", cidr: "192.0.2.0/24",
		mac: `"bc:24:11:00:00:09"`, ranges: "192.0.2.1", texts: "some", verify: "true", addrs: "192.0.2.66", sources: "192.0.2.0/24",
	}
	for _, k := range keys {
		if k.kind == section || k.kind >= foreign || within(k.path, "security") {
			continue
		}
		for _, path := range []string{k.path, k.also} {
			if path == "" || within(path, "proxmox") {
				continue
			}
			t.Run(path, func(t *testing.T) {
				file := openStackWith(strings.NewReplacer("workers.*", "workers.worker", "machines.*", "machines.edge-worker-01").Replace(path), samples[k.kind])
				refused := false
				for _, m := range mistakes(t, file) {
					refused = refused || strings.Contains(m, "has no meaning on OpenStack")
				}
				if want := onlyWith(path) == netplan.Proxmox || onlyWith(k.path) == netplan.Proxmox; want != refused {
					t.Errorf("refused: %t, want %t:\n%s%v", refused, want, file, mistakes(t, file))
				}
				if refused && s.Validate(inJSON(t, file)) == nil {
					t.Errorf("the schema takes it:\n%s", file)
				}
			})
		}
	}
}

// openStackWith is a small plan with one more key, which it may have already.
func openStackWith(path, value string) string {
	doc := map[string]string{
		"name": "edge", "talos.version": "v1.13.9", "controlplane.count": "3", "workers.worker.count": "3",
		"network.cidr": "192.0.2.0/24", "openstack.external_net": "public",
	}
	if path == "network.cluster.cidr" {
		delete(doc, "network.cidr")
	}
	doc[path] = value
	tree := map[string]any{}
	for path, value := range doc {
		at := tree
		names := strings.Split(path, ".")
		for _, n := range names[:len(names)-1] {
			if at[n] == nil {
				at[n] = map[string]any{}
			}
			at = at[n].(map[string]any)
		}
		at[names[len(names)-1]] = value
	}
	return flow(tree)
}

// flow writes a tree as YAML with the values as they are.
func flow(tree map[string]any) string {
	var parts []string
	for name, v := range tree {
		if below, ok := v.(map[string]any); ok {
			v = flow(below)
		}
		parts = append(parts, fmt.Sprintf("%s: %s", name, v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestOneProvider(t *testing.T) {
	both := read(t, "openstack.yaml") + "proxmox:\n  url: https://pve.example.edu:8006\n"
	want := []string{"11: openstack: stands beside proxmox: a plan has one provider, remove the other's section (proxmox, line 19)"}
	if diff := cmp.Diff(want, mistakes(t, both)); diff != "" {
		t.Error(diff)
	}
	t.Run("credentials belong elsewhere", func(t *testing.T) {
		r := mustLoad(t, with(t, read(t, "openstack.yaml"), "  external_net", "  credential_secret: hunter2\n  external_net"))
		if len(r.Plan.Warnings) != 1 || !strings.Contains(r.Plan.Warnings[0].Message, EnvCredentialSecret) || strings.Contains(fmt.Sprint(r), "hunter2") {
			t.Errorf("warnings %v", r.Plan.Warnings)
		}
	})
	t.Run("in clear text", func(t *testing.T) {
		r := mustLoad(t, with(t, read(t, "openstack.yaml"), "https://", "http://"))
		if len(r.Plan.Warnings) != 1 || r.Plan.Warnings[0].Path != "openstack.url" {
			t.Errorf("warnings %v", r.Plan.Warnings)
		}
	})
}
