//go:build linux

package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// reportPlan is three control planes and three workers on three Proxmox hosts.
const reportPlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 3}
workers:
  worker: {count: 3}
network: {cidr: 10.0.0.0/24, dns: [10.0.0.1]}
agent: {image: registry.example.edu/homeward-agent:v1}
machines:
  edge-controlplane-01: {node: pve1}
  edge-controlplane-02: {node: pve2}
  edge-controlplane-03: {node: pve3}
  edge-worker-01: {node: pve1}
  edge-worker-02: {node: pve2}
  edge-worker-03: {node: pve3}
proxmox:
  url: https://pve.example.edu:8006
  network:
    cluster: {bridge: vmbr1}
    external:
      bridge: vmbr0
      vlan: 1691
      cidr: 203.0.113.0/25
      gateway: 203.0.113.1
      anchor_cidr: 169.254.32.0/20
      kubeapi_vip: 203.0.113.79
      ingress_pool: 203.0.113.75-203.0.113.78
`

// deadNode is not ready, and neither is what should run on it.
const deadNode = "edge-worker-03"

// reportNodes are the cluster's; control planes have Kubernetes's own labels.
var reportNodes = []string{
	"edge-controlplane-01", "edge-controlplane-02", "edge-controlplane-03",
	"edge-worker-01", "edge-worker-02", deadNode,
}

// registerNodes makes the nodes as kubelets do.
func (b *bare) registerNodes() {
	b.t.Helper()
	for _, name := range reportNodes {
		labels, taints := "{kubernetes.io/os: linux}", "[]"
		if strings.Contains(name, "controlplane") {
			labels = `{kubernetes.io/os: linux, node-role.kubernetes.io/control-plane: "", node.kubernetes.io/exclude-from-external-load-balancers: ""}`
			taints = `[{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]`
		}
		b.apply(fmt.Sprintf("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: %s}, spec: {taints: %s}}", name, labels, taints))
		ready := map[bool]string{true: "True", false: "Unknown"}[name != deadNode]
		b.kubectl("", "patch", "node", name, "--subresource=status", "--type=merge", "-p",
			fmt.Sprintf(`{"status":{"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":%q}]}}`, ready))
	}
}

// installMetalLB applies MetalLB's own manifest and runs its controller.
func (b *bare) installMetalLB() {
	b.t.Helper()
	manifest, err := os.ReadFile(b.set.MetalLBManifest)
	must(b.t, err)
	b.apply(string(manifest))
	// Its webhook would be asked, and nobody is there.
	b.kubectl("", "delete", "validatingwebhookconfigurations", "--all")
	b.kubectl("", "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	controller := b.settle("app=metallb,component=controller", 1, "edge-worker-01")
	b.settle("app=metallb,component=speaker", len(reportNodes))
	b.start("metallb-controller", []string{"KUBECONFIG=" + b.file("admin.kubeconfig"), "METALLB_BGP_TYPE=native", "METALLB_POD_NAME=" + controller[0].Metadata.Name},
		"--namespace=metallb-system", "--port=0", "--webhook-mode=disabled", "--disable-cert-rotation", "--log-level=info")
}

// installReturnPath makes the mirror pods of the static pods that the machines'
// patches have, and on one node a pod that cleans up, which is none of them.
func (b *bare) installReturnPath(generated string) {
	b.t.Helper()
	pods := 0
	for _, node := range reportNodes {
		text, err := os.ReadFile(filepath.Join(generated, "talos", node+".yaml"))
		must(b.t, err)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var patch struct {
				Machine struct{ Pods []map[string]any }
			}
			must(b.t, yaml.Unmarshal([]byte(document), &patch))
			for _, pod := range patch.Machine.Pods {
				metadata := pod["metadata"].(map[string]any)
				metadata["name"] = metadata["name"].(string) + "-" + node
				metadata["annotations"] = map[string]string{"kubernetes.io/config.mirror": "1"}
				pod["spec"].(map[string]any)["nodeName"] = node
				object, err := yaml.Marshal(pod)
				must(b.t, err)
				b.kubectl(string(object), "create", "-f", "-")
				pods++
			}
		}
	}
	b.settle("app.kubernetes.io/name=homeward-return-path", pods)
	cleanup, err := os.ReadFile(filepath.Join(generated, "kubernetes", "cleanup-pod.yaml"))
	must(b.t, err)
	b.kubectl(strings.ReplaceAll(string(cleanup), "NODE", deadNode), "create", "-f", "-")
	b.setStatus(b.pods("app.kubernetes.io/component=cleanup")[0], true)
}

// workload is pods behind the generated Traefik service and behind one of our own,
// which is asked for by UDP, where the client's address matters.
const workload = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: traefik, namespace: ingress}, spec: {replicas: 3, selector: {matchLabels: {app.kubernetes.io/name: traefik}},
  template: {metadata: {labels: {app.kubernetes.io/name: traefik}}, spec: {containers: [{name: c, image: none, ports: [{name: http, containerPort: 8080}, {name: https, containerPort: 8443}]}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: names, annotations: {metallb.io/loadBalancerIPs: 203.0.113.78}},
  spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {app: names}, ports: [{port: 53, protocol: UDP}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: names}, spec: {replicas: 1, selector: {matchLabels: {app: names}},
  template: {metadata: {labels: {app: names}}, spec: {containers: [{name: c, image: none}]}}}}
`

// announced is what the speaker of a node says of a service, as MetalLB writes it.
func (b *bare) announced(namespace, service, node string) {
	b.t.Helper()
	b.apply(fmt.Sprintf(`{apiVersion: metallb.io/v1beta1, kind: ServiceL2Status, metadata: {name: l2-%[2]s, namespace: metallb-system,
labels: {metallb.io/node: %[3]s, metallb.io/service-name: %[2]s, metallb.io/service-namespace: %[1]s}}}`, namespace, service, node))
	b.kubectl("", "-n", "metallb-system", "patch", "servicel2status", "l2-"+service, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"node":%q,"serviceName":%q,"serviceNamespace":%q,"interfaces":[{"name":"external"}]}}`, node, service, namespace))
}

// manyServices is more than one page of a list.
const manyServices = 510

// fill makes services that a report does not name.
func (b *bare) fill() {
	b.t.Helper()
	var text strings.Builder
	for i := range manyServices {
		fmt.Fprintf(&text, "{apiVersion: v1, kind: Service, metadata: {name: other-%d}, spec: {clusterIP: None, selector: {app: none}}}\n---\n", i)
	}
	b.kubectl(text.String(), "create", "--validate=false", "-f", "-")
}

// homeward runs the tool that `make build` made.
func (b *bare) homeward(args ...string) (stdout string, exit int) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), filepath.Join(b.repository, "bin", "homeward"), args...)
	cmd.Dir = b.dir
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		b.t.Logf("homeward %s: %s", strings.Join(args, " "), failed.Stderr)
		return string(out), failed.ExitCode()
	}
	must(b.t, err)
	return string(out), 0
}

func TestReportOfALivingCluster(t *testing.T) {
	b := newBare(t)
	b.write("cluster.yaml", reportPlan)
	if _, exit := b.homeward("generate", "-f", "cluster.yaml", "--out", "out"); exit != 0 {
		t.Fatal("nothing was generated")
	}
	b.registerNodes()
	b.installMetalLB()
	b.installReturnPath(b.file("out"))
	for _, name := range []string{"metallb.yaml", "traefik.yaml"} {
		text, err := os.ReadFile(filepath.Join(b.file("out"), "kubernetes", name))
		must(t, err)
		b.apply(string(text))
	}
	b.apply(workload)
	b.settle("app.kubernetes.io/name=traefik", 3, "edge-worker-01", "edge-worker-02", deadNode)
	b.settle("app=names", 1, "edge-worker-02")
	b.fill()
	for _, s := range []string{"-n=ingress service/traefik", "-n=default service/names"} {
		b.kubectl("", append([]string{"wait", "--timeout=60s", "--for=jsonpath={.status.loadBalancer.ingress[0].ip}"}, strings.Fields(s)...)...)
	}
	b.announced("ingress", "traefik", "edge-worker-02")
	b.announced("default", "names", "edge-worker-02")
	t.Run("by an administrator", func(t *testing.T) {
		got, exit := b.report("admin")
		if exit != 0 {
			t.Errorf("exit code %d", exit)
		}
		if diff := cmp.Diff(b.wantReport(), got); diff != "" {
			t.Errorf("the report (-want +got):\n%s", diff)
		}
	})
	t.Run("by one who may nothing", func(t *testing.T) {
		got, exit := b.report("viewer")
		if k := got.Sources.Kubernetes; exit != 4 || k.State != "failed" || len(k.Detail) != 1 || !strings.Contains(k.Detail[0], "GET /api/v1/nodes: this user may not read that") {
			t.Errorf("exit code %d, %+v", exit, k)
		}
	})
	t.Run("by one who may see nodes and services", func(t *testing.T) {
		b.mayList("", "nodes,services", "discovery.k8s.io", "endpointslices")
		got, exit := b.report("viewer")
		if k := got.Sources.Kubernetes; exit != 4 || k.State != "partial" || len(k.Detail) != 3 {
			t.Errorf("exit code %d, %+v", exit, k)
		}
		for _, c := range got.Components {
			if c.Name == "MetalLB speakers" && c.Observed != "" || c.Name == "Return-path pod" && c.Observed != "" {
				t.Errorf("what may not be seen is told: %+v", c)
			}
		}
	})
	t.Run("by one who may list what it needs", func(t *testing.T) {
		b.mayList("", "nodes,services,pods", "discovery.k8s.io", "endpointslices", "apps", "deployments", "metallb.io", "servicel2statuses")
		got, exit := b.report("viewer")
		if diff := cmp.Diff(b.wantReport(), got); diff != "" || exit != 0 {
			t.Errorf("exit code %d, the report (-want +got):\n%s", exit, diff)
		}
	})
}

// seen is what a report says of the cluster.
type seen struct {
	Sources    struct{ Kubernetes sourceSeen }
	Answers    []struct{ Question, Text string }
	Components []struct{ Name, Observed string }
	// Announcements are what the services are reached by.
	Announcements []announcementSeen
}

type sourceSeen struct {
	State  string
	Detail []string
}

type announcementSeen struct {
	Address, Policy      string
	Order, Services, Now []string
	Endpoints            []struct {
		Node  string
		Count int
	}
}

// report has the tool report on the cluster, as somebody's kubeconfig lets it.
func (b *bare) report(who string) (s seen, exit int) {
	b.t.Helper()
	out, exit := b.homeward("report", "-f", "cluster.yaml", "--kubeconfig", who+".kubeconfig", "-o", "json")
	must(b.t, json.Unmarshal([]byte(out), &s))
	return s, exit
}

// mayList gives the viewer the right to list kinds: pairs of an API group and its
// kinds.
func (b *bare) mayList(pairs ...string) {
	b.t.Helper()
	var rules []string
	for i := 0; i < len(pairs); i += 2 {
		rules = append(rules, fmt.Sprintf("{apiGroups: [%q], resources: [%s], verbs: [list]}", pairs[i], pairs[i+1]))
	}
	b.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: viewer}, rules: [" + strings.Join(rules, ", ") + `]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: viewer},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: viewer}, subjects: [{kind: User, name: viewer, apiGroup: rbac.authorization.k8s.io}]}
`)
}

// wantReport is what the cluster is, in the report's words.
func (b *bare) wantReport() seen {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "reportcluster.json"))
	must(b.t, err)
	var s seen
	must(b.t, json.Unmarshal(text, &s))
	return s
}
