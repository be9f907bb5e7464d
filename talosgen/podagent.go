package talosgen

import (
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"homeward/netplan"
)

const (
	podLoopback = "127.0.0.1"
	// hostIPVariable carries the node's private address into the arguments.
	hostIPVariable = "HOST_IP"

	// A restart loses nothing, so a hung agent is replaced soon.
	probePeriodSeconds  = 10
	probeTimeoutSeconds = 3
	livenessFailures    = 6
)

// agentContainer runs `homeward-agent node` with one machine's values. The
// program is named by its path in the image that `homeward image build` makes,
// so that the pod says what it runs whatever the image's entrypoint is.
func agentContainer(p *netplan.Plan, m netplan.Machine) corev1.Container {
	c := corev1.Container{
		Name:            podContainer,
		Image:           p.Agent.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{agentProgram},
		Args:            agentArgs(p, m),
		Resources:       podResources(agentMemory, agentMemoryLimit),
		SecurityContext: podSecurity(capNetAdmin, capNetRaw),
		LivenessProbe:   loopbackProbe("/healthz", livenessFailures),
		ReadinessProbe:  loopbackProbe("/readyz", 1),
	}
	if p.Agent.Metrics == netplan.MetricsPrivate {
		// The name is what a PodMonitor selects.
		c.Ports = []corev1.ContainerPort{{
			Name: metricsPortName, ContainerPort: netplan.AgentPort, HostPort: netplan.AgentPort, Protocol: corev1.ProtocolTCP,
		}}
		if !m.Address.IsValid() {
			c.Env = []corev1.EnvVar{hostIPEnv()}
		}
	}
	return c
}

// agentArgs are the agent's flags, each as one word. A gateway on the link but
// outside the network needs no flag of its own: --cidr shows it.
func agentArgs(p *netplan.Plan, m netplan.Machine) []string {
	var destinations []string
	for _, r := range p.Destinations(m) {
		destinations = append(destinations, r.String())
	}
	args := []string{
		"node",
		"--external-mac=" + m.MACs.External.String(),
		"--destinations=" + strings.Join(destinations, ","),
		"--cidr=" + p.External.CIDR.String(),
		"--gateway=" + p.External.Gateway.String(),
	}
	if p.HoldsExternalVIP(m) {
		args = append(args, "--vip="+p.KubeAPI.VIP.String())
	}
	rp := p.ReturnPath
	return append(args,
		"--mark="+rp.Mark.String(),
		"--mask="+rp.Mask.String(),
		"--table="+strconv.FormatUint(uint64(rp.Table), 10),
		"--priority="+strconv.FormatUint(uint64(rp.Priorities.Mark), 10),
		"--routes=check",
		"--listen="+agentListen(p, m),
	)
}

// agentListen is loopback, which the probes use, and with agent.metrics "private"
// also the node's private address: the plan's, or with DHCP the one that the
// kubelet chose from the private subnet, which it knows before there is an API
// server.
func agentListen(p *netplan.Plan, m netplan.Machine) string {
	port := strconv.Itoa(netplan.AgentPort)
	own := net.JoinHostPort(podLoopback, port)
	switch {
	case p.Agent.Metrics != netplan.MetricsPrivate:
		return own
	case m.Address.IsValid():
		return own + "," + net.JoinHostPort(m.Address.String(), port)
	}
	return own + ",$(" + hostIPVariable + "):" + port
}

func hostIPEnv() corev1.EnvVar {
	return corev1.EnvVar{
		Name:      hostIPVariable,
		ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.hostIP"}},
	}
}

func loopbackProbe(path string, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: podLoopback, Port: intstr.FromInt32(netplan.AgentPort), Path: path, Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds:    probePeriodSeconds,
		TimeoutSeconds:   probeTimeoutSeconds,
		FailureThreshold: failures,
	}
}
