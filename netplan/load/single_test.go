package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One mistake gives one fault, in words that are true of it.
func TestOneMistakeInItsOwnWords(t *testing.T) {
	const name, url = "name: edge", "  url: https://pve.example.edu:8006"
	long := strings.Repeat("e", 63)
	for title, c := range map[string]struct {
		edit
		want []string
	}{
		"a class in upper case": {edit{name, "name: edge\ningress: {class: Traefik}"}, []string{
			`2: ingress.class: "Traefik" is not a class name: give lower-case letters, digits, dashes and dots, like traefik`}},
		"a name of 63 letters": {edit{name, "name: " + long}, []string{
			"1: name: hostname " + long + "-controlplane-03 has 79 characters, more than 63: give a name of at most 47"}},
		"hosts as a list": {edit{name, "name: edge\nsecurity: {metrics: {port: 9100, hosts: [198.51.100.0/24]}}"}, []string{
			"2: security.metrics.hosts: is a list: give hosts by name, like {office: 198.51.100.0/24}"}},
		"hosts of a known name as a list": {edit{name, "name: edge\nsecurity: {talos: {hosts: [198.51.100.0/24]}}"}, []string{
			"2: security.talos.hosts: is a list: give hosts by name, like {office: 198.51.100.0/24}"}},
		"no hosts": {edit{name, "name: edge\nsecurity: {metrics: {port: 9100, hosts: {}}}"}, []string{
			"2: security.metrics: allows nobody: give hosts like {office: 198.51.100.0/24}, or leave it out"}},
		"the firewall among allowlists": {edit{name, "name: edge\nsecurity: {firewall: true}"}, []string{
			"2: security.firewall: the key does not belong here: give it at talos.firewall"}},
		"host bits, a known name with hosts": {edit{name, "name: edge\nsecurity: {talos: {hosts: {\n  a: 198.51.100.7/24}}}"}, []string{
			"3: security.talos.hosts.a: 198.51.100.7/24 has host bits set: give 198.51.100.0/24, or 198.51.100.7/32 for the one host"}},
		"a flag without quotes": {edit{"controlplane: {count: 3}", "controlplane: {count: 3, external: no}"}, []string{
			"4: controlplane.external: is text: give false"}},
		"a flag in quotes": {edit{"controlplane: {count: 3}", `controlplane: {count: 3, external: "false"}`}, []string{
			"4: controlplane.external: is text: give false, without quotes"}},
		"FALSE in quotes": {edit{url, url + "\n  tls_verify: \"FALSE\""}, []string{
			`12: proxmox.tls_verify: "FALSE" is neither true, false nor the path of a CA file: give false`}},
		"no": {edit{url, url + "\n  tls_verify: no"}, []string{
			`12: proxmox.tls_verify: "no" is neither true, false nor the path of a CA file: give false`}},
		"On": {edit{url, url + "\n  tls_verify: On"}, []string{
			`12: proxmox.tls_verify: "On" is neither true, false nor the path of a CA file: give true`}},
		"a VIP that is reserved": {edit{"kubeapi_vip: 203.0.113.79", "kubeapi_vip: 203.0.113.2\n      reserved: 203.0.113.2"}, []string{
			"21: proxmox.network.external.kubeapi_vip: 203.0.113.2 is reserved (203.0.113.2): give a free one, like 203.0.113.79 (proxmox.network.external.reserved, line 22)"}},
		"dots for a dash": {edit{"ingress_pool: 203.0.113.75-203.0.113.78", "ingress_pool: 75..80"}, []string{
			`22: proxmox.network.external.ingress_pool: "75..80" is not a range: give it with a dash, like 203.0.113.75-203.0.113.78`}},
		"a /7 with host bits": {edit{"cidr: 203.0.113.0/25", "cidr: 203.0.113.0/7"}, []string{
			"18: proxmox.network.external.cidr: 203.0.113.0/7 is too large: give a prefix length of 8 to 32"}},
		"host bits that hide an overlap": {edit{"cidr: 203.0.113.0/25", "cidr: 10.0.0.5/24"}, []string{
			"18: proxmox.network.external.cidr: 10.0.0.5/24 overlaps network.cidr 10.0.0.0/24: give a network outside it (network.cidr, line 8)"}},
		"host bits on the other side": {edit{"cidr: 10.0.0.0/24", "cidr: 203.0.113.7/25"}, []string{
			"8: network.cidr: 203.0.113.7/25 overlaps proxmox.network.external.cidr 203.0.113.0/25: give a network outside it (proxmox.network.external.cidr, line 18)"}},
		"the network as gateway": {edit{"gateway: 203.0.113.1\n", "gateway: 203.0.113.0/25\n"}, []string{
			`19: proxmox.network.external.gateway: "203.0.113.0/25" is a network, not an address: give one address, without a prefix length`}},
	} {
		t.Run(title, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mistakes(t, with(t, read(t, "seed.yaml"), c.old, c.new))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryKnownAllowlistIsTaken(t *testing.T) {
	for _, name := range []string{"kubernetes", "talos", "http", "https"} {
		t.Run(name, func(t *testing.T) {
			p := mustLoad(t, read(t, "seed.yaml")+"security: {"+name+": {office: 198.51.100.0/24, vpn.example.edu: 198.51.100.9}}\n").Plan
			if len(p.Security) != 1 || p.Security[0].Name != name || len(p.Security[0].Hosts) != 2 {
				t.Errorf("security is %v", p.Security)
			}
		})
	}
}

func TestVerifyTakesTheThreeForms(t *testing.T) {
	for text, want := range map[string]string{"true": "true", "False": "false", `"false"`: "false", "ca.pem": "ca.pem", "/etc/no": "/etc/no"} {
		t.Run(text, func(t *testing.T) {
			file := with(t, read(t, "seed.yaml"), "proxmox:\n", "proxmox:\n  tls_verify: "+text+"\n")
			if got := mustLoad(t, file).Spec.Proxmox.TLSVerify; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A name of the operator's is never taken for the path of a key.
func TestNamesWithDots(t *testing.T) {
	const dot = "the name holds a dot or a bracket: give letters, digits and dashes"
	for title, c := range map[string]struct{ section, want string }{
		"a machine":          {`machines: {edge-worker-01: {vmid: 201}, "edge-worker-01.vmid": {node: pve1}}`, `machines."edge-worker-01.vmid": ` + dot},
		"a pool":             {`workers: {worker: {count: 3}, "worker.count": {count: 1}}`, `workers."worker.count": ` + dot},
		"an allowlist":       {`security: {kubernetes: {a: 198.51.100.1}, "kubernetes.hosts": {a: 198.51.100.2}}`, `security."kubernetes.hosts": ` + dot},
		"a host in hosts":    {`security: {kubernetes: {"hosts.a": 198.51.100.1, a: 198.51.100.2}}`, `security.kubernetes."hosts.a": ` + dot},
		"an entry of a list": {`security: {kubernetes: {"a[0]": 198.51.100.1, a: [198.51.100.2]}}`, `security.kubernetes."a[0]": ` + dot},
	} {
		t.Run(title, func(t *testing.T) {
			file := with(t, read(t, "seed.yaml"), "workers:\n  worker: {count: 3}\n", "")
			if !strings.HasPrefix(c.section, "workers") {
				c.section += "\nworkers: {worker: {count: 3}}"
			}
			if diff := cmp.Diff([]string{"1: " + c.want}, mistakes(t, c.section+"\n"+file)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the right one's faults are not hidden", func(t *testing.T) {
		file := `machines: {edge-worker-01: {vmid: 1}, "edge-worker-01.vmid": {}}` + "\n" + read(t, "seed.yaml")
		if got := mistakes(t, file); len(got) != 2 || !strings.Contains(got[1], "machines.edge-worker-01.vmid: 1 is not a VMID") {
			t.Errorf("got %q", got)
		}
	})
}

// The first faults of a field in file order are shown, every time the same ones.
func TestManyFaultsAreTheSameEachTime(t *testing.T) {
	var b strings.Builder
	b.WriteString("security:\n  talos:\n")
	for i := range 60 {
		fmt.Fprintf(&b, "    h%d: 198.51.100.%d/24\n", 60-i, i+1)
	}
	b.WriteString(read(t, "seed.yaml"))
	want := mistakes(t, b.String())
	if len(want) != maxPerGroup+1 || !strings.HasPrefix(want[0], "3: security.talos.h60: ") || want[maxPerGroup] != "23: security.talos.h40: and 40 more faults of this kind" {
		t.Errorf("got %q", want)
	}
	for range 20 {
		if diff := cmp.Diff(want, mistakes(t, b.String())); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A count that cannot be read hides only whether a machine exists.
func TestAnUnreadableCountHidesNoOtherFault(t *testing.T) {
	for _, count := range []string{"count: x", "cuont: 3"} {
		file := with(t, read(t, "seed.yaml"), "worker: {count: 3}", "worker: {"+count+"}") +
			"machines:\n  edge-controlplane-01: {vmid: 1}\n  edge-worker-01: {vmid: 300}\n"
		t.Run(count, func(t *testing.T) {
			got := mistakes(t, file)
			if len(got) != 2 || !strings.HasPrefix(got[0], "6: workers.worker.") || !strings.HasPrefix(got[1], "24: machines.edge-controlplane-01.vmid: 1 is not a VMID") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTwoEncryptedValues(t *testing.T) {
	const cipher = `"ENC[AES256_GCM,data:x]"`
	file := with(t, with(t, read(t, "seed.yaml"), "vmbr0", cipher), "vmbr1", cipher)
	want := []string{"14: proxmox.network.cluster.bridge: the value is encrypted: decrypt the file first (sops -d); so is 1 more"}
	if diff := cmp.Diff(want, mistakes(t, file)); diff != "" {
		t.Error(diff)
	}
}
