//go:build linux

package kube

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// The names of the product's static pod and of its nftables table.
const (
	returnPathName  = "homeward-return-path"
	returnPathTable = "homeward"
)

// InstallReturnPath gives every kubelet the static pod of a kind, in place of the
// other one where that runs, and waits until it is ready.
func (l *Lab) InstallReturnPath(ctx context.Context, kind Kind) error {
	for _, m := range l.Machines {
		text, err := m.returnPathPod(kind)
		if err != nil {
			return err
		}
		if err := m.WriteManifest(returnPathName, text); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return l.WaitPods(ctx, "kube-system", returnPathName)
}

// UpgradeReturnPath replaces the static pod on every machine by one that differs
// only in an annotation, as another image would make it, and waits until the new
// one is ready.
func (l *Lab) UpgradeReturnPath(ctx context.Context, kind Kind, version string) error {
	for _, m := range l.Machines {
		text, err := m.returnPathPod(kind)
		if err != nil {
			return err
		}
		text = bytes.Replace(text, []byte("metadata:\n"), []byte("metadata:\n  annotations: {lab/version: "+version+"}\n"), 1)
		if err := m.WriteManifest(returnPathName, text); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err := WaitFor(ctx, "the new pods", func(ctx context.Context) error {
		for _, m := range l.Machines {
			out, err := l.Kubectl(ctx, nil, "-n", "kube-system", "get", "pod", returnPathName+"-"+m.Name, "-o", "yaml")
			if err != nil {
				return err
			}
			if !strings.Contains(string(out), "lab/version: "+version) {
				return fmt.Errorf("%s has the old pod", m.Name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.WaitPods(ctx, "kube-system", returnPathName)
}

// RemoveReturnPath takes the static pod away, which leaves its table, and removes
// that with the product's own pod for it, as the head of its file says.
func (l *Lab) RemoveReturnPath(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	text, err := l.Product.File(AgentPod, "kubernetes", "cleanup-pod.yaml")
	if err != nil {
		return err
	}
	for _, m := range l.Machines {
		if err := m.RemoveManifest(returnPathName); err != nil {
			return err
		}
		_, err := l.Kubectl(ctx, nil, "-n", "kube-system", "wait", "pod/"+returnPathName+"-"+m.Name, "--for=delete", "--timeout=60s")
		if err != nil {
			return err
		}
		pod := "pod/homeward-cleanup-" + m.Name
		if _, err := l.Kubectl(ctx, bytes.ReplaceAll(text, []byte("NODE"), []byte(m.Name)), "create", "-f", "-"); err != nil {
			return err
		}
		if _, err := l.Kubectl(ctx, nil, "-n", "kube-system", "wait", pod, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s"); err != nil {
			return err
		}
		if _, err := l.Kubectl(ctx, nil, "-n", "kube-system", "delete", pod); err != nil {
			return err
		}
		if rules, err := m.ReturnPathRules(); err != nil || rules != 0 {
			return fmt.Errorf("cleaning up %s: %d rules are left (%v)", m.Name, rules, err)
		}
	}
	return nil
}

// ReturnPathRules gives how many rules the product's table has, zero without it.
func (m *Machine) ReturnPathRules() (int, error) { return m.RulesOf("inet", returnPathTable) }

// LacksDestination gives a condition: the product's table marks no requests for
// an address that it has marked before.
func (m *Machine) LacksDestination(address netip.Addr) func(context.Context) error {
	return func(ctx context.Context) error {
		out, err := m.mounts.Command(ctx, "nft", "list", "table", "inet", returnPathTable).Output()
		if err == nil && strings.Contains(string(out), address.String()) {
			err = fmt.Errorf("%s is in the table", address)
		}
		return err
	}
}

// FlushNFT is "nft flush ruleset", which takes kube-proxy's tables too.
func (m *Machine) FlushNFT(ctx context.Context) error {
	_, err := m.mounts.Command(ctx, "nft", "flush", "ruleset").Output()
	return err
}
