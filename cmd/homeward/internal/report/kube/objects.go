package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// The components of MetalLB.
const (
	Controller = "controller"
	Speaker    = "speaker"
)

// The labels by which MetalLB's workloads are known: of its manifests, and of its
// chart.
var metallbLabels = [...]struct{ product, component string }{
	{"app", "component"},
	{"app.kubernetes.io/name", "app.kubernetes.io/component"},
}

// metallbSelectors select a component's workloads, however it was installed.
func metallbSelectors(component string) []string {
	var out []string
	for _, l := range metallbLabels {
		out = append(out, l.product+"=metallb,"+l.component+"="+component)
	}
	return out
}

// MetalLBComponent is the component that an object with these labels belongs to; empty
// is none of MetalLB's.
func MetalLBComponent(labels map[string]string) string {
	for _, l := range metallbLabels {
		if labels[l.product] == "metallb" && labels[l.component] != "" {
			return labels[l.component]
		}
	}
	return ""
}

// ExcludedLabel keeps MetalLB, and others, from announcing from a node that has it,
// with whatever value.
const ExcludedLabel = corev1.LabelNodeExcludeBalancers

// ReturnPathSelector selects the pods that keep the return path. Not all pods of
// ours: the one that cleans a node up is none.
const ReturnPathSelector = "app.kubernetes.io/managed-by=homeward,app.kubernetes.io/component=return-path"

// PodReady says that a pod's readiness probes pass.
func PodReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// NodeReady says that a node's kubelet says so.
func NodeReady(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
