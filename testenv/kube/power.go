//go:build linux

package kube

import (
	"context"
	"errors"
)

// Lose takes the machine's power: its NICs are silent first, then every program
// and container dies without a word.
func (m *Machine) Lose(ctx context.Context) error {
	if err := m.PowerOff(); err != nil {
		return err
	}
	errs := []error{m.speaker.Kill(), m.proxy.Kill(), m.kubelet.Kill()}
	return errors.Join(append(errs, m.killTasks(ctx), m.containerd.Kill())...)
}

// Return gives the machine its power again, and Talos and Kubernetes start as at
// every boot.
func (m *Machine) Return(ctx context.Context) error {
	if err := m.PowerOn(); err != nil {
		return err
	}
	if err := m.Configure(); err != nil {
		return err
	}
	if err := m.StartContainerd(ctx); err != nil {
		return err
	}
	if err := m.StartKubelet(ctx); err != nil {
		return err
	}
	if err := m.StartSpeaker(); err != nil {
		return err
	}
	return m.StartProxy(ctx, ProxyNFTables)
}
