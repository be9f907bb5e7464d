package talosgen_test

import (
	"strings"
	"testing"

	"homeward/netplan"
	"homeward/talosgen"
)

const judgedBase = `version: v1alpha1
machine:
  type: worker
  token: hunter2
  kubelet: {image: "ghcr.io/siderolabs/kubelet:v1.36.3"}
cluster:
  id: hunter2
  clusterName: edge
  controlPlane: {endpoint: "https://203.0.113.79:6443"}
  network:
    podSubnets: [10.244.0.0/16]
    serviceSubnets: [10.96.0.0/12]
`

func judgedPlan() *netplan.Plan {
	p := &netplan.Plan{Name: "edge"}
	p.KubeAPI.Endpoint = "https://203.0.113.79:6443"
	p.Kubernetes.Version, p.Kubernetes.CNI = "v1.36.3", "flannel"
	_ = p.Kubernetes.PodCIDR.UnmarshalText([]byte("10.244.0.0/16"))
	_ = p.Kubernetes.ServiceCIDR.UnmarshalText([]byte("10.96.0.0/12"))
	return p
}

func TestJudge(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"as the plan has it", "", "", ""},
		{"an endpoint with a slash", ":6443\"", ":6443/\"", ""},
		{"another endpoint", "203.0.113.79", "203.0.113.90", "cluster.controlPlane.endpoint"},
		{"another name", "clusterName: edge", "clusterName: other", `"other", the plan's is "edge"`},
		{"other pods", "10.244.0.0/16", "10.42.0.0/16", "podSubnets"},
		{"other services", "10.96.0.0/12", "10.43.0.0/16", "serviceSubnets"},
		{"another kubelet", "kubelet:v1.36.3", "kubelet:v1.35.1", `"v1.35.1", the plan's is "v1.36.3"`},
		{"a registry's port is no tag", "ghcr.io/siderolabs/kubelet:v1.36.3", "localhost:5000/kubelet", ""},
		{"another CNI", "  network:\n", "  network:\n    cni: {name: none}\n", "cni.name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			differs, err := talosgen.Judge([]byte(strings.Replace(judgedBase, c.old, c.new, 1)), judgedPlan())
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(differs, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) || len(differs) > 1 || strings.Contains(got, "hunter2") {
				t.Errorf("differs: %q, want %q", got, c.want)
			}
		})
	}
}

func TestSameCluster(t *testing.T) {
	other := strings.Replace(judgedBase, "id: hunter2", "id: another", 1)
	without := strings.Replace(judgedBase, "  id: hunter2\n", "", 1)
	for text, want := range map[string]bool{judgedBase: true, other: false, without: true} {
		if same, err := talosgen.SameCluster([]byte(judgedBase), []byte(text)); err != nil || same != want {
			t.Errorf("same: %t, %v, want %t", same, err, want)
		}
	}
}
