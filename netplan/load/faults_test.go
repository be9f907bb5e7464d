package load

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edit is one change to testdata/seed.yaml.
type edit struct{ old, new string }

func TestMistakesInSeed(t *testing.T) {
	vlan := "vlan: 1691"
	pool := "ingress_pool: 203.0.113.75-203.0.113.78"
	gateway := "gateway: 203.0.113.1\n"
	for name, c := range map[string]struct {
		edit
		want []string
	}{
		"typo in a strict section":    {edit{vlan, "vlna: 1691"}, []string{"17: proxmox.network.external.vlna: unknown key: did you mean vlan?"}},
		"typo of something required":  {edit{"gateway: ", "gatewya: "}, []string{"19: proxmox.network.external.gatewya: unknown key: did you mean gateway?"}},
		"far from every known key":    {edit{vlan, "colour: red"}, []string{"17: proxmox.network.external.colour: unknown key: known here are bridge, vnet, vlan, mtu, cidr, gateway, gateway_onlink, anchor_cidr, kubeapi_vip, ingress_pool, dhcp_ranges, reserved"}},
		"typo in a lenient section":   {edit{"controlplane: {count", "controlplane: {coutn"}, []string{"4: controlplane.coutn: unknown key: did you mean count?"}},
		"typo of a whole section":     {edit{"network:\n  cidr", "netwrok:\n  cidr"}, []string{"7: netwrok: unknown key: did you mean network?"}},
		"typo of the provider":        {edit{"proxmox:", "promxox:"}, []string{"10: promxox: unknown key: did you mean proxmox?"}},
		"vlan as octal":               {edit{vlan, "vlan: 010"}, []string{`17: proxmox.network.external.vlan: "010" starts with a zero, which is octal to some tools: give 10`}},
		"vlan as 0o":                  {edit{vlan, "vlan: 0o17"}, []string{`17: proxmox.network.external.vlan: "0o17" is not a decimal number: give a whole number from 1 to 4094`}},
		"vlan as hexadecimal":         {edit{vlan, "vlan: 0x10"}, []string{`17: proxmox.network.external.vlan: "0x10" is hexadecimal: give 16`}},
		"vlan with underscore":        {edit{vlan, "vlan: 1_691"}, []string{`17: proxmox.network.external.vlan: "1_691" is not a decimal number: give a whole number from 1 to 4094`}},
		"vlan with a fraction":        {edit{vlan, "vlan: 1691.0"}, []string{`17: proxmox.network.external.vlan: "1691.0" is not a whole number: give a whole number from 1 to 4094`}},
		"vlan as boolean":             {edit{vlan, "vlan: true"}, []string{"17: proxmox.network.external.vlan: is a boolean: give a whole number from 1 to 4094"}},
		"vlan as list":                {edit{vlan, "vlan: [1691]"}, []string{"17: proxmox.network.external.vlan: is a list: give a whole number from 1 to 4094"}},
		"vlan as map":                 {edit{vlan, "vlan: {id: 1691}"}, []string{"17: proxmox.network.external.vlan: is a map: give a whole number from 1 to 4094"}},
		"vlan without value":          {edit{vlan, "vlan:"}, []string{"17: proxmox.network.external.vlan: has no value: give a whole number from 1 to 4094, or remove the key"}},
		"vlan huge":                   {edit{vlan, "vlan: 99999999999999999999"}, []string{`17: proxmox.network.external.vlan: "99999999999999999999" is out of range: give a whole number from 1 to 4094`}},
		"vlan out of range":           {edit{vlan, "vlan: -1"}, []string{"17: proxmox.network.external.vlan: -1 is not a VLAN: give 1 to 4094, or leave it out for untagged"}},
		"unknown tag":                 {edit{vlan, "vlan: !secret x"}, []string{`17: proxmox.network.external.vlan: is tagged ("!" begins a tag: put such a text in quotes): give a whole number from 1 to 4094`}},
		"address as number":           {edit{gateway, "gateway: 203.0\n"}, []string{"19: proxmox.network.external.gateway: is a number with a fraction: give an IPv4 address like 203.0.113.1"}},
		"address as list":             {edit{gateway, "gateway: [203.0.113.1]\n"}, []string{"19: proxmox.network.external.gateway: is a list: give an IPv4 address like 203.0.113.1"}},
		"address as IPv6":             {edit{gateway, "gateway: 2001:db8::1\n"}, []string{`19: proxmox.network.external.gateway: "2001:db8::1" is IPv6, which is not yet supported: give an IPv4 address`}},
		"network as IPv6":             {edit{"cidr: 10.0.0.0/24", "cidr: fd00::/64"}, []string{`8: network.cidr: "fd00::/64" is IPv6, which is not yet supported: give an IPv4 network`}},
		"name as number":              {edit{"name: edge", "name: 007"}, []string{`1: name: is a number: give text, in quotes ("007")`}},
		"name as boolean":             {edit{"name: edge", "name: true"}, []string{`1: name: is a boolean: give text, in quotes ("true")`}},
		"name empty":                  {edit{"name: edge", `name: ""`}, []string{"1: name: is an empty text: give a value, or remove the key"}},
		"name in two lines":           {edit{"name: edge", "name: |\n  ed\n  ge"}, []string{`1: name: "ed\nge\n" holds control characters or several lines`}},
		"version without quotes":      {edit{"talos: {version: v1.13.9}", "talos: {version: 1.13}"}, []string{`2: talos.version: is a number with a fraction: give text, in quotes (like "v1.13.9")`}},
		"template not rendered":       {edit{"name: edge", "name: {{ name }}"}, []string{"1: name: is a map in a map (a template that was not rendered?): give text like edge"}},
		"template as key":             {edit{vlan, "{{ vlan }}: 1"}, []string{"17: proxmox.network.external: a key here is a map in a map (a template that was not rendered?), not text"}},
		"section as list":             {edit{"controlplane: {count: 3}", "controlplane: [3]"}, []string{"4: controlplane: is a list: give a map of its keys"}},
		"section as text":             {edit{"talos: {version: v1.13.9}", "talos: v1.13.9"}, []string{"2: talos: is text: give a map of its keys"}},
		"section without anything":    {edit{"controlplane: {count: 3}", "controlplane:"}, []string{"4: controlplane: has no value: give a map of its keys, or remove the key"}},
		"pools as list":               {edit{"workers:\n  worker: {count: 3}", "workers:\n  - {count: 3}"}, []string{"5: workers: is a list: give a map of pools by name, like worker: {count: 3}"}},
		"pool as number":              {edit{"worker: {count: 3}", "worker: 3"}, []string{"6: workers.worker: is a number: give a map, like {count: 3}"}},
		"several external networks":   {edit{"external:\n", "external:\n      - name: a\n    other:\n"}, []string{"15: proxmox.network.external: is a list: several external networks are not yet supported; give the one as a map", "17: proxmox.network.other: unknown key: known here are cluster, external"}},
		"several pools with settings": {edit{pool, "ingress_pool: [{range: 203.0.113.75-203.0.113.78, gateway: 203.0.113.1}]"}, []string{"22: proxmox.network.external.ingress_pool[0]: is a map: several pools with settings of their own are not yet supported; give an address, a range like 203.0.113.75-203.0.113.78, a network, or a list of these"}},
		"pool shorthand":              {edit{pool, "ingress_pool: 203.0.113.75-78"}, []string{`22: proxmox.network.external.ingress_pool: range end "78" is not an address: give 203.0.113.75-203.0.113.78`}},
		"entries have their own line": {edit{pool, "ingress_pool:\n      - 203.0.113.75\n      - x\n      -\n      - [203.0.113.76]"}, []string{
			`24: proxmox.network.external.ingress_pool[1]: "x" is not an IPv4 address`,
			"25: proxmox.network.external.ingress_pool[2]: has no value: give an address, a range like 203.0.113.75-203.0.113.78, a network, or a list of these",
			"26: proxmox.network.external.ingress_pool[3]: is a list: give an address, a range like 203.0.113.75-203.0.113.78, a network, or a list of these",
		}},
		"several in one text":        {edit{pool, "ingress_pool: 203.0.113.75, 203.0.113.76"}, []string{`22: proxmox.network.external.ingress_pool: "203.0.113.75, 203.0.113.76" is several in one text: give a list, like [203.0.113.75, 203.0.113.76]`}},
		"the same key twice":         {edit{vlan, "vlan: 1691\n      vlan: 1692"}, []string{"18: proxmox.network.external.vlan: is given twice, first on line 17: keep one of the two"}},
		"one key in both places":     {edit{"  dns: [10.0.0.1]", "  external: {vlan: 5}"}, []string{"17: proxmox.network.external.vlan: is also given as network.external.vlan on line 9: keep one of the two"}},
		"bridge in the wrong room":   {edit{"  dns: [10.0.0.1]", "  external: {bridge: vmbr0}"}, []string{"9: network.external.bridge: the key does not belong here: give it at proxmox.network.external.bridge"}},
		"cidr in the wrong room":     {edit{"bridge: vmbr1", "bridge: vmbr1\n      cidr: 10.0.0.0/24"}, []string{"15: proxmox.network.cluster.cidr: the key does not belong here: give it at network.cidr"}},
		"pool in the wrong room":     {edit{"  dns: [10.0.0.1]", "  ingress_pool: 203.0.113.5"}, []string{"9: network.ingress_pool: the key does not belong here: give it at proxmox.network.external.ingress_pool"}},
		"both providers":             {edit{"name: edge", "name: edge\nopenstack: {external_net: public}"}, []string{"2: openstack: stands beside proxmox: a plan has one provider, remove the other's section (proxmox, line 11)"}},
		"something missing":          {edit{gateway, "\n"}, []string{"15: proxmox.network.external.gateway: missing: give the router's address on the external link, like 203.0.113.1"}},
		"a section missing":          {edit{"controlplane: {count: 3}\n", ""}, []string{"1: controlplane.count: missing: give the number of machines"}},
		"a default is the other":     {edit{"cidr: 10.0.0.0/24", "cidr: 10.244.0.0/24"}, []string{"8: network.cidr: 10.244.0.0/24 overlaps kubernetes.pod_cidr 10.244.0.0/16: give a network outside it (kubernetes.pod_cidr, the default)"}},
		"the other has its line":     {edit{gateway, "gateway: 203.0.113.200\n"}, []string{"19: proxmox.network.external.gateway: 203.0.113.200 is outside 203.0.113.0/25: give an address in 203.0.113.1-203.0.113.126, or set gateway_onlink: true (proxmox.network.external.cidr, line 18)"}},
		"flag in words":              {edit{vlan, "gateway_onlink: yes"}, []string{"17: proxmox.network.external.gateway_onlink: is text: give true"}},
		"flag in quotes":             {edit{vlan, "gateway_onlink: 'yes'"}, []string{"17: proxmox.network.external.gateway_onlink: is text: give true, without quotes"}},
		"flag as number":             {edit{vlan, "gateway_onlink: 2"}, []string{"17: proxmox.network.external.gateway_onlink: is a number: give true or false"}},
		"mark in octal":              {edit{"name: edge", "name: edge\nreturn_path: {mark: 0o20000}"}, []string{`2: return_path.mark: "0o20000" is neither a decimal nor a 0x number: give it like 0x2000`}},
		"mark too large":             {edit{"name: edge", "name: edge\nreturn_path: {mark: 0x100000000}"}, []string{`2: return_path.mark: "0x100000000" is not a 32-bit number: give it like 0x2000`}},
		"mask as list":               {edit{"name: edge", "name: edge\nreturn_path: {mask: [1]}"}, []string{"2: return_path.mask: is a list: give a number like 0x2000"}},
		"allowlist typo":             {edit{"name: edge", "name: edge\nsecurity: {kubernets: {office: 198.51.100.0/24}}"}, []string{"2: security.kubernets: unknown name without a port: did you mean kubernetes?"}},
		"allowlist without port":     {edit{"name: edge", "name: edge\nsecurity: {metrics: {office: 198.51.100.0/24}}"}, []string{"2: security.metrics: needs a port: give {port: 9100, hosts: {...}}; without one only kubernetes, talos, http and https are known"}},
		"allowlist of mixed forms":   {edit{"name: edge", "name: edge\nsecurity: {metrics: {port: 9100, hosts: {a: 198.51.100.1}, b: 198.51.100.2}}"}, []string{"2: security.metrics.b: unknown key beside port and hosts: give a host under hosts"}},
		"allowlist with a wrong one": {edit{"name: edge", "name: edge\nsecurity: {talos: {office: 198.51.100.0/33}}"}, []string{`2: security.talos.office: "198.51.100.0/33" is not an IPv4 network: give it like 203.0.113.0/25`}},
		"allowlist with host bits":   {edit{"name: edge", "name: edge\nsecurity: {talos: {office: 198.51.100.7/24}}"}, []string{"2: security.talos.office: 198.51.100.7/24 has host bits set: give 198.51.100.0/24, or 198.51.100.7/32 for the one host"}},
		"host bits in the long form": {edit{"name: edge", "name: edge\nsecurity:\n  m: {port: 1,\n    hosts: {a: 198.51.100.7/24}}"}, []string{"4: security.m.hosts.a: 198.51.100.7/24 has host bits set: give 198.51.100.0/24, or 198.51.100.7/32 for the one host"}},
		"odd names are quoted":       {edit{"worker: {count: 3}", `"a.b\e": {count: 3, cuont: 1}`}, []string{`6: workers."a.b\x1b": the name holds a dot or a bracket: give letters, digits and dashes`, `6: workers."a.b\x1b".cuont: unknown key: did you mean count?`}},
		"merge of a scalar":          {edit{vlan, "<<: 5"}, []string{"17: proxmox.network.external: the merge key << brings in a number: it takes a map or a list of maps"}},
		"a value without key":        {edit{vlan, "~: 5"}, []string{"17: proxmox.network.external: a value here has no key"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mistakes(t, with(t, read(t, "seed.yaml"), c.old, c.new))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
