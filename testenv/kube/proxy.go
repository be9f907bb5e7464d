//go:build linux

package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ProxyMode is how kube-proxy rewrites.
type ProxyMode string

// The modes.
const (
	ProxyNFTables ProxyMode = "nftables"
	ProxyIPTables ProxyMode = "iptables"
)

// StartProxies starts kube-proxy on every machine in a mode, after it has cleaned
// up what the other mode left, and waits until it knows every Service.
func (l *Lab) StartProxies(ctx context.Context, mode ProxyMode) error {
	var steps []func() error
	for _, m := range l.Machines {
		steps = append(steps, func() error { return m.StartProxy(ctx, mode) })
	}
	return together(steps...)
}

// StopProxies stops kube-proxy everywhere. Its rules stay.
func (l *Lab) StopProxies() error {
	var errs []error
	for _, m := range l.Machines {
		errs = append(errs, m.proxy.Stop())
	}
	return errors.Join(errs...)
}

// CleanProxies removes what kube-proxy has left in the kernel, of every mode.
func (l *Lab) CleanProxies(ctx context.Context) error {
	var errs []error
	for _, m := range l.Machines {
		_, err := m.mounts.Command(ctx, l.set.Program("kube-proxy"), "--cleanup", "--hostname-override="+m.Name).Output()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// StartProxy starts kube-proxy on the machine and waits for its rules.
func (m *Machine) StartProxy(ctx context.Context, mode ProxyMode) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	identity := "kube-proxy-" + m.Name
	if err := m.lab.identify(identity, identityProxy); err != nil {
		return err
	}
	var err error
	m.proxy, err = m.start("kube-proxy", m.lab.set.Program("kube-proxy"),
		"--kubeconfig="+m.lab.kubeconfigOf(identity), "--hostname-override="+m.Name, "--proxy-mode="+string(mode),
		"--cluster-cidr=10.244.0.0/16",
		// The size of the connection table is the whole machine's.
		"--conntrack-max-per-core=0", "--conntrack-min=0", "--conntrack-tcp-timeout-established=0",
		"--conntrack-tcp-timeout-close-wait=0", "--iptables-localhost-nodeports=false")
	if err != nil {
		return err
	}
	list := []string{"nft", "list", "table", "ip", "kube-proxy"}
	if mode == ProxyIPTables {
		list = []string{"iptables-save", "-t", "nat"}
	}
	return WaitFor(ctx, "kube-proxy's rules on "+m.Name, func(ctx context.Context) error {
		if m.proxy.Ended() {
			return fmt.Errorf("it has ended: see %s", m.lab.Logs)
		}
		out, err := m.mounts.Command(ctx, list[0], list[1:]...).Output()
		if err != nil {
			return err
		}
		for _, s := range m.lab.Services() {
			if !strings.Contains(string(out), s.Address.String()) {
				return fmt.Errorf("nothing for %s in them", s.Address)
			}
		}
		return nil
	})
}
