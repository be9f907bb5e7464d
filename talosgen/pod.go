package talosgen

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"homeward/netplan"
)

const (
	podNamespace      = "kube-system"
	podContainer      = "return-path"
	podPriorityClass  = "system-node-critical"
	podGraceSeconds   = 5
	metricsPortName   = "metrics"
	cleanupPodName    = "homeward-cleanup"
	cleanupSeconds    = 300
	agentProgram      = "/homeward-agent"
	kubeProxyImage    = "registry.k8s.io/kube-proxy"
	capNetAdmin       = corev1.Capability("NET_ADMIN")
	capNetRaw         = corev1.Capability("NET_RAW")
	capAll            = corev1.Capability("ALL")
	cpuRequest        = 10       // thousandths of a core
	agentMemory       = 24 << 20 // bytes
	agentMemoryLimit  = 64 << 20
	nftMemory         = 16 << 20
	nftMemoryLimit    = 64 << 20 // nft takes 15 MiB beside 10,000 chains of kube-proxy
	podLabelName      = "app.kubernetes.io/name"
	podLabelComponent = "app.kubernetes.io/component"
	podLabelPartOf    = "app.kubernetes.io/part-of"
	podLabelManagedBy = "app.kubernetes.io/managed-by"
	podProduct        = "homeward"
	componentPath     = "return-path"
	componentCleaning = "cleanup"
)

// StaticPod is the static pod that keeps the return path of a machine, as Talos
// takes it in machine.pods or KubeStaticPodConfig. It is nil where
// p.MarksConnections(m) is false. With an agent image it runs the agent, else a
// shell loop around nft in the kube-proxy image. The error says that the plan has
// no Kubernetes version to name that image by.
//
// A static pod can have no imagePullSecrets, service account or volume from the
// API; it is checked by nobody before the kubelet reads it.
func StaticPod(p *netplan.Plan, m netplan.Machine) (map[string]any, error) {
	if !p.MarksConnections(m) {
		return nil, nil
	}
	container, err := pathContainer(p, m)
	if err != nil {
		return nil, err
	}
	return podObject(&corev1.Pod{
		TypeMeta:   podType(),
		ObjectMeta: podMeta(netplan.PodName, componentPath),
		Spec: corev1.PodSpec{
			HostNetwork:                   true,
			PriorityClassName:             podPriorityClass,
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(podGraceSeconds)),
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:                    []corev1.Container{container},
		},
	})
}

func pathContainer(p *netplan.Plan, m netplan.Machine) (corev1.Container, error) {
	if p.Agent.Image != "" {
		return agentContainer(p, m), nil
	}
	return nftContainer(p, m)
}

func podType() metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"} }

func podMeta(name, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: podNamespace,
		Labels: map[string]string{
			podLabelName:      name,
			podLabelComponent: component,
			podLabelPartOf:    podProduct,
			podLabelManagedBy: podProduct,
		},
	}
}

// podSecurity is the least a container needs that changes the node's network. It is
// user 0 because the kernel gives a capability that was added to no other user's
// process; user 0 without capabilities owns nothing else in there.
func podSecurity(add ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsUser:                new(int64(0)),
		RunAsGroup:               new(int64(0)),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{capAll}, Add: add},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// podResources asks for little and bounds memory, in bytes. There is no limit of
// CPU: throttling would delay a repair.
func podResources(memory, limit int64) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(cpuRequest, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(limit, resource.BinarySI)},
	}
}

// podObject gives the pod as plain maps, without the empty status and timestamp
// that the typed form always carries.
func podObject(pod *corev1.Pod) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, fmt.Errorf("converting pod %s: %w", pod.Name, err)
	}
	delete(object, "status")
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return object, nil
}
