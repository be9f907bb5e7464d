package verify

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"homeward/agent/ledger"
	"homeward/cmd/homeward/internal/outdir"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan"
	"homeward/netplan/load"
	"homeward/talosgen"
)

// basePlan is two control planes and two workers, with the agent.
const basePlan = `name: edge
talos: {version: v1.13.9}
kubernetes: {version: v1.36.3}
controlplane: {count: 2}
workers:
  worker: {count: 2}
network:
  cidr: 10.0.0.0/24
  dns: [10.0.0.1]
agent: {image: "registry.example.edu/homeward-agent:v1.2.3"}
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

// planOf loads the base plan, edited: old and new texts in pairs.
func planOf(t testing.TB, edits ...string) *netplan.Plan {
	t.Helper()
	return planFrom(t, basePlan, edits...)
}

func planFrom(t testing.TB, text string, edits ...string) *netplan.Plan {
	t.Helper()
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the plan has no %q", edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	result, err := load.Bytes("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

var taken = time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)

// healthy is a snapshot of a cluster that is as its plan has it: one service, ingress/
// traefik, at the first address.
func healthy(t testing.TB, edits ...string) *Snapshot {
	t.Helper()
	p := planOf(t, edits...)
	s := nodesOf(t, p)
	s.Reservation = Reservation{Asked: true, Status: &reservation.Status{Owner: ledger.Owner{ID: "x", Cluster: "edge"}, Reservations: []reservation.Reservation{{Address: "203.0.113.75", Ours: true}}}}
	if p.External != nil && len(p.External.IngressPool) > 0 {
		s.Pools.Value = []Pool{poolOf(t, "ingress", `{"addresses": ["203.0.113.75-203.0.113.78"]}`)}
		s.L2.Value = []Advertisement{adOf(t, "ingress", `{"ipAddressPools": ["ingress"]}`)}
	}
	addService(t, s, "ingress", "traefik", `{"type": "LoadBalancer", "ports": [{"port": 443}]}`, "203.0.113.75")
	certificate := certificateFor(t, taken.Add(-time.Hour), taken.Add(time.Hour), p.KubeAPI.SANs...)
	s.Doors = []Door{{Name: "the API's VIP", Address: "203.0.113.79:6443", Planned: true, Certificate: certificate}, {Name: "an API server", Address: "10.0.0.11:6443", Certificate: certificate}}
	return s
}

// nodesOf is a snapshot with the nodes of a plan, and what runs on them.
func nodesOf(t testing.TB, p *netplan.Plan) *Snapshot {
	t.Helper()
	s := &Snapshot{
		Plan: p, Taken: taken, Tool: "v1.2.3", File: "cluster.yaml", Out: "out", Namespace: "metallb-system", Server: "https://203.0.113.79:6443",
		Here: []netip.Addr{netip.MustParseAddr("198.51.100.10")}, Version: Read[Version]{Value: Version{GitVersion: "v1.36.3"}},
		Endpoints: map[ServiceKey]Read[map[string]int]{}, Agents: map[string]AgentInfo{},
		Files: Files{There: true, Format: outdir.Format, Known: outdir.Format},
	}
	var servers []string
	for i, m := range p.Machines {
		address := p.Cluster.CIDR.Addr().As4()
		address[3] = byte(11 + i)
		own := netip.AddrFrom4(address).String()
		s.Nodes.Value = append(s.Nodes.Value, nodeOf(p, m, own))
		if p.MarksConnections(m) {
			s.ReturnPath.Value = append(s.ReturnPath.Value, pathPod(t, p, m))
		}
		if m.Announces {
			s.MetalLB.Value = append(s.MetalLB.Value, metallbPod("speaker-"+m.Name, "speaker", m.Name))
		}
		if m.Role == netplan.RoleControlPlane {
			servers = append(servers, own)
		}
	}
	s.MetalLB.Value = append(s.MetalLB.Value, metallbPod("controller", "controller", p.Machines[0].Name))
	s.MetalLBNamespace.Value = decode[*corev1.Namespace](t, `{"metadata": {"name": "metallb-system", "labels": {
		"pod-security.kubernetes.io/enforce": "privileged", "pod-security.kubernetes.io/audit": "privileged", "pod-security.kubernetes.io/warn": "privileged"}}}`)
	s.Proxy.Value.KubeProxy = decode[*appsv1.DaemonSet](t, `{"spec": {"template": {"spec": {"containers": [{"command": ["kube-proxy", "--proxy-mode=nftables"]}]}}}}`)
	s.APIEndpoints.Value = []discoveryv1.EndpointSlice{apiSlice(t, servers...)}
	return s
}

// decode reads what an API server would give.
func decode[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

func nodeOf(p *netplan.Plan, m netplan.Machine, address string) corev1.Node {
	n := corev1.Node{}
	n.Name = m.Name
	n.Labels = map[string]string{netplan.LabelExternal: "true"}
	if m.Role == netplan.RoleControlPlane && p.HasWorkers() {
		n.Labels[corev1.LabelNodeExcludeBalancers] = ""
	}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: m.Name}, {Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeInternalIP, Address: "fd00::11"}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.36.3", OSImage: "Talos (v1.13.9)"}
	return n
}

// ready is a pod's status.
func ready(image string) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true, ImageID: image}},
	}
}

// broken makes a pod unready for a reason.
func broken(p *corev1.Pod, reason string, restarts int32) {
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	c := &p.Status.ContainerStatuses[0]
	c.Ready, c.RestartCount = false, restarts
	c.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: "back-off\x1b[31m restarting"}
	c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 2}
	c.LastTerminationState.Terminated.FinishedAt.Time = taken.Add(-time.Minute)
}

// restart lets a pod have ended often before it became ready, last some time ago.
func restart(p *corev1.Pod, ago time.Duration) {
	c := &p.Status.ContainerStatuses[0]
	c.RestartCount, c.LastTerminationState.Terminated = 4, &corev1.ContainerStateTerminated{ExitCode: 1}
	c.LastTerminationState.Terminated.FinishedAt.Time = taken.Add(-ago)
}

// pathPod is the pod that the API shows for a machine's static one: what a kubelet and
// the API server write into it was read off those of v1.36.
func pathPod(t testing.TB, p *netplan.Plan, m netplan.Machine) corev1.Pod {
	t.Helper()
	object, err := talosgen.StaticPod(p, m)
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &pod); err != nil {
		t.Fatal(err)
	}
	pod.Name += "-" + m.Name
	pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash", "kubernetes.io/config.source": "file"}
	spec := &pod.Spec
	spec.NodeName, spec.RestartPolicy, spec.DNSPolicy, spec.SchedulerName = m.Name, corev1.RestartPolicyAlways, corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	spec.SecurityContext = &corev1.PodSecurityContext{}
	spec.Priority, spec.PreemptionPolicy = new(int32(2000001000)), new(corev1.PreemptLowerPriority)
	spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	c := &spec.Containers[0]
	c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", corev1.TerminationMessageReadFile
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil {
			probe.SuccessThreshold = 1
		}
	}
	pod.Status = ready("registry.example.edu/homeward-agent@sha256:1")
	return pod
}

func metallbPod(name, component, node string) corev1.Pod {
	p := corev1.Pod{Status: ready("metallb")}
	p.Name, p.Namespace, p.Labels = name, "metallb-system", map[string]string{"app": "metallb", "component": component}
	p.Spec = corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: component}}}
	return p
}

func poolOf(t testing.TB, name, spec string) Pool {
	t.Helper()
	return decode[Pool](t, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "metallb-system"}, "spec": %s}`, name, spec))
}

func adOf(t testing.TB, name, spec string) Advertisement {
	t.Helper()
	return decode[Advertisement](t, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "metallb-system"}, "spec": %s}`, name, spec))
}

// addService adds one with an address, an endpoint on each worker, and a handshake that
// was answered at its first port; an empty address leaves it waiting for an hour.
func addService(t testing.TB, s *Snapshot, namespace, name, spec, address string) *corev1.Service {
	t.Helper()
	svc := decode[corev1.Service](t, fmt.Sprintf(`{"metadata": {"namespace": %q, "name": %q}, "spec": %s}`, namespace, name, spec))
	svc.CreationTimestamp.Time = taken.Add(-time.Hour)
	key := ServiceKey{namespace, name}
	if address != "" {
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
		s.Endpoints[key] = Read[map[string]int]{Value: map[string]int{"edge-worker-01": 1, "edge-worker-02": 1}}
		if len(svc.Spec.Ports) > 0 {
			at := netip.AddrPortFrom(netip.MustParseAddr(address), uint16(svc.Spec.Ports[0].Port))
			s.Knocks.Value = append(s.Knocks.Value, Knock{Service: key, Target: at, Attempts: 3, Answered: 3})
		}
	}
	s.Services.Value = append(s.Services.Value, svc)
	return &s.Services.Value[len(s.Services.Value)-1]
}

func apiSlice(t testing.TB, addresses ...string) discoveryv1.EndpointSlice {
	t.Helper()
	return decode[discoveryv1.EndpointSlice](t, fmt.Sprintf(`{"addressType": "IPv4", "endpoints": [{"addresses": ["%s"]}], "ports": [{"port": 6443}]}`, strings.Join(addresses, `", "`)))
}

// certificateFor is a certificate of names and addresses.
func certificateFor(t testing.TB, from, to time.Time, names ...string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// planted is one fault, and what the check that is for it must say.
type planted struct {
	name   string
	edits  []string
	change func(*testing.T, *Snapshot)
	want   Result
	// seen must be in what the check saw, and remedy in one of its remedies or their
	// commands; empty asks for nothing.
	seen, remedy string
}

// judge plants each fault in a healthy snapshot and asks one check.
func judge(t *testing.T, id string, list []planted) {
	t.Helper()
	judgeIn(t, func(t *testing.T, edits ...string) *Snapshot { return healthy(t, edits...) }, id, list)
}

// judgeIn does so in a snapshot of another make.
func judgeIn(t *testing.T, make func(t *testing.T, edits ...string) *Snapshot, id string, list []planted) {
	t.Helper()
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			s := make(t, p.edits...)
			if p.change != nil {
				p.change(t, s)
			}
			f := findingOf(t, Check(s, nil), id)
			if f.Result != p.want || !strings.Contains(strings.Join(f.Seen, "\n"), p.seen) {
				t.Errorf("%s: %q\nwant %s: %q", f.Result, f.Seen, p.want, p.seen)
			}
			if !slices.ContainsFunc(f.Remedies, func(r Remedy) bool { return strings.Contains(r.Text+"\n"+r.Command, p.remedy) }) && p.remedy != "" {
				t.Errorf("the remedies %q do not say %q", f.Remedies, p.remedy)
			}
			if f.Result != Pass && f.Result != Skipped && len(f.Remedies) == 0 {
				t.Error("there is no remedy")
			}
			for _, text := range f.Seen {
				if plain(text) != text && len(text) < mostText {
					t.Errorf("a terminal should not see %q", text)
				}
			}
		})
	}
}

func findingOf(t *testing.T, r Report, id string) Finding {
	t.Helper()
	for _, f := range r.Checks {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("there is no check %s", id)
	return Finding{}
}

// certificateKeyPair is a server's, of an authority that nobody knows.
func certificateKeyPair(t testing.TB, address string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP(address)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
