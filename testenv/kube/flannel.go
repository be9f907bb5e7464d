//go:build linux

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FlannelMode is how flannel masquerades.
type FlannelMode string

// The modes: the default, and with EnableNFTables.
const (
	FlannelIPTables FlannelMode = "iptables"
	FlannelNFTables FlannelMode = "nftables"
)

// flannelNet is flannel's net-conf.json, with Talos's backend.
const flannelNet = `{"Network": "10.244.0.0/16", "EnableNFTables": %t, "Backend": {"Type": "vxlan"}}
`

// podCIDR is the node's part of the pod network, none of those that netlab routes.
func (m *Machine) podCIDR() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(101 + m.index), 0}), 24)
}

// startPlugin starts what connects pods where that is a program, and waits until the
// nodes know the way to each other's pods.
func (l *Lab) startPlugin(ctx context.Context) error {
	if l.Plugin != PluginFlannel {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, m := range l.Machines {
		// kube-controller-manager does it where it runs that controller.
		patch := fmt.Sprintf(`{"spec": {"podCIDR": %[1]q, "podCIDRs": [%[1]q]}}`, m.podCIDR())
		if err := WaitFor(ctx, "node "+m.Name, func(ctx context.Context) error {
			_, err := l.Kubectl(ctx, nil, "patch", "node", m.Name, "-p", patch)
			return err
		}); err != nil {
			return err
		}
	}
	if err := l.flannelAccount(ctx); err != nil {
		return err
	}
	return l.StartFlannel(ctx, FlannelIPTables)
}

// flannelAccount makes flanneld's identity out of its own manifest.
func (l *Lab) flannelAccount(ctx context.Context) error {
	if _, err := l.Kubectl(ctx, nil, "create", "namespace", "kube-flannel"); err != nil {
		return err
	}
	if err := l.applyAccess(ctx, l.set.FlannelManifest); err != nil {
		return err
	}
	return l.account(ctx, "flanneld", "kube-flannel", "flannel")
}

// StartFlannel starts flanneld on every machine in a mode, again after it was stopped,
// and waits until each has the other's pods behind the tunnel.
func (l *Lab) StartFlannel(ctx context.Context, mode FlannelMode) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, m := range l.Machines {
		if err := m.startFlanneld(mode); err != nil {
			return err
		}
	}
	for _, m := range l.Machines {
		if err := WaitFor(ctx, "flannel on "+m.Name, m.flannelReady(mode)); err != nil {
			return err
		}
	}
	return nil
}

// StopFlannel stops flanneld everywhere.
func (l *Lab) StopFlannel() error {
	var errs []error
	for _, m := range l.Machines {
		errs = append(errs, m.flanneld.Stop())
	}
	return errors.Join(errs...)
}

func (m *Machine) startFlanneld(mode FlannelMode) (err error) {
	if err := m.writeEtc("net-conf.json", fmt.Sprintf(flannelNet, mode == FlannelNFTables)); err != nil {
		return err
	}
	m.flannelBegan = time.Now()
	m.flanneld, err = m.start("flanneld", "env", "NODE_NAME="+m.Name, m.lab.set.Program("flanneld"),
		"--kube-subnet-mgr", "--kubeconfig-file="+m.lab.kubeconfigOf("flanneld"), "--ip-masq", "--iface="+m.PrivateLink,
		"--net-config-path="+m.etc("net-conf.json"))
	return err
}

// flannelReady gives a condition: flanneld has told the plugin, the other node's pods
// are behind the tunnel, and its rules stand in this mode. It leaves those of iptables
// when it changes to nftables: its own jumps still lead to its chains.
func (m *Machine) flannelReady(mode FlannelMode) func(context.Context) error {
	return func(ctx context.Context) error {
		if m.flanneld.Ended() {
			return fmt.Errorf("it has ended: see %s", m.lab.Logs)
		}
		told, err := os.Stat(filepath.Join(m.root, "run", "flannel", "subnet.env"))
		if err != nil {
			return err
		}
		if told.ModTime().Before(m.flannelBegan) {
			return errors.New("what the plugin is told is from before")
		}
		other := m.lab.Machines[1-m.index].podCIDR().Addr().Next()
		route, err := m.mounts.Command(ctx, "ip", "route", "get", other.String()).Output()
		if err != nil {
			return err
		}
		if !strings.Contains(string(route), " dev flannel.1 ") {
			return fmt.Errorf("the way to the other's pods is %s", route)
		}
		rules, err := m.mounts.Command(ctx, "nft", "list", "ruleset").Output()
		if err != nil {
			return err
		}
		sign := "jump FLANNEL-POSTRTG"
		if mode == FlannelNFTables {
			sign = "chain postrtg"
		}
		if !strings.Contains(string(rules), sign) {
			return fmt.Errorf("no %q among the rules", sign)
		}
		return nil
	}
}
