package talosgen

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file under testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// fullMachine is a plan and a machine in which every kind of document occurs.
var fullMachine = opts(static, largeMTU, gatewayOnLink, firewall, allowlists)

// TestGoldenMachines has one file per whole machine, in both shapes.
func TestGoldenMachines(t *testing.T) {
	for _, version := range []string{"v1.13.9", "v1.14.0"} {
		for _, tt := range []struct {
			file, machine string
			options       []func(*netplan.Plan)
		}{
			{"controlplane", "controlplane-01", nil},
			{"worker", "worker-01", nil},
			{"everything", "controlplane-01", fullMachine},
			{"no-worker", "controlplane-01", opts(noWorkers)},
			{"private-vip", "controlplane-01", opts(privateVIP)},
			{"without-external", "batch-01", opts(batchPool)},
			{"external-address", "worker-01", opts(externalAddresses)},
			{"openstack-controlplane", "controlplane-01", opts(cloud)},
			{"openstack-worker", "worker-01", opts(cloud)},
		} {
			t.Run(version+" "+tt.file, func(t *testing.T) {
				p := fixture(tt.options...)
				p.Talos.Version = version
				golden(t, filepath.Join("machines", version+"-"+tt.file+".yaml"), render(t, p, machine(p, tt.machine)))
			})
		}
	}
}

// TestGoldenDocuments has one file per kind: the documents of that kind which
// the machine with every kind has.
func TestGoldenDocuments(t *testing.T) {
	seen := map[string]bool{}
	for _, version := range []string{"v1.13.9", "v1.14.0"} {
		p := fixture(fullMachine...)
		p.Talos.Version = version
		text := render(t, p, machine(p, "controlplane-01"))
		dynamic := fixture()
		dynamic.Talos.Version = version
		text = append(append(text, "---\n"...), render(t, dynamic, machine(dynamic, "worker-01"))...)
		for kind, documents := range byKind(t, text) {
			name := kind
			if kind == kindV1Alpha1 {
				name += "-" + strings.TrimSuffix(version, filepath.Ext(version))
			}
			if !seen[name] {
				golden(t, filepath.Join("documents", name+".yaml"), documents)
			}
			seen[name] = true
		}
	}
	for _, kind := range []string{
		"HostnameConfig", "LinkAliasConfig", "LinkConfig", "DHCPv4Config", "ResolverConfig", "Layer2VIPConfig", "RoutingRuleConfig",
		"NetworkDefaultActionConfig", "NetworkRuleConfig", "KubeNodeConfig", "KubeStaticPodConfig", "KubeAPIServerConfig", "v1alpha1-v1.13", "v1alpha1-v1.14",
	} {
		if !seen[kind] {
			t.Errorf("no %s was rendered", kind)
		}
	}
	if len(seen) != 14 {
		t.Errorf("%d kinds: %v", len(seen), seen)
	}
}

// byKind sorts the documents of a stream.
func byKind(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	docs, _, err := splitBase(text)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, d := range docs {
		if len(out[d.kind]) > 0 {
			out[d.kind] = append(out[d.kind], "---\n"...)
		}
		out[d.kind] = append(out[d.kind], d.text...)
	}
	return out
}

// TestGoldenComplete has a whole configuration with its secrets taken out.
func TestGoldenComplete(t *testing.T) {
	p := fixture()
	m := machine(p, "controlplane-01")
	var out bytes.Buffer
	for line := range bytes.Lines(complete(t, base(t, m.Role, "v1.13", 0), p, m)) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch string(key) {
		case "crt", "key", "token", "secret", "id", "aescbcEncryptionSecret", "secretboxEncryptionSecret":
			line = bytes.Replace(line, bytes.TrimSpace(value), []byte("secret"), 1)
		}
		out.Write(line)
	}
	golden(t, "complete-controlplane.yaml", out.Bytes())
}
