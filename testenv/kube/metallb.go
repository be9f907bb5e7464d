//go:build linux

package kube

import (
	"context"
	"fmt"
	"time"

	"homeward/testenv/netlab"
)

// MetalLB's programs look for the Pods they run in. These objects stand in for
// them; their node is none of the lab's, so that no kubelet takes them for its own.
const (
	programController = "metallb-controller"
	programSpeaker    = "metallb-speaker"
	standInController = "controller"
	standInNode       = "none"
	metallbNamespace  = "metallb-system"
	standInPod        = `apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: %s
  labels: {app: metallb, component: %s}
spec:
  nodeName: ` + standInNode + `
  hostNetwork: true
  tolerations: [{operator: Exists}]
  containers: [{name: c, image: none}]
`
	standInStatus = `{"status": {"phase": "Running", "podIP": %[1]q, "podIPs": [{"ip": %[1]q}], "hostIP": %[1]q,
  "conditions": [{"type": "Ready", "status": "True"}]}}`
)

// TryHostNetworkPod asks the API server whether it would take a pod like a speaker's
// in a namespace, and makes none.
func (l *Lab) TryHostNetworkPod(ctx context.Context, namespace string) error {
	_, err := l.Kubectl(ctx, fmt.Appendf(nil, standInPod, "tried", namespace, "speaker"), "create", "--dry-run=server", "-f", "-")
	return err
}

func speakerName(m *Machine) string { return "speaker-" + m.Name }

// standInPods makes the Pod objects of MetalLB's programs, once the namespace has the
// account that pods get unasked.
func (l *Lab) standInPods(ctx context.Context) error {
	if err := WaitFor(ctx, "the default account", func(ctx context.Context) error {
		_, err := l.Kubectl(ctx, nil, "-n", metallbNamespace, "get", "serviceaccount", "default")
		return err
	}); err != nil {
		return err
	}
	pods := []struct{ name, component, address string }{{standInController, "controller", l.Control().Address.String()}}
	for _, m := range l.Machines {
		pods = append(pods, struct{ name, component, address string }{speakerName(m), "speaker", m.PrivateAddress.String()})
	}
	for _, p := range pods {
		if err := l.Apply(ctx, fmt.Sprintf(standInPod, p.name, metallbNamespace, p.component)); err != nil {
			return err
		}
		_, err := l.Kubectl(ctx, nil, "-n", "metallb-system", "patch", "pod", p.name, "--subresource=status",
			"--type=merge", "-p", fmt.Sprintf(standInStatus, p.address))
		if err != nil {
			return err
		}
	}
	return nil
}

// startMetalLB starts the controller and the speakers, and waits until every
// Service has its address.
func (l *Lab) startMetalLB(ctx context.Context) error {
	if err := l.startController(); err != nil {
		return err
	}
	for _, m := range l.Machines {
		if err := m.StartSpeaker(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, s := range l.Services() {
		got, err := l.WaitAddress(ctx, "default", s.Name)
		if err != nil {
			return err
		}
		if got != s.Address {
			return fmt.Errorf("service %s has address %s instead of %s", s.Name, got, s.Address)
		}
	}
	return nil
}

// startController starts MetalLB's controller, without its webhook.
func (l *Lab) startController() error {
	_, err := l.start(l.Control().Command, programController, "env", "KUBECONFIG="+l.kubeconfigOf(programController),
		"METALLB_BGP_TYPE=native", "METALLB_POD_NAME="+standInController, l.set.Program(programController),
		"--namespace="+metallbNamespace, "--port=0", "--webhook-mode=disabled", "--disable-cert-rotation", "--log-level=info")
	return err
}

// StartSpeaker starts the machine's speaker, again after it was killed.
func (m *Machine) StartSpeaker() (err error) {
	m.speaker, err = m.start(programSpeaker, "env", "KUBECONFIG="+m.lab.kubeconfigOf(programSpeaker),
		"METALLB_BGP_TYPE=native", m.lab.set.Program(programSpeaker), "--namespace="+metallbNamespace, "--node-name="+m.Name, "--pod-name="+speakerName(m), "--port=0",
		"--ml-bindaddr="+m.PrivateAddress.String(), "--ml-bindport=7946", "--ml-labels=app=metallb,component=speaker",
		"--log-level=info")
	return err
}

// KillSpeaker ends the speaker as the loss of its node would: it says nothing to
// the others.
func (m *Machine) KillSpeaker() error { return m.speaker.Kill() }

// Announcer finds the machine that answers for a Service on the external network:
// the one on which a client's request arrives.
func (l *Lab) Announcer(ctx context.Context, s Service) (*Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var found *Machine
	err := WaitFor(ctx, "an announcer of "+s.Address.String(), func(ctx context.Context) error {
		cells, err := l.ask(ctx, []Cell{{Service: s, Client: netlab.ClientBehind, Protocol: netlab.UDP}})
		if err != nil {
			return err
		}
		for _, m := range l.Machines {
			if m.Name == cells[0].Announcer {
				found = m
				return nil
			}
		}
		return fmt.Errorf("no machine was asked")
	})
	return found, err
}

// AnnouncedBy gives a condition: a Service's requests arrive on this machine.
func (l *Lab) AnnouncedBy(s Service, m *Machine) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := l.Announcer(ctx, s)
		if err == nil && now != m {
			err = fmt.Errorf("%s does", now.Name)
		}
		return err
	}
}

// AnnounceFrom confines the plan's L2Advertisement to one machine with
// nodeSelectors, or with "" takes that back.
func (l *Lab) AnnounceFrom(ctx context.Context, machine string) error {
	selectors := "null"
	if machine != "" {
		selectors = fmt.Sprintf(`[{"matchLabels": {"kubernetes.io/hostname": %q}}]`, machine)
	}
	_, err := l.Kubectl(ctx, nil, "-n", "metallb-system", "patch", "l2advertisement", "ingress",
		"--type=merge", "-p", `{"spec": {"nodeSelectors": `+selectors+`}}`)
	return err
}
