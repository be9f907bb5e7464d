package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan"
	"homeward/talosgen"
)

func podChecks() []check {
	return []check{
		{"return-path-ready", "the return-path pod is ready where needed",
			"without it replies leave by the private NIC and are dropped there, on the machines that lack it",
			returnPathReady},
		{"return-path-spec", "that pod runs as the plan renders it",
			"a pod of an older plan marks connections for the old addresses, by the old NIC or with the old image",
			returnPathSpec},
	}
}

// mirrorAnnotation is on the pod that a kubelet shows for a static one.
const mirrorAnnotation = corev1.MirrorPodAnnotationKey

// pathPods are the return-path pods by node. Clean-up pods are none.
func (s *Snapshot) pathPods() map[string][]corev1.Pod {
	out := map[string][]corev1.Pod{}
	for _, p := range s.ReturnPath.Value {
		if strings.HasPrefix(p.Name, netplan.PodName) {
			out[p.Spec.NodeName] = append(out[p.Spec.NodeName], p)
		}
	}
	return out
}

// needPods gives the return-path pods by node, and whether a check can be made of them.
func (s *Snapshot) needPods(n *notes) (map[string][]corev1.Pod, bool) {
	if !slices.ContainsFunc(s.Plan.Machines, s.Plan.MarksConnections) {
		n.skip("no machine of the plan needs one")
		return nil, false
	}
	_, ok := need(n, s.ReturnPath)
	return s.pathPods(), ok
}

func returnPathReady(s *Snapshot, n *notes) {
	pods, ok := s.needPods(n)
	if !ok {
		return
	}
	ready, needed := 0, 0
	for _, m := range s.Plan.Machines {
		of := pods[m.Name]
		delete(pods, m.Name)
		if !s.Plan.MarksConnections(m) {
			if len(of) > 0 {
				n.warn("%s has one and needs none", m.Name)
				s.apply(n, m.Name)
			}
			continue
		}
		needed++
		switch {
		case len(of) == 0:
			n.fail("%s has none", m.Name)
			s.apply(n, m.Name)
		case len(of) > 1:
			n.fail("%s has %d: %s", m.Name, len(of), named(podNames(of)))
			n.remedy("keep the static pod, delete the others", "kubectl -n "+kubeSystem+" delete pod "+of[1].Name)
		case !kube.PodReady(of[0]):
			n.fail("%s: not ready: %s", m.Name, podState(of[0], s.Taken))
			s.askPod(n, of[0])
		default:
			ready++
			if text := restless(of[0], s.Taken); text != "" {
				n.warn("%s: ready, and %s", m.Name, text)
				s.askPod(n, of[0])
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(pods)) {
		n.warn("node %q, which is not in the plan, has one", node)
		n.remedy("take the node into the plan, or the pod out of its machine config", "")
	}
	n.saw("ready on %d of %s", ready, plural(needed, "machine"))
}

// askPod is the remedy of a pod that is not ready.
func (s *Snapshot) askPod(n *notes, p corev1.Pod) {
	if s.Plan.Agent.Image != "" {
		n.remedy("ask the agent what it lacks", fmt.Sprintf("kubectl -n %s exec %s -- /homeward-agent status", kubeSystem, p.Name))
		return
	}
	n.remedy("see what its script says", fmt.Sprintf("kubectl -n %s logs %s", kubeSystem, p.Name))
}

func podNames(pods []corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

// podState says why a pod is not ready, in the words of its kubelet.
func podState(p corev1.Pod, now time.Time) string {
	if p.DeletionTimestamp != nil {
		return "being deleted"
	}
	var parts []string
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			parts = append(parts, strings.TrimSpace(c.State.Waiting.Reason+" "+c.State.Waiting.Message))
		case c.State.Terminated != nil:
			parts = append(parts, fmt.Sprintf("ended with %d (%s)", c.State.Terminated.ExitCode, c.State.Terminated.Reason))
		case !c.Ready:
			parts = append(parts, "its readiness probe fails")
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "phase "+string(p.Status.Phase)+", and its condition Ready is not True")
	}
	if text := restless(p, now); text != "" {
		parts = append(parts, text)
	}
	return plain(strings.Join(parts, "; "))
}

const (
	manyRestarts = 3
	lately       = 15 * time.Minute
)

// restless says that a pod's containers ended often and lately; empty where they did
// not.
func restless(p corev1.Pod, now time.Time) string {
	for _, c := range p.Status.ContainerStatuses {
		last := c.LastTerminationState.Terminated
		if c.RestartCount >= manyRestarts && last != nil && now.Sub(last.FinishedAt.Time) < lately {
			return fmt.Sprintf("started again %d times, last ended %s ago with %d", c.RestartCount,
				now.Sub(last.FinishedAt.Time).Round(time.Second), last.ExitCode)
		}
	}
	return ""
}

func returnPathSpec(s *Snapshot, n *notes) {
	pods, ok := s.needPods(n)
	if !ok {
		return
	}
	same := 0
	// Machines with the same difference are one line.
	differ := map[string][]string{}
	for _, m := range s.Plan.Machines {
		of := pods[m.Name]
		if !s.Plan.MarksConnections(m) || len(of) == 0 {
			continue // returnPathReady says that there is none
		}
		object, err := talosgen.StaticPod(s.Plan, m)
		if err != nil {
			n.unknown("%v", err)
			n.remedy("correct the plan", "homeward plan -f "+s.File)
			return
		}
		list, err := podDifferences(object, of[0])
		if err != nil {
			n.unknown("comparing the pod of %s: %v", m.Name, err)
			n.remedy("tell the makers of Homeward", "")
			return
		}
		if len(list) == 0 {
			same++
		}
		for _, d := range list {
			differ[d] = append(differ[d], m.Name)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(differ)) {
		n.fail("%s: %s", named(differ[d]), d)
		s.apply(n, differ[d][0])
	}
	if same == 0 && len(differ) == 0 {
		n.unknown("there is no such pod to compare")
		n.remedy("see check return-path-ready", "")
		return
	}
	n.saw("the same on %s", plural(same, "machine"))
}
