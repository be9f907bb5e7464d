package metallb_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	"go.universe.tf/metallb/internal/config"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// goldens are what talosgen/gitops renders, one file per plan.
const goldens = "../../talosgen/gitops/testdata"

// rendered is what one plan gives, decoded.
type rendered struct {
	namespace corev1.Namespace
	pool      metallbv1beta1.IPAddressPool
	l2        metallbv1beta1.L2Advertisement
	// docs are the texts of the last two.
	docs [][]byte
}

func read(t *testing.T, file string) rendered {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	docs := bytes.Split(text, []byte("---\n"))
	if len(docs) != 3 {
		t.Fatalf("%d documents, want Namespace, IPAddressPool, L2Advertisement:\n%s", len(docs), text)
	}
	out := rendered{docs: docs[1:]}
	for i, into := range []any{&out.namespace, &out.pool, &out.l2} {
		if err := yaml.UnmarshalStrict(docs[i], into); err != nil {
			t.Fatalf("decoding strictly: %v\n%s", err, docs[i])
		}
	}
	return out
}

// files are the golden files for MetalLB, by the plan's name.
func files(t *testing.T) map[string]string {
	t.Helper()
	const suffix = ".metallb.yaml"
	paths, err := filepath.Glob(filepath.Join(goldens, "*"+suffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files in %s: %v", goldens, err)
	}
	out := map[string]string{}
	for _, path := range paths {
		base := filepath.Base(path)
		out[base[:len(base)-len(suffix)]] = path
	}
	return out
}

// parsed is what MetalLB's controller makes of the objects.
type parsed struct {
	Addresses, Nodes, Interfaces []string
	AutoAssign                   bool
}

func TestMetalLBParsesThePool(t *testing.T) {
	both := []string{"labelled", "unlabelled"}
	seed := parsed{Addresses: []string{"203.0.113.75/32", "203.0.113.76/31", "203.0.113.78/32"}, Nodes: both, AutoAssign: true}
	several, labelled, named, cloud := seed, seed, seed, seed
	several.Addresses = append([]string{"203.0.113.10/32", "203.0.113.16/30"}, seed.Addresses...)
	labelled.Nodes = both[:1]
	named.Interfaces = []string{"ens19"}
	cloud.Addresses = []string{"192.0.2.10/32"}
	special := map[string]parsed{"several-ranges": several, "some-without-external": labelled, "interface-named": named, "openstack": cloud}

	// The label stands here by itself: a change of it must be meant.
	nodes := []corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "labelled", Labels: map[string]string{"node.homeward/external": "true"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "unlabelled"}},
	}
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			want, ok := special[name]
			if !ok {
				want = seed
			}
			delete(special, name)
			in := read(t, file)
			cfg, err := config.For(config.ClusterResources{
				Pools:  []metallbv1beta1.IPAddressPool{in.pool},
				L2Advs: []metallbv1beta1.L2Advertisement{in.l2},
				Nodes:  nodes,
			}, config.ValidationFor("native"))
			if err != nil {
				t.Fatalf("MetalLB refuses the objects: %v", err)
			}
			pool := cfg.Pools.ByName["ingress"]
			if pool == nil || len(pool.L2Advertisements) != 1 {
				t.Fatalf("MetalLB made of it: %+v", pool)
			}
			l2 := pool.L2Advertisements[0]
			got := parsed{Nodes: slices.Sorted(maps.Keys(l2.Nodes)), Interfaces: l2.Interfaces, AutoAssign: pool.AutoAssign}
			for _, n := range pool.CIDR {
				got.Addresses = append(got.Addresses, n.String())
			}
			if diff := cmp.Diff(want, got); diff != "" || l2.AllInterfaces != (want.Interfaces == nil) {
				t.Errorf("all interfaces: %t, rest (-want +got):\n%s", l2.AllInterfaces, diff)
			}
		})
	}
	for name := range special {
		t.Errorf("no golden file for %s", name)
	}
}

func TestNamespaceLetsTheSpeakerIn(t *testing.T) {
	got := read(t, files(t)["seed"]).namespace
	want := map[string]string{
		"pod-security.kubernetes.io/enforce": "privileged",
		"pod-security.kubernetes.io/audit":   "privileged",
		"pod-security.kubernetes.io/warn":    "privileged",
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" || got.Name != "metallb-system" {
		t.Errorf("Namespace %s, labels (-want +got):\n%s", got.Name, diff)
	}
}
