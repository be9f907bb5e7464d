//go:build linux

package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// nodeStatus is a node's that is ready at an address.
func nodeStatus(address string) string {
	return fmt.Sprintf(`{"addresses": [{"type": "InternalIP", "address": %q}], "conditions": [{"type": "Ready", "status": "True"}],
		"nodeInfo": {"kubeletVersion": "v1.36.3", "osImage": "Talos (v1.13.9)"}}`, address)
}

// podStatus is a pod's that is ready, at an address, with one container.
func podStatus(address, container, image string) string {
	return fmt.Sprintf(`{"phase": "Running", "podIP": %[1]q, "podIPs": [{"ip": %[1]q}], "conditions": [{"type": "Ready", "status": "True"}],
		"containerStatuses": [{"name": %[2]q, "ready": true, "restartCount": 0, "image": %[3]q, "imageID": %[3]q, "state": {"running": {}}}]}`,
		address, container, image)
}

// standInNode makes a node that no kubelet speaks for, with the labels of its patch.
func (s *verifySite) standInNode(name, address string, labels map[string]string) {
	s.Helper()
	text, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "labels": labels}})
	s.must(err)
	s.apply(string(text))
	s.status("node", "default", name, nodeStatus(address))
}

// patchLabels are the node labels of a machine's patch.
func (s *verifySite) patchLabels(t installed) map[string]string {
	s.Helper()
	list, err := t.documents(AgentPod)
	s.must(err)
	labels := map[string]string{}
	for _, d := range list {
		if d.Machine != nil {
			maps.Copy(labels, d.Machine.NodeLabels)
		}
	}
	return labels
}

// excluded is what Talos's own base config gives to control planes.
const excluded = "node.kubernetes.io/exclude-from-external-load-balancers"

// standInControlPlane makes a control plane's node and the mirror of its static pod,
// which in the lab has no kubelet to make them.
func (s *verifySite) standInControlPlane(c *ControlPlane, image string) {
	s.Helper()
	labels := s.patchLabels(c.talos())
	labels[excluded] = ""
	s.standInNode(c.Name, c.Address.String(), labels)
	s.mirror(c.talos(), c.Address.String(), image, nil)
}

// mirror makes the pod object that a kubelet makes of a patch's static pod; change
// alters it first.
func (s *verifySite) mirror(t installed, address, image string, change func(pod map[string]any)) {
	s.Helper()
	list, err := t.documents(s.kind)
	s.must(err)
	at := slices.IndexFunc(list, func(d document) bool { return d.Machine != nil && len(d.Machine.Pods) == 1 })
	if at < 0 {
		s.Fatalf("the patch of %s has no static pod", t.name)
	}
	pod := list[at].Machine.Pods[0]
	name := returnPathName + "-" + t.name
	meta := pod["metadata"].(map[string]any)
	meta["name"] = name
	meta["annotations"] = map[string]any{"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "http"}
	pod["spec"].(map[string]any)["nodeName"] = t.name
	if change != nil {
		change(pod)
	}
	text, err := yaml.Marshal(pod)
	s.must(err)
	s.kubectl("-n", "kube-system", "delete", "pod", name, "--ignore-not-found", "--grace-period=0", "--force")
	s.apply(string(text))
	s.status("pod", "kube-system", name, podStatus(address, "return-path", image))
}

// backend makes the pod object of one of a machine's static pods, ready at an address.
func (s *verifySite) backend(m *Machine, name, address string) {
	s.Helper()
	var pod map[string]any
	s.must(yaml.Unmarshal([]byte(m.backends()[name]), &pod))
	meta := pod["metadata"].(map[string]any)
	meta["name"] = name + "-" + m.Name
	pod["spec"].(map[string]any)["nodeName"] = m.Name
	text, err := yaml.Marshal(pod)
	s.must(err)
	s.apply(string(text))
	s.status("pod", meta["namespace"].(string), name+"-"+m.Name, podStatus(address, "echo", "x"))
}

// standInPodText is a pod of MetalLB's chart on a node.
const standInPodText = `apiVersion: v1
kind: Pod
metadata:
  name: %[1]s
  namespace: metallb-system
  labels: {app.kubernetes.io/name: metallb, app.kubernetes.io/component: speaker}
spec:
  nodeName: %[2]s
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [{name: speaker, image: ` + echoImage + `, imagePullPolicy: Never, args: [":9999"]}]
`

func standInSpeaker(machine string) string { return "verify-speaker-" + machine }

// kubeProxyObject is the DaemonSet as Talos makes it. No controller of the lab acts on
// it: kube-proxy runs as a process.
const kubeProxyObject = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: kube-proxy}}
  template:
    metadata: {labels: {k8s-app: kube-proxy}}
    spec:
      containers:
      - name: kube-proxy
        image: registry.k8s.io/kube-proxy:v1.36.3
        command: [/usr/local/bin/kube-proxy, --cluster-cidr=10.244.0.0/16, --proxy-mode=MODE, --conntrack-max-per-core=0]
`

func kubeProxyOf(mode string) string { return strings.Replace(kubeProxyObject, "MODE", mode, 1) }

// standIns makes what neither lab has: the control planes as nodes, speakers on their
// nodes, and kube-proxy's DaemonSet.
func (s *verifySite) standIns(image string) {
	s.Helper()
	for _, c := range s.lab.ControlPlanes {
		s.standInControlPlane(c, image)
	}
	for _, m := range s.lab.Machines {
		s.apply(fmt.Sprintf(standInPodText, standInSpeaker(m.Name), m.Name))
	}
	s.apply(kubeProxyOf("nftables"))
	// The lab's pod of Traefik has no port https.
	s.kubectl("-n", "ingress", "patch", "service", "traefik", "--type=json", "-p", `[{"op": "remove", "path": "/spec/ports/1"}]`)
}

// removeStandIns takes them away.
func (s *verifySite) removeStandIns() {
	s.Helper()
	for _, c := range s.lab.ControlPlanes {
		s.kubectl("-n", "kube-system", "delete", "pod", returnPathName+"-"+c.Name, "--grace-period=0", "--force")
		s.kubectl("delete", "node", c.Name)
	}
	for _, m := range s.lab.Machines {
		s.kubectl("-n", "metallb-system", "delete", "pod", standInSpeaker(m.Name))
	}
	s.kubectl("-n", "kube-system", "delete", "daemonset", "kube-proxy")
	s.must(s.lab.ApplyGenerated(s.Context(), "traefik.yaml"))
}
