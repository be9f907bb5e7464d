package talosgen

import (
	"strings"
	"testing"

	"homeward/netplan"
)

func TestCompleteRefuses(t *testing.T) {
	document := func(text string) func(string) string {
		return func(base string) string { return base + "---\napiVersion: v1alpha1\n" + text }
	}
	inMachine := func(text string) func(string) string {
		return func(base string) string { return strings.Replace(base, "machine:\n", "machine:\n"+text, 1) }
	}
	for _, tt := range []struct {
		name   string
		change func(string) string
		// want are parts of the error.
		want []string
	}{
		{"a base of the other role", inRole("worker"), []string{"line 5: v1alpha1: machine.type is not controlplane"}},
		{"a base without a machine", func(string) string { return "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n" }, []string{"no machine configuration"}},
		{"an empty base", func(string) string { return "" }, []string{"no machine configuration"}},
		{"a base of Talos 1.14", document("kind: KubeNetworkConfig\npodSubnets: [10.244.0.0/16]\n"), []string{"KubeNetworkConfig: is of Talos 1.14", "v1.13.9"}},
		{"a hostname in v1alpha1", inMachine("    network: {hostname: here}\n"), []string{"machine.network.hostname cannot stand"}},
		{"a stable hostname in v1alpha1", func(b string) string {
			return strings.Replace(b, "    features:\n", "    features:\n        stableHostname: true\n", 1)
		}, []string{"machine.features.stableHostname"}},
		{"an interface by its kernel name", inMachine("    network:\n        interfaces:\n            - interface: eth0\n              dhcp: true\n"), []string{"line 7: v1alpha1: machine.network.interfaces has an entry that may be one of the plan's links"}},
		{"an interface by our alias", inMachine("    network: {interfaces: [{interface: external}]}\n"), []string{"configures our link external"}},
		{"an interface by our MAC", inMachine("    network: {interfaces: [{deviceSelector: {hardwareAddr: '02:01:AB:CD:00:01'}}]}\n"), []string{"selects our link with MAC 02:01:ab:cd:00:01"}},
		{"an interface by part of a MAC", inMachine("    network: {interfaces: [{deviceSelector: {hardwareAddr: '02:01:*'}}]}\n"), []string{"more than one whole MAC"}},
		{"an interface by bus path", inMachine("    network: {interfaces: [{deviceSelector: {busPath: 0*}}]}\n"), []string{"more than one whole MAC"}},
		{"an alias of our name", document("kind: LinkAliasConfig\nname: external\nselector: {match: 'mac(link.permanent_addr) == \"02:99:00:00:00:00\"'}\n"), []string{"LinkAliasConfig external: takes the name of our link"}},
		{"an alias for our NIC", document("kind: LinkAliasConfig\nname: net0\nselector: {match: 'mac(link.permanent_addr) == \"02:01:AB:cd:00:01\"'}\n"), []string{"LinkAliasConfig net0: matches our NIC 02:01:ab:cd:00:01"}},
		{"an alias for every virtio NIC", document("kind: LinkAliasConfig\nname: net%d\nselector: {match: 'link.driver == \"virtio_net\"'}\n"), []string{"LinkAliasConfig net%d: matches our NIC 02:00:ab:cd:00:01", "matches our NIC 02:01:ab:cd:00:01"}},
		{"a link of our name", document("kind: LinkConfig\nname: private\nup: true\n"), []string{"LinkConfig private: takes the name of our link"}},
		{"a bridge of our name", document("kind: BridgeConfig\nname: external\n"), []string{"BridgeConfig external: takes the name of our link"}},
		{"a rule at our priority", document("kind: RoutingRuleConfig\nname: \"1001\"\nsrc: 192.0.2.0/24\ntable: \"100\"\n"), []string{"RoutingRuleConfig 1001: stands at priority 1001"}},
		{"a rule at our priority, spelled differently", document("kind: RoutingRuleConfig\nname: \"01011\"\nsrc: 192.0.2.0/24\ntable: \"100\"\n"), []string{"RoutingRuleConfig 01011: stands at priority 1011"}},
		{"a rule that steers pods into our table", document("kind: RoutingRuleConfig\nname: \"900\"\nsrc: 10.244.0.0/16\ntable: \"251\"\n"), []string{`RoutingRuleConfig 900: steers src "10.244.0.0/16" into table 251`}},
		{"a rule that steers the external network into our table", document("kind: RoutingRuleConfig\nname: \"900\"\ndst: 203.0.113.0/25\ntable: \"251\"\n"), []string{`steers dst "203.0.113.0/25" into table 251`}},
		{"a rule that takes our mark", document("kind: RoutingRuleConfig\nname: \"900\"\nfwMark: 0x3000\ntable: \"100\"\n"), []string{"RoutingRuleConfig 900: matches the mark 0x2000"}},
		{"a route in our table", document("kind: LinkConfig\nname: ens20\nroutes:\n  - destination: 10.96.0.0/12\n    gateway: 192.0.2.1\n    table: \"251\"\n"), []string{`LinkConfig ens20: steers destination "10.96.0.0/12" into table 251`}},
		{"a vrf with our table", document("kind: VRFConfig\nname: blue\nlinks: [ens20]\ntable: \"251\"\n"), []string{"VRFConfig blue: steers everything into table 251"}},
		{"the vip on another link", document("kind: Layer2VIPConfig\nname: 203.0.113.79\nlink: ens20\n"), []string{"Layer2VIPConfig 203.0.113.79: holds the plan's kubeapi_vip"}},
		{"another vip on our link", document("kind: Layer2VIPConfig\nname: 203.0.113.80\nlink: external\n"), []string{"puts another VIP on our link external"}},
		{"a foreign pod of our name", inMachine("    pods: [{apiVersion: v1, kind: Pod, metadata: {name: homeward-return-path}}]\n"), []string{"machine.pods has a pod with the name"}},
		{"a list that is shared by an anchor", func(b string) string {
			return strings.Replace(b, "disableManifestsDirectory: true\n", "disableManifestsDirectory: true\n        nodeIP: {validSubnets: &nets [10.9.0.0/24]}\n", 1)
		}, []string{"machine.kubelet.nodeIP.validSubnets shares its value by a YAML anchor"}},
		{"a list that is something else", func(b string) string { return strings.Replace(b, "certSANs: []", "certSANs: {}", 1) }, []string{"machine.certSANs has another form"}},
		{"text that is not YAML", func(b string) string { return b + "---\na: [\n" }, []string{"is not valid YAML"}},
		{"a document that Talos does not know", document("kind: NoSuchConfig\n"), []string{"NoSuchConfig does not load as a Talos 1.13 document"}},
		{"a damaged record", func(b string) string { return b + "---\n" + recordPrefix + "{\n" }, []string{"is damaged"}},
		{"two at once", func(b string) string {
			return document("kind: LinkConfig\nname: private\n")(inRole("worker")(b))
		}, []string{"machine.type", "LinkConfig private"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fixture()
			m := machine(p, "controlplane-01")
			text := tt.change(string(base(t, m.Role, "v1.13", 0)))
			out, err := Complete([]byte(text), p, m, pod(p, m))
			if err == nil {
				t.Fatalf("accepted:\n%s", out)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// inRole changes a base's role by hand.
func inRole(role string) func(string) string {
	return func(base string) string {
		return strings.Replace(base, "    type: controlplane\n", "    type: "+role+"\n", 1)
	}
}

func TestCompleteAccepts(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"an interface by another MAC", "    network: {interfaces: [{deviceSelector: {hardwareAddr: '02:99:00:00:00:01'}, dhcp: false}]}\n"},
		{"a dummy interface", "    network: {interfaces: [{interface: dummy0, dummy: true}]}\n"},
		{"name servers where the plan gives none", "    network: {nameservers: [192.0.2.53]}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fixture()
			m := machine(p, "controlplane-01")
			text := strings.Replace(string(base(t, m.Role, "v1.13", 0)), "machine:\n", "machine:\n"+tt.text, 1)
			complete(t, []byte(text), p, m)
		})
	}
}

func TestCompleteOf114RefusesABaseOf113(t *testing.T) {
	p := fixture(func(p *netplan.Plan) { p.Talos.Version = "v1.14.0-rc.1" })
	for _, name := range []string{"controlplane-01", "worker-01"} {
		m := machine(p, name)
		_, err := Complete(base(t, m.Role, "v1.13", 0), p, m, pod(p, m))
		if err == nil || !strings.Contains(err.Error(), "is of Talos 1.13, but talos.version is v1.14.0-rc.1") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestErrorsHoldNoSecrets breaks a base at every line and looks for its secrets
// in what comes back.
func TestErrorsHoldNoSecrets(t *testing.T) {
	p := fixture()
	m := machine(p, "controlplane-01")
	plain := string(base(t, m.Role, "v1.13", 0))
	b, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{b.Secrets.BootstrapToken, b.TrustdInfo.Token, b.Cluster.Secret, b.Cluster.ID}
	lines := strings.SplitAfter(plain, "\n")
	failed := 0
	for i := range lines {
		for _, broken := range []string{"\t" + lines[i], "nosuch: " + lines[i], strings.Replace(lines[i], ": ", ": [", 1), strings.Replace(lines[i], ": ", ": *", 1), strings.TrimLeft(lines[i], " ")} {
			text := strings.Join(lines[:i], "") + broken + strings.Join(lines[i+1:], "")
			_, err := Complete([]byte(text), p, m, pod(p, m))
			if err == nil {
				continue
			}
			failed++
			for _, secret := range secrets {
				if strings.Contains(err.Error(), secret) {
					t.Fatalf("line %d: %v", i+1, err)
				}
			}
		}
	}
	if failed < len(lines) {
		t.Errorf("only %d of the broken bases were refused", failed)
	}
}
