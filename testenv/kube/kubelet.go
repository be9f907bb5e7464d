//go:build linux

package kube

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// kubeletConfig allows for two kubelets on one kernel: each has its own root of
// control groups and enforces nothing on the machine as a whole.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
staticPodPath: %q
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /%s
enforceNodeAllocatable: []
failSwapOn: false
address: 127.0.0.1
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
evictionHard: {memory.available: 100Mi, nodefs.available: "1%%", imagefs.available: "1%%", nodefs.inodesFree: "1%%"}
imageGCHighThresholdPercent: 100
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
# Sooner than the default of 20 s, for the tests' sake.
fileCheckFrequency: 2s
resolvConf: ""
volumePluginDir: /var/lib/kubelet/plugins
`

// StartKubelet starts the machine's kubelet, again after it was stopped, and
// waits until it is healthy.
func (m *Machine) StartKubelet(ctx context.Context) error {
	if err := makeCgroups(m.cgroup()); err != nil {
		return err
	}
	text := fmt.Sprintf(kubeletConfig, filepath.Join(m.root, "manifests"), m.cgroup())
	if err := m.writeEtc("kubelet.yaml", text); err != nil {
		return err
	}
	labels, err := m.nodeLabels()
	if err != nil {
		return err
	}
	identity := "kubelet-" + m.Name
	if err := m.lab.identify(identity, identityNode+m.Name, groupNodes); err != nil {
		return err
	}
	m.kubelet, err = m.start("kubelet", m.lab.set.Program("kubelet"),
		"--config="+m.etc("kubelet.yaml"), "--kubeconfig="+m.lab.kubeconfigOf(identity),
		"--hostname-override="+m.Name, "--node-ip="+m.PrivateAddress.String(), "--node-labels="+labels)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return WaitFor(ctx, "the kubelet on "+m.Name, func(ctx context.Context) error {
		if m.kubelet.Ended() {
			return fmt.Errorf("it has ended: see %s", m.lab.Logs)
		}
		c, err := m.Dial(ctx, "tcp4", "127.0.0.1:10248")
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// StopKubelet stops the kubelet. Its pods go on.
func (m *Machine) StopKubelet() error { return m.kubelet.Stop() }

// startMachines brings both machines up as far as a kubelet with its backends.
func (l *Lab) startMachines(ctx context.Context) error {
	archives, err := makeImages(ctx, filepath.Join(l.dir, "images"))
	if err != nil {
		return err
	}
	archives = append(archives, l.Product.Image)
	var steps []func() error
	for _, m := range l.Machines {
		steps = append(steps, func() error { return m.bringUp(ctx, archives) })
	}
	return together(steps...)
}

func (m *Machine) bringUp(ctx context.Context, archives []string) error {
	if err := m.Configure(); err != nil {
		return err
	}
	if err := m.StartContainerd(ctx); err != nil {
		return err
	}
	for _, archive := range archives {
		if err := m.ImportImage(ctx, archive); err != nil {
			return err
		}
	}
	for name, text := range m.backends() {
		if err := m.WriteManifest(name, []byte(text)); err != nil {
			return err
		}
	}
	return m.StartKubelet(ctx)
}
