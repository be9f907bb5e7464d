package talosgen

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"homeward/netplan"
)

// podShell is dash in the kube-proxy image.
const podShell = "/bin/sh"

// nftProbeSeconds is long because each probe starts a process in the container.
const nftProbeSeconds = 30

// nftContainer runs nftscript.sh in the kube-proxy image of the cluster's own
// version, which every node pulls anyway and which has nft and a shell.
func nftContainer(p *netplan.Plan, m netplan.Machine) (corev1.Container, error) {
	image, err := nftImage(p)
	if err != nil {
		return corev1.Container{}, fmt.Errorf("rendering the static pod of %s: %w", m.Name, err)
	}
	return corev1.Container{
		Name:            podContainer,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{podShell, "-c"},
		Args:            []string{nftScript(p, m)},
		Resources:       podResources(nftMemory, nftMemoryLimit),
		SecurityContext: podSecurity(capNetAdmin),
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{podShell, "-c", nftReady()}}},
			PeriodSeconds:    nftProbeSeconds,
			TimeoutSeconds:   probeTimeoutSeconds,
			FailureThreshold: 1,
		},
	}, nil
}

// nftReady asks the kernel, not the script: connections are marked now, by a rule
// that names a NIC. It says nothing of routes, rules or the gateway.
func nftReady() string {
	return fmt.Sprintf("nft -s list chain inet %s prerouting | grep -q 'iifname .*@%s .*ct mark set'",
		netplan.NFTablesTable, netplan.NFTablesSet)
}

func nftImage(p *netplan.Plan) (string, error) {
	if p.Kubernetes.Version == "" {
		return "", errors.New("kubernetes.version is needed to name the kube-proxy image: give it, or agent.image")
	}
	return kubeProxyImage + ":" + p.Kubernetes.Version, nil
}
