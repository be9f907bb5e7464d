package metallb_test

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	"go.universe.tf/metallb/internal/config"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"homeward/netplan"
	"homeward/talosgen/gitops"
)

// rendered is what one plan gives, decoded.
type rendered struct {
	namespace corev1.Namespace
	pool      metallbv1beta1.IPAddressPool
	l2        metallbv1beta1.L2Advertisement
	// docs are the texts of the last two.
	docs [][]byte
}

func render(t *testing.T, p *netplan.Plan) rendered {
	t.Helper()
	text, err := gitops.MetalLB(p)
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

// plan is two workers, one of them without the external NIC where wanted.
func plan(t *testing.T, mixed bool, ranges ...string) *netplan.Plan {
	t.Helper()
	p := &netplan.Plan{
		Name:     "edge",
		External: &netplan.External{CIDR: netip.MustParsePrefix("203.0.113.0/25")},
		Ingress:  netplan.Ingress{Class: "traefik", ExternalTrafficPolicy: "Cluster"},
		Machines: []netplan.Machine{
			{Name: "edge-worker-01", Role: netplan.RoleWorker, External: true},
			{Name: "edge-worker-02", Role: netplan.RoleWorker, External: !mixed},
		},
	}
	for _, s := range ranges {
		r, err := netplan.ParseRange(s)
		if err != nil {
			t.Fatal(err)
		}
		p.External.IngressPool = append(p.External.IngressPool, r)
	}
	return p
}

func TestMetalLBParsesThePool(t *testing.T) {
	tests := []struct {
		name      string
		ranges    []string
		mixed     bool
		link      string
		addresses []string
		nodes     []string
	}{
		{name: "one range", ranges: []string{"203.0.113.75-203.0.113.78"},
			addresses: []string{"203.0.113.75/32", "203.0.113.76/31", "203.0.113.78/32"},
			nodes:     []string{"edge-worker-01", "edge-worker-02"}},
		{name: "addresses, networks and ranges", ranges: []string{"203.0.113.10", "203.0.113.16/30", "203.0.113.75 - 203.0.113.76"},
			addresses: []string{"203.0.113.10/32", "203.0.113.16/30", "203.0.113.75/32", "203.0.113.76/32"},
			nodes:     []string{"edge-worker-01", "edge-worker-02"}},
		{name: "only labelled nodes announce", ranges: []string{"203.0.113.80/32"}, mixed: true,
			addresses: []string{"203.0.113.80/32"}, nodes: []string{"edge-worker-01"}},
		{name: "one interface", ranges: []string{"203.0.113.80/32"}, link: "ens19",
			addresses: []string{"203.0.113.80/32"}, nodes: []string{"edge-worker-01", "edge-worker-02"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := plan(t, tt.mixed, tt.ranges...)
			p.Ingress.Interface = tt.link
			got := render(t, p)
			cfg, err := config.For(config.ClusterResources{
				Pools:  []metallbv1beta1.IPAddressPool{got.pool},
				L2Advs: []metallbv1beta1.L2Advertisement{got.l2},
				Nodes:  nodes(p),
			}, config.ValidationFor("native"))
			if err != nil {
				t.Fatalf("MetalLB refuses the objects: %v", err)
			}
			pool := cfg.Pools.ByName["ingress"]
			if pool == nil || !pool.AutoAssign || len(pool.L2Advertisements) != 1 {
				t.Fatalf("MetalLB made of it: %+v", pool)
			}
			var addresses []string
			for _, n := range pool.CIDR {
				addresses = append(addresses, n.String())
			}
			if diff := cmp.Diff(tt.addresses, addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			l2 := pool.L2Advertisements[0]
			if diff := cmp.Diff(tt.nodes, slices.Sorted(maps.Keys(l2.Nodes))); diff != "" {
				t.Errorf("announcing nodes (-want +got):\n%s", diff)
			}
			if l2.AllInterfaces != (tt.link == "") || (tt.link != "" && !slices.Equal(l2.Interfaces, []string{tt.link})) {
				t.Errorf("interfaces %v, all %t, want %q", l2.Interfaces, l2.AllInterfaces, tt.link)
			}
		})
	}
}

// nodes are the plan's machines as the cluster has them: with our label on those
// that have the external NIC.
func nodes(p *netplan.Plan) []corev1.Node {
	var out []corev1.Node
	for _, m := range p.Machines {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Name}}
		if m.External {
			node.Labels = map[string]string{netplan.LabelExternal: "true"}
		}
		out = append(out, node)
	}
	return out
}

func TestNamespaceLetsTheSpeakerIn(t *testing.T) {
	got := render(t, plan(t, false, "203.0.113.80/32")).namespace
	want := map[string]string{
		"pod-security.kubernetes.io/enforce": "privileged",
		"pod-security.kubernetes.io/audit":   "privileged",
		"pod-security.kubernetes.io/warn":    "privileged",
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" || got.Name != "metallb-system" {
		t.Errorf("Namespace %s, labels (-want +got):\n%s", got.Name, diff)
	}
}
