package talosgen_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"homeward/netplan"
	"homeward/talosgen"
)

const (
	onWorker       = "edge-worker-01"
	onControlPlane = "edge-controlplane-01"
	agentImage     = "registry.example.edu/homeward-agent@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// staticPod renders a machine's pod, as YAML and strictly decoded.
func staticPod(t *testing.T, p *netplan.Plan, machine string) ([]byte, *corev1.Pod) {
	t.Helper()
	object, err := talosgen.StaticPod(p, podMachine(t, p, machine))
	if err != nil {
		t.Fatal(err)
	}
	if object == nil {
		t.Fatalf("no pod for %s", machine)
	}
	text, err := yaml.Dump(object, yaml.WithIndent(2))
	if err != nil {
		t.Fatal(err)
	}
	return text, decodePod(t, text)
}

func decodePod(t *testing.T, text []byte) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	if err := sigsyaml.UnmarshalStrict(text, &pod); err != nil {
		t.Fatalf("the pod does not decode strictly: %v\n%s", err, text)
	}
	return &pod
}

func withAgent(metrics string) func(*netplan.Spec) {
	return func(s *netplan.Spec) { s.Agent = netplan.AgentSpec{Image: agentImage, Metrics: metrics} }
}

func TestStaticPodGoldens(t *testing.T) {
	for _, c := range []struct {
		file, machine string
		change        func(*netplan.Spec)
	}{
		{"pod/agent-controlplane.yaml", onControlPlane, withAgent("")},
		{"pod/agent-metrics-private.yaml", onWorker, withAgent(netplan.MetricsPrivate)},
		{"pod/nft-worker.yaml", onWorker, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, _ := staticPod(t, podPlan(t, c.change), c.machine)
			golden(t, c.file, text)
		})
	}
}

// Talos passes a static pod on unseen, and one without a name stops them all.
func TestStaticPodIsWhatNobodyElseChecks(t *testing.T) {
	for name, change := range map[string]func(*netplan.Spec){
		"nft": nil, "agent": withAgent(""), "agent with private metrics": withAgent(netplan.MetricsPrivate),
	} {
		for _, machine := range []string{onWorker, onControlPlane} {
			t.Run(name+" on "+machine, func(t *testing.T) {
				text, pod := staticPod(t, podPlan(t, change), machine)
				checkPod(t, pod)
				for _, noise := range []string{"status", "creationTimestamp", "null", "imagePullSecrets", "serviceAccount"} {
					if regexp.MustCompile(`(?m)^ *` + noise + `|: ` + noise + `$`).Match(text) {
						t.Errorf("the pod says %q:\n%s", noise, text)
					}
				}
				if pod.Name != netplan.PodName || pod.Spec.NodeName != "" || pod.Spec.PriorityClassName != "system-node-critical" {
					t.Errorf("name %q, node %q, priority class %q", pod.Name, pod.Spec.NodeName, pod.Spec.PriorityClassName)
				}
				if c := pod.Spec.Containers[0]; c.ReadinessProbe == nil {
					t.Error("no readiness probe")
				}
			})
		}
	}
}

// checkPod checks what holds for each pod of ours.
func checkPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if pod.Name == "" || pod.Namespace != "kube-system" || pod.APIVersion != "v1" || pod.Kind != "Pod" {
		t.Errorf("%s %s %s/%s: want a v1 Pod with a name in kube-system", pod.APIVersion, pod.Kind, pod.Namespace, pod.Name)
	}
	s := pod.Spec
	if !s.HostNetwork || s.HostPID || s.HostIPC || len(s.ImagePullSecrets) > 0 || len(s.Volumes) > 0 {
		t.Error("want the host's network, none of its other namespaces, no pull secrets, no volumes")
	}
	if diff := cmp.Diff([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, s.Tolerations); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	if g := s.TerminationGracePeriodSeconds; g == nil || *g < 1 || *g > 10 {
		t.Errorf("termination grace %v: want a few seconds", g)
	}
	if len(s.Containers) != 1 {
		t.Fatalf("%d containers, want 1", len(s.Containers))
	}
	c := s.Containers[0]
	if c.Name == "" || c.Image == "" || len(c.VolumeMounts) > 0 {
		t.Errorf("container %q image %q mounts %v", c.Name, c.Image, c.VolumeMounts)
	}
	cpu, memory, limit := c.Resources.Requests.Cpu(), c.Resources.Requests.Memory(), c.Resources.Limits.Memory()
	if cpu.IsZero() || cpu.MilliValue() > 50 || memory.IsZero() || memory.Value() > 32<<20 || limit.Cmp(*memory) < 0 {
		t.Errorf("requests %s, %s, limit %s", cpu, memory, limit)
	}
	sc := c.SecurityContext
	if *sc.RunAsUser != 0 || *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || sc.Privileged != nil ||
		sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context %+v", sc)
	}
	want := []corev1.Capability{"NET_ADMIN"}
	if strings.HasPrefix(c.Image, "registry.example.edu/homeward-agent") && c.Args[0] == "node" {
		want = append(want, "NET_RAW")
	}
	if diff := cmp.Diff(&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: want}, sc.Capabilities); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
}

func TestStaticPodOnlyWhereConnectionsAreMarked(t *testing.T) {
	noPool := func(s *netplan.Spec) { s.External.Pool = nil }
	ownAddress := func(s *netplan.Spec) {
		s.External.Pool = nil
		s.Machines = []netplan.MachineSpec{{Name: onWorker, ExternalAddress: netip.MustParseAddr("203.0.113.61")}}
	}
	for _, c := range []struct {
		name, machine string
		change        func(*netplan.Spec)
		want          bool
	}{
		{"with a pool", onWorker, nil, true},
		{"without the external NIC", "edge-batch-01", nil, false},
		{"without a pool", onControlPlane, noPool, false},
		{"with a real external address", onWorker, ownAddress, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := podPlan(t, c.change)
			m := podMachine(t, p, c.machine)
			object, err := talosgen.StaticPod(p, m)
			if err != nil {
				t.Fatal(err)
			}
			if (object != nil) != c.want || (talosgen.Table(p, m, "ens19") != "") != c.want {
				t.Errorf("pod %v, want one: %v", object, c.want)
			}
		})
	}
}

func TestAgentArguments(t *testing.T) {
	onLink := func(s *netplan.Spec) {
		withAgent(netplan.MetricsPrivate)(s)
		s.External.Gateway, s.External.GatewayOnLink = netip.MustParseAddr("198.51.100.1"), true
		s.ReturnPath.Table = new(252)
		s.Machines = []netplan.MachineSpec{{Name: onWorker, Address: netip.MustParseAddr("10.0.0.61")}}
		s.Cluster.Gateway = netip.MustParseAddr("10.0.0.1")
	}
	for _, c := range []struct {
		name, machine string
		change        func(*netplan.Spec)
		want          []string
	}{
		{"a control plane names the VIP", onControlPlane, withAgent(""), []string{
			"--destinations=203.0.113.75-203.0.113.79", "--cidr=203.0.113.0/25", "--gateway=203.0.113.1", "--vip=203.0.113.79",
			"--mark=0x2000", "--mask=0x2000", "--table=251", "--priority=1001", "--routes=check", "--listen=127.0.0.1:9465"}},
		{"a worker does not, and metrics with DHCP are served where the kubelet is", onWorker, withAgent(netplan.MetricsPrivate), []string{
			"--destinations=203.0.113.75-203.0.113.79", "--cidr=203.0.113.0/25", "--gateway=203.0.113.1",
			"--mark=0x2000", "--mask=0x2000", "--table=251", "--priority=1001", "--routes=check", "--listen=127.0.0.1:9465,$(HOST_IP):9465"}},
		{"on-link gateway, table and static address of the plan", onWorker, onLink, []string{
			"--destinations=203.0.113.75-203.0.113.79", "--cidr=203.0.113.0/25", "--gateway=198.51.100.1",
			"--mark=0x2000", "--mask=0x2000", "--table=252", "--priority=1001", "--routes=check", "--listen=127.0.0.1:9465,10.0.0.61:9465"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := podPlan(t, c.change)
			_, pod := staticPod(t, p, c.machine)
			container := pod.Spec.Containers[0]
			want := append([]string{"/homeward-agent", "node", "--external-mac=" + podMachine(t, p, c.machine).MACs.External.String()}, c.want...)
			if diff := cmp.Diff(want, append(container.Command, container.Args...)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(container.Args, " "), "$(HOST_IP)") != (len(container.Env) == 1) {
				t.Errorf("environment %v does not fit the arguments", container.Env)
			}
			for path, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
				if get := probe.HTTPGet; get.Path != path || get.Host != "127.0.0.1" || get.Port.IntValue() != 9465 {
					t.Errorf("probe %+v", get)
				}
			}
		})
	}
}

func TestStaticPodNeedsAVersionToNameTheKubeProxyImage(t *testing.T) {
	p := podPlan(t, nil)
	p.Kubernetes.Version = ""
	_, err := talosgen.StaticPod(p, podMachine(t, p, onWorker))
	if err == nil || !strings.Contains(err.Error(), "kubernetes.version is needed") {
		t.Errorf("error %v", err)
	}
	p.Agent.Image = agentImage
	if _, err := talosgen.StaticPod(p, podMachine(t, p, onWorker)); err != nil {
		t.Errorf("with an agent image: %v", err)
	}
}

// The kernel takes at most 128 KiB in one argument, with the closing zero.
func TestTheLargestPoolFitsOneArgument(t *testing.T) {
	scattered := func(s *netplan.Spec) {
		s.External.CIDR, s.External.Pool = netip.MustParsePrefix("198.18.0.0/16"), nil
		s.External.Gateway, s.External.KubeAPIVIP = netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")
		for a := netip.MustParseAddr("198.18.200.100"); len(s.External.Pool) < 1000; a = a.Next().Next().Next() {
			s.External.Pool = append(s.External.Pool, netplan.Range{First: a, Last: a.Next()})
		}
	}
	for name, change := range map[string]func(*netplan.Spec){
		"nft":   scattered,
		"agent": func(s *netplan.Spec) { scattered(s); withAgent("")(s) },
	} {
		t.Run(name, func(t *testing.T) {
			_, pod := staticPod(t, podPlan(t, change), onWorker)
			for _, arg := range pod.Spec.Containers[0].Args {
				if len(arg)+1 > 128<<10 {
					t.Errorf("an argument of %d bytes", len(arg))
				}
			}
		})
	}
}
