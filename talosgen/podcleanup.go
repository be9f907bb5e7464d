package talosgen

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
)

// cleanupNode stands for the node's name until the operator fills it in. Capital
// letters are no valid name, so the API refuses the pod as it is.
const cleanupNode = "NODE"

// cleanupHeader is the comment in front of the clean-up pod: what it does not do
// has to be known before it is used.
const cleanupHeader = `Removes what Homeward's static pod made in one node's kernel, on nodes that have
no shell: nftables table inet ` + netplan.NFTablesTable + `, and nothing else. Running it twice does no harm.

First take the static pod out of that node's machine config and apply it, or the
pod puts the table back within seconds. Routes, routing rules and addresses are
Talos's: they go with the documents in the machine config, not with this pod.

Fill in the node's name, one run per node:

  sed 's/` + cleanupNode + `/edge-worker-01/g' cleanup-pod.yaml | kubectl create -f -
  kubectl -n ` + podNamespace + ` wait pod/` + cleanupPodName + `-edge-worker-01 --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s
  kubectl -n ` + podNamespace + ` delete pod ` + cleanupPodName + `-edge-worker-01
`

// CleanupPod is kubernetes/cleanup-pod.yaml: a pod that runs once on the node that
// the operator fills in and removes all of ours from its kernel. With an agent
// image it runs the agent's own clean-up, else nft in the kube-proxy image. It is
// nil where the plan has no return path. The error says that the plan has no
// Kubernetes version to name that image by.
func CleanupPod(p *netplan.Plan) ([]byte, error) {
	if p.ReturnPath == nil {
		return nil, nil
	}
	container, err := cleanupContainer(p)
	if err != nil {
		return nil, fmt.Errorf("rendering the clean-up pod: %w", err)
	}
	object, err := podObject(&corev1.Pod{
		TypeMeta:   podType(),
		ObjectMeta: podMeta(cleanupPodName, componentCleaning),
		Spec: corev1.PodSpec{
			HostNetwork:                   true,
			NodeName:                      cleanupNode,
			RestartPolicy:                 corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:         new(int64(cleanupSeconds)),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(podGraceSeconds)),
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:                    []corev1.Container{container},
		},
	})
	if err != nil {
		return nil, err
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		meta["name"] = cleanupPodName + "-" + cleanupNode
	}
	body, err := yaml.Dump(object, yaml.WithIndent(2))
	if err != nil {
		return nil, fmt.Errorf("encoding the clean-up pod: %w", err)
	}
	return append(cleanupComment(cleanupHeader), body...), nil
}

func cleanupContainer(p *netplan.Plan) (corev1.Container, error) {
	if p.Agent.Image != "" {
		return corev1.Container{
			Name:            componentCleaning,
			Image:           p.Agent.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{agentProgram},
			Args:            []string{"cleanup"},
			Resources:       podResources(agentMemory, agentMemoryLimit),
			SecurityContext: podSecurity(capNetAdmin),
		}, nil
	}
	image, err := nftImage(p)
	if err != nil {
		return corev1.Container{}, err
	}
	return corev1.Container{
		Name:            componentCleaning,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"nft"},
		Args:            []string{cleanupCommands()},
		Resources:       podResources(nftMemory, nftMemoryLimit),
		SecurityContext: podSecurity(capNetAdmin),
	}, nil
}

// cleanupCommands is one nft transaction. Adding before deleting makes it succeed
// where nothing is left.
func cleanupCommands() string {
	var commands []string
	for _, table := range []string{netplan.NFTablesTable, netplan.NFTablesScratchTable} {
		commands = append(commands, "add table inet "+table, "delete table inet "+table)
	}
	return strings.Join(commands, "; ")
}

// cleanupComment makes YAML comment lines of text.
func cleanupComment(text string) []byte {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	return []byte(b.String())
}
