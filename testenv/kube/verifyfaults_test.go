//go:build linux

package kube

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// fault is one thing that is wrong with a cluster, and the check that has to say so.
type fault struct {
	name        string
	id, result  string
	plant, mend func(*verifySite)
	// seen is in what the check saw; mostly empty.
	seen string
}

// exitCodes are those of a check's result when all others pass.
var exitCodes = map[string]int{"fail": 1, "unknown": 4, "warn": 0}

// find plants faults one by one and wants each to be found.
func (s *verifySite) find(faults []fault) {
	s.Helper()
	for _, f := range faults {
		s.Run(f.name, func(t *testing.T) {
			in := *s
			in.T = t
			f.plant(&in)
			defer f.mend(&in)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := WaitFor(ctx, "check "+f.id, func(context.Context) error {
				v, code := in.verify(in.kubeconfig)
				result, seen := v.of(f.id)
				if result != f.result || code != exitCodes[f.result] || !strings.Contains(seen, f.seen) {
					return fmt.Errorf("it is %s: %s\nexit code %d, and\n%s", result, seen, code, v.others(f.id, noProxmox))
				}
				t.Logf("%s: %s", f.result, seen)
				return nil
			})
			in.must(err)
		})
	}
}

// object is a fault that is an object which should not be.
func object(name, id, result, text string) fault {
	return fault{name: name, id: id, result: result,
		plant: func(s *verifySite) { s.apply(text) },
		mend: func(s *verifySite) {
			_, err := s.lab.Kubectl(s.Context(), []byte(text), "delete", "--wait=true", "-f", "-")
			s.must(err)
		}}
}

// planted is a fault that takes more than an object.
func planted(name, id, result string, plant, mend func(*verifySite)) fault {
	return fault{name: name, id: id, result: result, plant: plant, mend: mend}
}

// saying wants the check to have seen something in particular.
func (f fault) saying(seen string) fault {
	f.seen = seen
	return f
}

// patched is a fault that is an object's field; back is the patch that mends it.
func patched(name, id, result, namespace, kind, object, patch, back string) fault {
	change := func(p string) func(*verifySite) {
		return func(s *verifySite) {
			s.kubectl("-n", namespace, "patch", kind, object, "--type=merge", "-p", p)
		}
	}
	return fault{name: name, id: id, result: result, plant: change(patch), mend: change(back)}
}

// pool is the plan's.
const pool = "203.0.113.75-203.0.113.79"

func poolObject(name, addresses, more string) string {
	return fmt.Sprintf("apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: %s, namespace: %s}\nspec: {addresses: [%s]%s}\n", name, metallbNamespace, addresses, more)
}

func serviceObject(name, annotations, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, annotations: {%s}}\nspec: {type: LoadBalancer, selector: {app: echo, on: edge-worker-01}, ports: [{name: x, port: 9100, targetPort: 8080}]%s}\n", name, annotations, spec)
}

func poolPatch(addresses string) string { return `{"spec": {"addresses": ["` + addresses + `"]}}` }

// metallbFaults are those of MetalLB's objects.
func metallbFaults() []fault {
	const l2, none = "l2advertisement", `{"spec": {"nodeSelectors": null}}`
	return []fault{
		patched("a pool that is wider", "metallb-pool", "fail", metallbNamespace, "ipaddresspool", "ingress", poolPatch("203.0.113.75-203.0.113.80"), poolPatch(pool)),
		patched("a pool that lacks an address", "metallb-pool", "fail", metallbNamespace, "ipaddresspool", "ingress", `{"spec": {"addresses": ["203.0.113.75-203.0.113.78"], "avoidBuggyIPs": true}}`, `{"spec": {"addresses": ["`+pool+`"], "avoidBuggyIPs": false}}`),
		patched("a pool that gives nothing unasked", "metallb-pool", "warn", metallbNamespace, "ipaddresspool", "ingress", `{"spec": {"autoAssign": false}}`, `{"spec": {"autoAssign": true}}`),
		object("another pool on the external link", "metallb-pools-other", "fail", poolObject("other", "203.0.113.200/32", "")),
		object("another pool that overlaps", "metallb-pools-other", "fail", poolObject("other", "203.0.113.78/31", "")),
		object("another pool elsewhere", "metallb-pools-other", "warn", poolObject("other", "192.0.2.0/28", ", autoAssign: false")),
		patched("an announcement of another pool", "metallb-advertisement", "fail", metallbNamespace, l2, "ingress", `{"spec": {"ipAddressPools": ["other"]}}`, `{"spec": {"ipAddressPools": ["ingress"]}}`),
		object("an announcement by BGP too", "metallb-advertisement", "warn", "apiVersion: metallb.io/v1beta1\nkind: BGPAdvertisement\nmetadata: {name: all, namespace: "+metallbNamespace+"}\n"),
		patched("an announcement from one machine", "metallb-announcers", "fail", metallbNamespace, l2, "ingress", `{"spec": {"nodeSelectors": [{"matchLabels": {"kubernetes.io/hostname": "none"}}]}}`, none),
		patched("no Pod Security label", "metallb-namespace", "fail", "default", "namespace", metallbNamespace, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": null}}}`, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}`),
		planted("a controller that is not ready", "metallb-controller", "fail",
			func(s *verifySite) {
				s.status("pod", metallbNamespace, standInController, `{"conditions": [{"type": "Ready", "status": "False"}]}`)
			},
			func(s *verifySite) {
				s.status("pod", metallbNamespace, standInController, `{"conditions": [{"type": "Ready", "status": "True"}]}`)
			}),
	}
}

// nodeFaults are those of the control planes' stand-ins.
func nodeFaults(l *Lab, image string) []fault {
	c := l.ControlPlanes[1]
	back := func(s *verifySite) { s.standInControlPlane(c, image) }
	pod := returnPathName + "-" + c.Name
	return []fault{
		planted("a node at its anchor", "node-addresses", "fail", func(s *verifySite) { s.status("node", "default", c.Name, nodeStatus("169.254.33.22")) }, back),
		planted("a machine that is no node", "nodes-planned", "fail", func(s *verifySite) { s.kubectl("delete", "node", c.Name) }, back),
		planted("a node of another version", "versions", "warn", func(s *verifySite) {
			s.status("node", "default", c.Name, `{"nodeInfo": {"kubeletVersion": "v1.35.0"}}`)
		}, back),
		patched("a control plane that may announce", "control-planes-excluded", "fail", "default", "node", c.Name,
			`{"metadata": {"labels": {"`+excluded+`": null}}}`, `{"metadata": {"labels": {"`+excluded+`": ""}}}`),
		planted("a node that is not in the plan", "nodes-planned", "warn", func(s *verifySite) {
			s.standInNode("stranger", "10.90.0.99", map[string]string{excluded: ""})
		}, func(s *verifySite) { s.kubectl("delete", "node", "stranger") }),
		planted("a pod that crashes", "return-path-ready", "fail", func(s *verifySite) {
			s.status("pod", "kube-system", pod, `{"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [{"name": "return-path", "ready": false,
				"restartCount": 7, "image": "x", "imageID": "`+image+`", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}}]}`)
		}, back),
		planted("a machine without the pod", "return-path-ready", "fail", func(s *verifySite) {
			s.kubectl("-n", "kube-system", "delete", "pod", pod, "--grace-period=0", "--force")
		}, back),
		planted("a pod of an older plan", "return-path-spec", "fail", func(s *verifySite) {
			s.mirror(c.talos(), c.Address.String(), image, func(pod map[string]any) {
				container := pod["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
				container["args"] = append(container["args"].([]any), "--table=252")
			})
		}, back),
		planted("a pod with the host's processes", "return-path-spec", "fail", func(s *verifySite) {
			s.mirror(c.talos(), c.Address.String(), image, func(pod map[string]any) { pod["spec"].(map[string]any)["hostPID"] = true })
		}, back),
		planted("another image under the same tag", "versions", "warn", func(s *verifySite) { s.standInControlPlane(c, image+"0") }, back),
	}
}
