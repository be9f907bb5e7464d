package verify

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selector is a label selector of MetalLB's objects.
type Selector = metav1.LabelSelector

// matches says that any of the selectors selects the labels. One that Kubernetes would
// refuse selects nothing.
func matches(selectors []Selector, of map[string]string) bool {
	return slices.ContainsFunc(selectors, func(s Selector) bool {
		selector, err := metav1.LabelSelectorAsSelector(&s)
		return err == nil && selector.Matches(labels.Set(of))
	})
}

// selects says that the advertisement is for a pool: by name, by label, or because it
// is for all.
func (a Advertisement) selects(p Pool) bool {
	if a.Metadata.Namespace != p.Metadata.Namespace {
		return false
	}
	if len(a.Spec.Pools) == 0 && len(a.Spec.PoolSelectors) == 0 {
		return true
	}
	return slices.Contains(a.Spec.Pools, p.Metadata.Name) || matches(a.Spec.PoolSelectors, p.Metadata.Labels)
}

// from says that the advertisement lets nodes with these labels announce.
func (a Advertisement) from(labels map[string]string) bool {
	return len(a.Spec.NodeSelectors) == 0 || matches(a.Spec.NodeSelectors, labels)
}
