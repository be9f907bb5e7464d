package verify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
)

// The machines of the base plan by their place.
const (
	cp1, cp2 = 0, 1
	w1, w2   = 2, 3
)

func TestNodesPlanned(t *testing.T) {
	judge(t, "nodes-planned", []planted{
		{name: "as planned", want: Pass, seen: "4 nodes of 4 planned machines"},
		{name: "one is missing", want: Fail, seen: "no node: edge-worker-02", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value = s.Nodes.Value[:w2] }},
		{name: "a stranger", want: Warn, seen: "not in the plan: old-worker", remedy: "kubectl delete node old-worker", change: func(_ *testing.T, s *Snapshot) {
			s.Nodes.Value = append(s.Nodes.Value, corev1.Node{})
			s.Nodes.Value[4].Name = "old-worker"
		}},
		{name: "not ready", want: Warn, seen: "not Ready: edge-worker-01", remedy: "kubectl describe node edge-worker-01", change: func(_ *testing.T, s *Snapshot) {
			s.Nodes.Value[w1].Status.Conditions[0].Status = corev1.ConditionUnknown
		}},
		{name: "no node at all", want: Fail, seen: "edge-controlplane-01, edge-controlplane-02", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value = nil }},
	})
}

func TestNodeAddresses(t *testing.T) {
	at := func(i int, addresses ...string) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) {
			s.Nodes.Value[i].Status.Addresses = nil
			for _, a := range addresses {
				s.Nodes.Value[i].Status.Addresses = append(s.Nodes.Value[i].Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
			}
		}
	}
	const static = "agent: {image"
	judge(t, "node-addresses", []planted{
		{name: "as planned", want: Pass, seen: "4 nodes in 10.0.0.0/24"},
		{name: "the anchor", want: Fail, seen: "which is its anchor on the external link", remedy: "talosctl apply-config --nodes edge-worker-01 --file out/machines/edge-worker-01.yaml",
			change: func(t *testing.T, s *Snapshot) { at(w1, s.Plan.Machines[w1].Anchor.String())(t, s) }},
		{name: "the VIP", want: Fail, seen: "edge-controlplane-01 has 203.0.113.79, which is the API's VIP", change: at(cp1, "10.0.0.11", "203.0.113.79")},
		{name: "an external address", want: Fail, seen: "203.0.113.60, which is of the external network", change: at(w1, "203.0.113.60")},
		{name: "another network", want: Fail, seen: "192.168.1.5, outside the private network", change: at(w1, "192.168.1.5")},
		{name: "none", want: Fail, seen: "edge-worker-01 has no IPv4 InternalIP", change: at(w1)},
		{name: "IPv6 alone", want: Fail, seen: "no IPv4 InternalIP", change: at(w1, "fd00::1")},
		{name: "one for two", want: Fail, seen: "edge-worker-01 and edge-worker-02 both have 10.0.0.13", change: at(w2, "10.0.0.13")},
		{name: "not the plan's", want: Fail, seen: "edge-worker-01 has 10.0.0.13, and the plan gives it 10.0.0.99",
			edits: []string{static, "machines: {edge-worker-01: {address: 10.0.0.99}}\n" + static, "cluster: {bridge: vmbr1}", "cluster: {bridge: vmbr1, gateway: 10.0.0.1}"}},
		{name: "no nodes", want: Unknown, seen: "has no nodes", change: func(_ *testing.T, s *Snapshot) { s.Nodes.Value = nil }},
	})
}

func TestReturnPathReady(t *testing.T) {
	pod := func(s *Snapshot, i int) *corev1.Pod { return &s.ReturnPath.Value[i] }
	judge(t, "return-path-ready", []planted{
		{name: "as planned", want: Pass, seen: "ready on 4 of 4 machines"},
		{name: "none on a machine", want: Fail, seen: "edge-worker-02 has none", remedy: "talosctl apply-config --nodes edge-worker-02", change: func(_ *testing.T, s *Snapshot) {
			s.ReturnPath.Value = s.ReturnPath.Value[:w2]
		}},
		{name: "crashes", want: Fail, seen: "edge-worker-01: not ready: CrashLoopBackOff back-off?[31m restarting; started again 9 times, last ended 1m0s ago with 2",
			remedy: "exec homeward-return-path-edge-worker-01 -- /homeward-agent status", change: func(_ *testing.T, s *Snapshot) { broken(pod(s, w1), "CrashLoopBackOff", 9) }},
		{name: "the nft pod crashes", want: Fail, seen: "not ready", remedy: "logs homeward-return-path-edge-worker-01", edits: shapes["nft pod"],
			change: func(_ *testing.T, s *Snapshot) { broken(pod(s, w1), "CrashLoopBackOff", 9) }},
		{name: "cannot be pulled", want: Fail, seen: "ImagePullBackOff", change: func(_ *testing.T, s *Snapshot) { broken(pod(s, w1), "ImagePullBackOff", 0) }},
		{name: "says it is not ready", want: Fail, seen: "its readiness probe fails", change: func(_ *testing.T, s *Snapshot) {
			pod(s, w1).Status.Conditions[0].Status, pod(s, w1).Status.ContainerStatuses[0].Ready = corev1.ConditionFalse, false
		}},
		{name: "restless", want: Warn, seen: "ready, and started again 4 times", change: func(_ *testing.T, s *Snapshot) { restart(pod(s, w1), time.Minute) }},
		{name: "was restless a day ago", want: Pass, change: func(_ *testing.T, s *Snapshot) { restart(pod(s, w1), 24*time.Hour) }},
		{name: "two on one machine", want: Fail, seen: "edge-worker-01 has 2: homeward-return-path-edge-worker-01, homeward-return-path-x", remedy: "delete pod homeward-return-path-x", change: func(_ *testing.T, s *Snapshot) {
			second := *pod(s, w1)
			second.Name = "homeward-return-path-x"
			s.ReturnPath.Value = append(s.ReturnPath.Value, second)
		}},
		{name: "one where none is needed", want: Warn, seen: "edge-batch-01 has one and needs none", edits: shapes["batch without NIC"], change: func(_ *testing.T, s *Snapshot) {
			extra := *pod(s, w1)
			extra.Spec.NodeName = "edge-batch-01"
			s.ReturnPath.Value = append(s.ReturnPath.Value, extra)
		}},
		{name: "one on a stranger", want: Warn, seen: `node "x", which is not in the plan, has one`, change: func(_ *testing.T, s *Snapshot) {
			extra := *pod(s, w1)
			extra.Spec.NodeName = "x"
			s.ReturnPath.Value = append(s.ReturnPath.Value, extra)
		}},
		{name: "a clean-up pod is none", want: Pass, change: func(_ *testing.T, s *Snapshot) {
			extra := *pod(s, w1)
			extra.Name = "homeward-cleanup-edge-worker-01"
			s.ReturnPath.Value = append(s.ReturnPath.Value, extra)
		}},
	})
}

func TestReturnPathSpec(t *testing.T) {
	spec := func(change func(*corev1.PodSpec)) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { change(&s.ReturnPath.Value[w1].Spec) }
	}
	args := func(change func([]string) []string) func(*testing.T, *Snapshot) {
		return spec(func(p *corev1.PodSpec) { p.Containers[0].Args = change(p.Containers[0].Args) })
	}
	older := func(t *testing.T, s *Snapshot) {
		old := planOf(t, "ingress_pool: 203.0.113.75-203.0.113.78", "ingress_pool: 203.0.113.75-203.0.113.77")
		for i, m := range s.Plan.Machines {
			s.ReturnPath.Value[i] = pathPod(t, old, m)
		}
	}
	const noAgent = "agent: {image: \"registry.example.edu/homeward-agent:v1.2.3\"}\n"
	judge(t, "return-path-spec", []planted{
		{name: "as planned", want: Pass, seen: "the same on 4 machines"},
		{name: "as Talos serves it, without the kubelet's toleration", want: Pass, change: spec(func(p *corev1.PodSpec) { p.Tolerations = p.Tolerations[:1] })},
		{name: "an older pool, one line for all", want: Fail, change: older, remedy: "talosctl apply-config",
			seen: "edge-controlplane-01, edge-controlplane-02, edge-worker-01, edge-worker-02: spec.containers[0].args has \"--destinations=203.0.113.75-203.0.113.77,203.0.113.79/32\""},
		{name: "another image", want: Fail, seen: `edge-worker-01: spec.containers[0].image is "registry.example.edu/homeward-agent:v1.2.2", the plan has "registry.example.edu/homeward-agent:v1.2.3"`,
			change: spec(func(p *corev1.PodSpec) { p.Containers[0].Image = "registry.example.edu/homeward-agent:v1.2.2" })},
		{name: "an argument less", want: Fail, seen: `spec.containers[0].args lacks "--routes=check"`, change: args(func(a []string) []string {
			var out []string
			for _, x := range a {
				if x != "--routes=check" {
					out = append(out, x)
				}
			}
			return out
		})},
		{name: "an argument twice", want: Fail, seen: "args has another order, or repeats itself", change: args(func(a []string) []string { return append(append([]string{}, a...), a[0]) })},
		{name: "a capability more", want: Fail, seen: "SYS_ADMIN", change: spec(func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.Capabilities.Add = append(p.Containers[0].SecurityContext.Capabilities.Add, "SYS_ADMIN")
		})},
		{name: "a container more", want: Fail, seen: "spec.containers[1] is", change: spec(func(p *corev1.PodSpec) { p.Containers = append(p.Containers, corev1.Container{Name: "x"}) })},
		{name: "a volume", want: Fail, seen: "spec.volumes is", change: spec(func(p *corev1.PodSpec) { p.Volumes = []corev1.Volume{{Name: "x"}} })},
		{name: "the host's processes", want: Fail, seen: `spec.hostPID is "true", which the plan has not`, change: spec(func(p *corev1.PodSpec) { p.HostPID = true })},
		{name: "not on the host's network", want: Fail, seen: "spec.hostNetwork is missing", change: spec(func(p *corev1.PodSpec) { p.HostNetwork = false })},
		{name: "another priority", want: Fail, seen: "spec.priority", change: spec(func(p *corev1.PodSpec) { p.Priority = new(int32(0)) })},
		{name: "a probe less", want: Fail, seen: "spec.containers[0].readinessProbe is missing", change: spec(func(p *corev1.PodSpec) { p.Containers[0].ReadinessProbe = nil })},
		{name: "more memory", want: Fail, seen: `limits.memory is "1Gi", the plan has "64Mi"`, change: spec(func(p *corev1.PodSpec) {
			p.Containers[0].Resources = decode[corev1.ResourceRequirements](t, `{"limits": {"memory": "1Gi"}, "requests": {"cpu": "10m", "memory": "24Mi"}}`)
		})},
		{name: "the script of the nft pod", want: Fail, edits: []string{noAgent, ""}, seen: "spec.containers[0].args[0] is ...", change: args(func(a []string) []string { return []string{a[0] + "\nrm -rf /"} })},
		{name: "no static pod", want: Fail, seen: "it is no static pod", change: func(_ *testing.T, s *Snapshot) { s.ReturnPath.Value[w1].Annotations = nil }},
		{name: "a label less", want: Fail, seen: `label app.kubernetes.io/name is "", not "homeward-return-path"`, change: func(_ *testing.T, s *Snapshot) {
			s.ReturnPath.Value[w1].Labels = map[string]string{"app.kubernetes.io/managed-by": "homeward", "app.kubernetes.io/part-of": "homeward", "app.kubernetes.io/component": "return-path"}
		}},
		{name: "a plan that cannot render it", want: Unknown, seen: "kubernetes.version", remedy: "homeward plan", change: func(_ *testing.T, s *Snapshot) {
			bare := *s.Plan
			bare.Kubernetes.Version, bare.Agent.Image, bare.ReturnPath = "", "", &netplan.ReturnPath{Pod: netplan.PodNFT}
			s.Plan = &bare
		}},
		{name: "nothing to compare", want: Unknown, seen: "no such pod", change: func(_ *testing.T, s *Snapshot) { s.ReturnPath.Value = nil }},
	})
}

// Every part of the spec that the plan renders counts: with any of it taken out, the
// pods differ.
func TestEveryPartOfThePodCounts(t *testing.T) {
	s := healthy(t)
	m := s.Plan.Machines[w1]
	want, err := plainSpec(pathPod(t, s.Plan, m).Spec, corev1.PodSpec{})
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	var each func(path string, v any, without func(any) any)
	each = func(path string, v any, without func(any) any) {
		if inner, ok := v.(map[string]any); ok {
			for key := range inner {
				each(path+"."+key, inner[key], func(now any) any {
					changed := map[string]any{}
					for k, x := range inner {
						if k != key {
							changed[k] = x
						} else if now != nil {
							changed[k] = now
						}
					}
					return without(changed)
				})
			}
		}
		if list, ok := v.([]any); ok {
			for i := range list {
				each(fmt.Sprintf("%s[%d]", path, i), list[i], func(now any) any {
					changed := slices.Clone(list)
					if now == nil {
						return without(slices.Delete(changed, i, i+1))
					}
					changed[i] = now
					return without(changed)
				})
			}
		}
		parts++
		if got := differences("spec", want, without(nil)); len(got) == 0 {
			t.Errorf("without %s nothing differs", path)
		}
	}
	each("spec", want, func(v any) any { return v })
	if parts < 50 {
		t.Errorf("only %d parts were taken out", parts)
	}
}
