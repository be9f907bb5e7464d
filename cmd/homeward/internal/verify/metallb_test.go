package verify

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestMetalLBNamespace(t *testing.T) {
	label := func(mode, value string) func(*testing.T, *Snapshot) {
		return func(_ *testing.T, s *Snapshot) { s.MetalLBNamespace.Value.Labels[podSecurity+mode] = value }
	}
	judge(t, "metallb-namespace", []planted{
		{name: "as planned", want: Pass},
		{name: "baseline", want: Fail, seen: "enforce of metallb-system is baseline, not privileged", remedy: "kubectl label namespace metallb-system --overwrite", change: label("enforce", "baseline")},
		{name: "no label", want: Fail, seen: "has no label", change: func(_ *testing.T, s *Snapshot) { s.MetalLBNamespace.Value.Labels = nil }},
		{name: "warns", want: Warn, seen: "warn of metallb-system is restricted", change: label("warn", "restricted")},
		{name: "warns of nothing", want: Pass, change: func(_ *testing.T, s *Snapshot) { delete(s.MetalLBNamespace.Value.Labels, podSecurity+"warn") }},
		{name: "none", want: Fail, seen: "there is no namespace metallb-system", remedy: "--metallb-namespace", change: func(_ *testing.T, s *Snapshot) { s.MetalLBNamespace.Value = nil }},
	})
}

func TestMetalLBPods(t *testing.T) {
	// The speakers come first, the controller last.
	judge(t, "metallb-controller", []planted{
		{name: "as planned", want: Pass, seen: "1 controller of 1 ready"},
		{name: "not ready", want: Fail, seen: "no controller is ready", change: func(_ *testing.T, s *Snapshot) { broken(&s.MetalLB.Value[2], "CrashLoopBackOff", 5) }},
		{name: "one of two", want: Warn, seen: "second: not ready: Pending?", change: func(_ *testing.T, s *Snapshot) {
			second := metallbPod("second", "controller", "x")
			broken(&second, "Pending\x07", 0)
			s.MetalLB.Value = append(s.MetalLB.Value, second)
		}},
		{name: "restless", want: Warn, seen: "controller: started again 4 times", remedy: "describe pods", change: func(_ *testing.T, s *Snapshot) { restart(&s.MetalLB.Value[2], time.Minute) }},
		{name: "installed elsewhere", want: Fail, remedy: "--metallb-namespace", change: func(_ *testing.T, s *Snapshot) { s.MetalLB.Value = nil }},
		{name: "by the chart", want: Pass, change: func(_ *testing.T, s *Snapshot) {
			s.MetalLB.Value[2].Labels = map[string]string{"app.kubernetes.io/name": "metallb", "app.kubernetes.io/component": "controller"}
		}},
	})
	judge(t, "metallb-speakers", []planted{
		{name: "as planned", want: Pass, seen: "ready on 2 of 2 announcing machines"},
		{name: "none on a machine", want: Fail, seen: "edge-worker-01 has no speaker", remedy: "describe daemonsets", change: func(_ *testing.T, s *Snapshot) { s.MetalLB.Value = s.MetalLB.Value[1:] }},
		{name: "crashes", want: Fail, seen: "speaker-edge-worker-02 is not ready: CrashLoopBackOff", remedy: "logs speaker-edge-worker-02 --previous", change: func(_ *testing.T, s *Snapshot) { broken(&s.MetalLB.Value[1], "CrashLoopBackOff", 5) }},
		{name: "restless", want: Warn, seen: "speaker-edge-worker-01 is ready, and started again 4 times", remedy: "--previous", change: func(_ *testing.T, s *Snapshot) { restart(&s.MetalLB.Value[0], time.Minute) }},
		{name: "an old one beside a ready one", want: Pass, change: func(_ *testing.T, s *Snapshot) {
			old := metallbPod("old", "speaker", "edge-worker-01")
			broken(&old, "Completed", 0)
			s.MetalLB.Value = append([]corev1.Pod{old}, s.MetalLB.Value...)
		}},
		{name: "another's pod is no speaker", want: Fail, change: func(_ *testing.T, s *Snapshot) { s.MetalLB.Value[0].Labels["app"] = "other" }},
	})
}

func pools(list ...func(testing.TB) Pool) func(*testing.T, *Snapshot) {
	return func(t *testing.T, s *Snapshot) {
		s.Pools.Value = nil
		for _, p := range list {
			s.Pools.Value = append(s.Pools.Value, p(t))
		}
	}
}

func pool(name, spec string) func(testing.TB) Pool {
	return func(t testing.TB) Pool { return poolOf(t, name, spec) }
}

func TestMetalLBPool(t *testing.T) {
	planned := pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78"]}`)
	judge(t, "metallb-pool", []planted{
		{name: "as planned", want: Pass, seen: "the plan has 203.0.113.75-203.0.113.78"},
		{name: "written otherwise", want: Pass, change: pools(pool("ingress", `{"addresses": ["203.0.113.76/31", " 203.0.113.78 - 203.0.113.78 ", "203.0.113.75/32"]}`))},
		{name: "of two pools with other names", want: Pass, change: pools(pool("a", `{"addresses": ["203.0.113.75/32"]}`), pool("b", `{"addresses": ["203.0.113.76-203.0.113.78"]}`))},
		{name: "wider", want: Fail, seen: "pool metallb-system/ingress also hands out 203.0.113.72-203.0.113.74, 203.0.113.79, which the plan has not", remedy: "kubectl apply -f out/kubernetes/metallb.yaml",
			change: pools(pool("ingress", `{"addresses": ["203.0.113.72/29"]}`))},
		{name: "host bits", want: Fail, seen: "also hands out", change: pools(pool("ingress", `{"addresses": ["203.0.113.75/29"]}`))},
		{name: "lacks one", want: Fail, seen: "no pool in metallb-system hands out 203.0.113.75", change: pools(pool("ingress", `{"addresses": ["203.0.113.76-203.0.113.78"]}`))},
		{name: "stale", want: Fail, seen: "no pool in metallb-system hands out 203.0.113.75-203.0.113.78", change: pools(pool("ingress", `{"addresses": ["203.0.113.90/32"]}`))},
		{name: "none", want: Fail, change: pools()},
		{name: "in another namespace", want: Fail, seen: "there are pools elsewhere: elsewhere/ingress", remedy: "--metallb-namespace", change: func(t *testing.T, s *Snapshot) { s.Pools.Value[0].Metadata.Namespace = "elsewhere" }},
		{name: "gives nothing unasked", want: Warn, seen: "autoAssign: false", change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78"], "autoAssign": false}`))},
		{name: "for some services", want: Warn, seen: "confined to some services", change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78"], "serviceAllocation": {"namespaces": ["x"]}}`))},
		{name: "a priority alone", want: Pass, change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78"], "serviceAllocation": {"priority": 5}}`))},
		{name: "avoids nothing it has", want: Pass, change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78"], "avoidBuggyIPs": true}`))},
		{name: "avoids some it has", want: Warn, seen: "never hands out 198.18.0.255, 198.18.1.0 by itself", change: pools(pool("ingress", `{"addresses": ["198.18.0.254-198.18.1.1"], "avoidBuggyIPs": true}`)),
			edits: []string{"cidr: 203.0.113.0/25", "cidr: 198.18.0.0/23", "gateway: 203.0.113.1", "gateway: 198.18.0.1", "kubeapi_vip: 203.0.113.79", "kubeapi_vip: 198.18.0.2", "ingress_pool: 203.0.113.75-203.0.113.78", "ingress_pool: 198.18.0.254-198.18.1.1"}},
		{name: "an entry that is none", want: Fail, seen: `has "203.0.113.7x/32", which MetalLB does not take`, change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78", "203.0.113.7x/32"]}`))},
		{name: "IPv6 beside it", want: Pass, change: pools(pool("ingress", `{"addresses": ["203.0.113.75-203.0.113.78", "2001:db8::/120", "fc00::1-fc00::5"]}`))},
	})
	judge(t, "metallb-pools-other", []planted{
		{name: "as planned", want: Pass, seen: "there is no other pool"},
		{name: "on the external link", want: Fail, seen: "hands out 203.0.113.100-203.0.113.110 of the external network", remedy: "delete ipaddresspool b", change: pools(planned, pool("b", `{"addresses": ["203.0.113.100-203.0.113.110"]}`))},
		{name: "on the private link", want: Fail, seen: "10.0.0.200-10.0.0.255 of the private network", change: pools(planned, pool("b", `{"addresses": ["10.0.0.200-10.0.1.10"]}`))},
		{name: "overlaps", want: Fail, seen: "pools metallb-system/b and metallb-system/ingress overlap", change: pools(planned, pool("b", `{"addresses": ["203.0.113.78/32"]}`))},
		{name: "elsewhere", want: Warn, seen: "192.0.2.0-192.0.2.255, which is not the plan's; services without a pinned address may get one", change: pools(planned, pool("b", `{"addresses": ["192.0.2.0/24"]}`))},
		{name: "elsewhere, on request", want: Warn, seen: "only services that ask for it", change: pools(planned, pool("b", `{"addresses": ["192.0.2.0/24"], "autoAssign": false}`))},
		{name: "IPv6", want: Warn, seen: "plans have IPv4 only", change: pools(planned, pool("b", `{"addresses": ["2001:db8::/120"]}`))},
		{name: "of another MetalLB", want: Warn, seen: "pool other/b is outside metallb-system", remedy: "", change: func(t *testing.T, s *Snapshot) {
			s.Pools.Value = append(s.Pools.Value, poolOf(t, "b", `{"addresses": ["192.0.2.0/24"]}`))
			s.Pools.Value[1].Metadata.Namespace = "other"
		}},
	})
}

func TestParsePoolBounds(t *testing.T) {
	for text, want := range map[string]string{"0.0.0.0/0": "0.0.0.0-255.255.255.255", "255.255.255.255/32": "255.255.255.255/32", "10.0.0.9/24": "10.0.0.0-10.0.0.255"} {
		if r, six, err := parsePool(text); err != nil || six || r.String() != want {
			t.Errorf("%s is %s, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "10.0.0.1", "10.0.0.9-10.0.0.1", "10.0.0.1-fc00::1", "a-b", "10.0.0.1-"} {
		if r, _, err := parsePool(text); err == nil {
			t.Errorf("%q is %s", text, r)
		}
	}
}
