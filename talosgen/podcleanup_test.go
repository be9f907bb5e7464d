package talosgen_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
	"homeward/talosgen"
)

// cleanupPod renders the clean-up pod for a node, as the header says to do it.
func cleanupPod(t *testing.T, p *netplan.Plan, node string) ([]byte, *corev1.Pod) {
	t.Helper()
	text, err := talosgen.CleanupPod(p)
	if err != nil {
		t.Fatal(err)
	}
	return text, decodePod(t, []byte(strings.ReplaceAll(string(text), "NODE", node)))
}

func TestCleanupPod(t *testing.T) {
	for _, c := range []struct {
		file    string
		change  func(*netplan.Spec)
		command []string
	}{
		{"pod/cleanup-agent.yaml", withAgent(""), []string{"/homeward-agent", "cleanup"}},
		{"pod/cleanup-nft.yaml", nil, []string{"nft", "add table inet homeward; delete table inet homeward; " +
			"add table inet homeward_listing; delete table inet homeward_listing"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, pod := cleanupPod(t, podPlan(t, c.change), "edge-worker-01")
			golden(t, c.file, text)
			checkPod(t, pod)
			if pod.Name != "homeward-cleanup-edge-worker-01" || pod.Spec.NodeName != "edge-worker-01" {
				t.Errorf("name %q on node %q", pod.Name, pod.Spec.NodeName)
			}
			if pod.Spec.RestartPolicy != corev1.RestartPolicyNever || pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
				t.Errorf("restart policy %q, token %v: want it once and without a token", pod.Spec.RestartPolicy, pod.Spec.AutomountServiceAccountToken)
			}
			container := pod.Spec.Containers[0]
			if diff := cmp.Diff(c.command, append(container.Command, container.Args...)); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without a return path there is nothing to clean up", func(t *testing.T) {
		p := podPlan(t, nil)
		p.External, p.ReturnPath = nil, nil
		if text, err := talosgen.CleanupPod(p); text != nil || err != nil {
			t.Errorf("got %s, %v", text, err)
		}
	})
	t.Run("needs a version to name the kube-proxy image", func(t *testing.T) {
		p := podPlan(t, nil)
		p.Kubernetes.Version = ""
		if _, err := talosgen.CleanupPod(p); err == nil || !strings.Contains(err.Error(), "kubernetes.version is needed") {
			t.Errorf("error %v", err)
		}
	})
}

func TestCleanupPodRemovesOursAndOnlyOurs(t *testing.T) {
	t.Parallel()
	p := podPlan(t, nil)
	n := newNode(t, p)
	_, pod := cleanupPod(t, p, onWorker)
	c := pod.Spec.Containers[0]
	n.run("nft 'add table inet homeward; add table inet homeward_listing; add table inet theirs; add table ip homeward'")
	for _, when := range []string{"first", "again"} {
		args := append(append([]string{}, c.Command[1:]...), c.Args...)
		if out, err := n.host.Command(t.Context(), n.nft, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", when, err, out)
		}
		if left := n.run("nft list tables"); left != "table inet theirs\ntable ip homeward\n" {
			t.Errorf("%s, left:\n%s", when, left)
		}
	}
}
