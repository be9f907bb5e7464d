package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"homeward/netplan"
)

// podDifferences compares a living pod with the one that the plan renders for its
// machine: labels, the whole spec, and that it is a static pod. What the API server and
// the kubelet write into every pod is no difference. The lines are sorted.
func podDifferences(rendered map[string]any, living corev1.Pod) ([]string, error) {
	var want corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered, &want); err != nil {
		return nil, fmt.Errorf("reading the rendered pod: %w", err)
	}
	var out []string
	if living.Annotations[mirrorAnnotation] == "" {
		out = append(out, "it is no static pod: the kubelet does not start it without the API server")
	}
	for _, key := range slices.Sorted(maps.Keys(want.Labels)) {
		if got := living.Labels[key]; got != want.Labels[key] {
			out = append(out, fmt.Sprintf("label %s is %s, not %s", key, netplan.Quote(got), netplan.Quote(want.Labels[key])))
		}
	}
	planned, err := plainSpec(want.Spec, want.Spec)
	if err != nil {
		return nil, err
	}
	actual, err := plainSpec(living.Spec, want.Spec)
	if err != nil {
		return nil, err
	}
	out = append(out, differences("spec", planned, actual)...)
	slices.Sort(out)
	return out, nil
}

// plainSpec is a spec as JSON has it, without what others write into every pod unless
// the plan says it itself.
func plainSpec(spec, want corev1.PodSpec) (any, error) {
	spec = *spec.DeepCopy()
	withoutDefaults(&spec)
	spec.Tolerations = slices.DeleteFunc(spec.Tolerations, func(t corev1.Toleration) bool {
		// A kubelet adds it to static pods that it reads from files, not to Talos's.
		added := corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
		return t == added && !slices.Contains(want.Tolerations, added)
	})
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(text, &out)
}

// The priority that admission gives to class system-node-critical.
const nodeCritical = 2000001000

// withoutDefaults takes out what the API server and the kubelet fill in where a pod
// says nothing.
func withoutDefaults(s *corev1.PodSpec) {
	s.NodeName = ""
	unless(&s.RestartPolicy, corev1.RestartPolicyAlways)
	unless(&s.DNSPolicy, corev1.DNSClusterFirst)
	unless(&s.SchedulerName, corev1.DefaultSchedulerName)
	if s.SecurityContext != nil && reflect.ValueOf(*s.SecurityContext).IsZero() {
		s.SecurityContext = nil
	}
	if s.Priority != nil && *s.Priority == nodeCritical {
		s.Priority = nil
	}
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy == corev1.PreemptLowerPriority {
		s.PreemptionPolicy = nil
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		unless(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
		unless(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
		for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				unless(&p.SuccessThreshold, 1)
			}
		}
	}
}

// unless empties a field that has its default.
func unless[T comparable](field *T, standard T) {
	if *field == standard {
		*field = *new(T)
	}
}
