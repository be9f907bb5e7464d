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
	return l.replaceReturnPath(ctx, func(m *Machine) ([]byte, error) { return m.returnPathPod(kind) })
}

// UpgradeReturnPath replaces the static pod on every machine by one that differs
// only in an annotation, as another image would make it, and waits until the new
// one is ready.
func (l *Lab) UpgradeReturnPath(ctx context.Context, kind Kind, version string) error {
	return l.replaceReturnPath(ctx, func(m *Machine) ([]byte, error) {
		text, err := m.returnPathPod(kind)
		return bytes.Replace(text, []byte("metadata:\n"), []byte("metadata:\n  annotations: {lab/version: "+version+"}\n"), 1), err
	})
}

// replaceReturnPath gives every kubelet its static pod, and waits until that very one is
// ready: the one before it stays ready until the kubelet has begun, and to take it for
// the new one would end the load before anything has happened.
func (l *Lab) replaceReturnPath(ctx context.Context, pod func(*Machine) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	replaced := map[*Machine]string{}
	for _, m := range l.Machines {
		text, err := pod(m)
		if err != nil {
			return err
		}
		changed, err := m.manifestDiffers(returnPathName, text)
		if err != nil {
			return err
		}
		if changed {
			if replaced[m], err = m.returnPathHash(ctx); err != nil {
				return err
			}
		}
		if err := m.WriteManifest(returnPathName, text); err != nil {
			return err
		}
	}
	for m, before := range replaced {
		if err := WaitFor(ctx, "the new pod on "+m.Name, func(ctx context.Context) error {
			hash, err := m.returnPathHash(ctx)
			if err == nil && (hash == "" || hash == before) {
				err = fmt.Errorf("there is the one of hash %q, as before", hash)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return l.WaitPods(ctx, "kube-system", returnPathName)
}

// returnPathHash gives the kubelet's own name for the contents of the static pod that it
// runs, empty when it runs none.
func (m *Machine) returnPathHash(ctx context.Context) (string, error) {
	out, err := m.lab.Kubectl(ctx, nil, "-n", "kube-system", "get", "pod", returnPathName+"-"+m.Name, "--ignore-not-found",
		"-o", `jsonpath={.metadata.annotations.kubernetes\.io/config\.hash}`)
	return string(out), err
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
	var steps []func() error
	for _, m := range l.Machines {
		steps = append(steps, func() error { return m.removeReturnPath(ctx, text) })
	}
	return together(steps...)
}

func (m *Machine) removeReturnPath(ctx context.Context, cleanup []byte) error {
	if err := m.RemoveManifest(returnPathName); err != nil {
		return err
	}
	pod := "pod/homeward-cleanup-" + m.Name
	for _, step := range []struct {
		input []byte
		args  []string
	}{
		{nil, []string{"wait", "pod/" + returnPathName + "-" + m.Name, "--for=delete", "--timeout=60s"}},
		{bytes.ReplaceAll(cleanup, []byte("NODE"), []byte(m.Name)), []string{"create", "-f", "-"}},
		{nil, []string{"wait", pod, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s"}},
		{nil, []string{"delete", pod}},
	} {
		if _, err := m.lab.Kubectl(ctx, step.input, append([]string{"-n", "kube-system"}, step.args...)...); err != nil {
			return err
		}
	}
	if rules, err := m.ReturnPathRules(); err != nil || rules != 0 {
		return fmt.Errorf("cleaning up %s: %d rules are left (%v)", m.Name, rules, err)
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
