package verify

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
)

func metallbChecks() []check {
	return []check{
		{"metallb-namespace", "speakers may use the node's network",
			"Pod Security refuses speakers in a namespace without the privileged label, and Talos enforces baseline where there is none: after the next restart of a node it announces nothing",
			namespaceLabels},
		{"metallb-controller", "MetalLB's controller is ready",
			"without it no service gets an address, and changes of pools have no effect",
			controllerReady},
		{"metallb-speakers", "a speaker is ready on announcing machines",
			"an address cannot move to a machine without a speaker; without any it is not announced at all",
			speakersReady},
		{"metallb-pool", "MetalLB hands out the plan's pool",
			"connections to other addresses are not marked, so their replies get lost, and nobody has reserved them",
			poolIsPlanned},
		{"metallb-pools-other", "no other pool widens or overlaps it",
			"a service without a pinned address gets one of any pool; MetalLB refuses its whole configuration when two pools overlap",
			otherPools},
	}
}

// hasPool says that the plan has addresses for services; where it has none the check
// is skipped.
func (s *Snapshot) hasPool(n *notes) bool {
	if len(s.Plan.ServicePool()) > 0 {
		return true
	}
	n.skip("the plan has no ingress pool")
	return false
}

const (
	podSecurity = "pod-security.kubernetes.io/"
	privileged  = "privileged"
)

func namespaceLabels(s *Snapshot, n *notes) {
	if !s.hasPool(n) {
		return
	}
	namespace, ok := need(n, s.MetalLBNamespace)
	if !ok {
		return
	}
	label := fmt.Sprintf("kubectl label namespace %s --overwrite %senforce=%s %saudit=%s %swarn=%s",
		s.Namespace, podSecurity, privileged, podSecurity, privileged, podSecurity, privileged)
	if namespace == nil {
		n.fail("there is no namespace %s", s.Namespace)
		n.remedy("apply the plan's objects, then install MetalLB there; where it is installed elsewhere, name that with --metallb-namespace",
			"kubectl apply -f "+s.Out+"/kubernetes/metallb.yaml")
		return
	}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		switch got := namespace.Labels[podSecurity+mode]; {
		case got == privileged:
			n.saw("%s%s is %s", podSecurity, mode, got)
		case mode == "enforce" && got == "":
			n.fail("%s has no label %s%s", s.Namespace, podSecurity, mode)
		case mode == "enforce":
			n.fail("%s%s of %s is %s, not %s", podSecurity, mode, s.Namespace, plain(got), privileged)
		case got != "":
			n.warn("%s%s of %s is %s, not %s", podSecurity, mode, s.Namespace, plain(got), privileged)
		}
	}
	n.remedy("label the namespace", label)
}

// component are MetalLB's pods of one kind.
func (s *Snapshot) component(name string) []corev1.Pod {
	var out []corev1.Pod
	for _, p := range s.MetalLB.Value {
		if kube.MetalLBComponent(p.Labels) == name {
			out = append(out, p)
		}
	}
	return out
}

func controllerReady(s *Snapshot, n *notes) {
	if !s.hasPool(n) {
		return
	}
	if _, ok := need(n, s.MetalLB); !ok {
		return
	}
	pods := s.component(kube.Controller)
	ready := 0
	for _, p := range pods {
		if kube.PodReady(p) {
			ready++
			if text := restless(p, s.Taken); text != "" {
				n.warn("%s: %s", p.Name, text)
			}
		} else {
			n.warn("%s: not ready: %s", p.Name, podState(p, s.Taken))
		}
	}
	if ready == 0 {
		n.fail("no controller is ready in %s", s.Namespace)
		n.remedy("see why it does not run; where MetalLB is installed elsewhere, name that with --metallb-namespace", "kubectl -n "+s.Namespace+" get pods")
		return
	}
	n.saw("%s of %d ready", plural(ready, "controller"), len(pods))
	n.remedy("see why it is restless", "kubectl -n "+s.Namespace+" describe pods")
}

func speakersReady(s *Snapshot, n *notes) {
	if !s.hasPool(n) {
		return
	}
	if _, ok := need(n, s.MetalLB); !ok {
		return
	}
	by := map[string][]corev1.Pod{}
	for _, p := range s.component(kube.Speaker) {
		by[p.Spec.NodeName] = append(by[p.Spec.NodeName], p)
	}
	announcing, ready := 0, 0
	for _, m := range s.Plan.Machines {
		if !m.Announces {
			continue
		}
		announcing++
		pods := by[m.Name]
		at := slices.IndexFunc(pods, kube.PodReady)
		switch {
		case len(pods) == 0:
			n.fail("%s has no speaker", m.Name)
			n.remedy("see why the DaemonSet has no pod there: taints, selectors, Pod Security", "kubectl -n "+s.Namespace+" describe daemonsets")
		case at < 0:
			n.fail("%s: %s is not ready: %s", m.Name, pods[0].Name, podState(pods[0], s.Taken))
			n.remedy("see what the speaker says", "kubectl -n "+s.Namespace+" logs "+pods[0].Name+" --previous")
		default:
			ready++
			if text := restless(pods[at], s.Taken); text != "" {
				n.warn("%s: %s is ready, and %s", m.Name, pods[at].Name, text)
				n.remedy("see what the speaker says", "kubectl -n "+s.Namespace+" logs "+pods[at].Name+" --previous")
			}
		}
	}
	if announcing == 0 {
		n.skip("no machine of the plan announces")
		return
	}
	n.saw("ready on %d of %s", ready, plural(announcing, "announcing machine"))
}
