package talosgen

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

// newer asks for the shape of Talos 1.14.
func newer(p *netplan.Plan) { p.Talos.Version = "v1.14.0-rc.1" }

// base114 is a base of the 1.14 contract, made by machinery v1.14.0-alpha.2 with
// its secrets replaced. Released versions have the exclusion label in a document
// that the alpha did not have yet.
func base114(t *testing.T, role netplan.Role, released bool) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/base-v1.14-" + string(role) + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !released || role != netplan.RoleControlPlane {
		return text
	}
	moved := replace(t, string(text), "    nodeLabels:\n        "+labelExcluded+": \"\"\n", "")
	return []byte(moved + "---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels:\n    " + labelExcluded + ": \"\" # by talosctl\n")
}

func TestComplete114(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			p := fixture(append(opts(newer), s.options...)...)
			for _, m := range []netplan.Machine{p.Machines[0], p.Machines[len(p.Machines)-1]} {
				for _, released := range []bool{false, true} {
					once := complete(t, base114(t, m.Role, released), p, m)
					if twice := complete(t, once, p, m); !bytes.Equal(once, twice) {
						t.Errorf("%s (-once +twice):\n%s", m.Name, cmp.Diff(string(once), string(twice)))
					}
					other := fixture(newer, privateVIP, firewall, static, otherNumbers)
					changed := complete(t, complete(t, once, other, m), p, m)
					if !bytes.Equal(once, changed) {
						t.Errorf("%s (-once +there and back):\n%s", m.Name, cmp.Diff(string(once), string(changed)))
					}
				}
			}
		})
	}
}

func TestComplete114InTheDocumentsOf114(t *testing.T) {
	p := fixture(newer, static)
	for _, role := range []netplan.Role{netplan.RoleControlPlane, netplan.RoleWorker} {
		m := machine(p, string(role)+"-01")
		golden(t, "complete-v1.14-"+string(role)+".yaml", complete(t, base114(t, role, true), p, m))
	}
}

func TestComplete114RemovesTheExclusionWhereverItStands(t *testing.T) {
	p := fixture(newer, noWorkers)
	m := machine(p, "controlplane-01")
	for _, released := range []bool{false, true} {
		text := complete(t, base114(t, m.Role, released), p, m)
		if bytes.Contains(text, []byte(labelExcluded+": ")) {
			t.Errorf("released %t: the exclusion is still there", released)
		}
		back := complete(t, text, fixture(newer), m)
		if !bytes.Contains(back, []byte(labelExcluded+`: ""`)) {
			t.Errorf("released %t: the exclusion did not come back", released)
		}
	}
}

func TestComplete114RefusesOldFields(t *testing.T) {
	p := fixture(newer)
	m := machine(p, "controlplane-01")
	for _, tt := range []struct{ name, old, new, want string }{
		{"the api server's section", "cluster:\n", "cluster:\n    apiServer: {image: x}\n", "cluster.apiServer is of Talos 1.13"},
		{"the kubelet's node address", "    kubelet:\n", "    kubelet:\n        nodeIP: {validSubnets: [10.0.0.0/24]}\n", "machine.kubelet.nodeIP is of Talos 1.13"},
		{"a pod document of our name", "kind: KubeNodeConfig\n", "kind: KubeStaticPodConfig\nname: homeward-return-path\npod: {}\n---\napiVersion: v1alpha1\nkind: KubeNodeConfig\n", "takes the name of Homeward's static pod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(string(base114(t, m.Role, true)), tt.old, tt.new, 1)
			_, err := Complete([]byte(text), p, m, pod(p, m))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
