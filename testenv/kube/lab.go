//go:build linux

package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"homeward/testenv/kube/parts"
	"homeward/testenv/netlab"
)

// Lab is the cluster. Its methods are for one goroutine, but for those of its
// hosts and loads.
type Lab struct {
	// Net is the networks, the gateways and the clients.
	Net *netlab.Cluster
	// ControlPlanes are the machines with an API server; etcd, the controllers and
	// MetalLB's controller run on the first.
	ControlPlanes []*ControlPlane
	// Machines are the two workers.
	Machines []*Machine
	// Product is what the product made of the lab's plan.
	Product *Product
	// Plugin is what connects pods.
	Plugin NetworkPlugin
	// Logs is the directory with one file per program.
	Logs string

	set *parts.Set
	pki *pki
	// dir is the lab's own, removed with it.
	dir string

	mu        sync.Mutex
	processes []*Process
}

// Options are what a lab is made from.
type Options struct {
	// Repository is the product's directory: its tools are built from it.
	Repository string
	// Logs is made anew.
	Logs string
	// Plugin is what connects pods; empty is PluginPTP.
	Plugin NetworkPlugin
	// Progress is told what is being done.
	Progress io.Writer
}

// New builds a cluster that is up: nodes registered, MetalLB's and the plan's
// objects applied, speakers announcing, kube-proxy in mode nftables. The static
// pod runs on no node yet. Close it.
func New(ctx context.Context, o Options) (*Lab, error) {
	set, err := parts.Ensure(ctx, o.Progress)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(o.Logs), os.MkdirAll(o.Logs, 0o755)); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "homeward-kube-")
	if err != nil {
		return nil, err
	}
	l := &Lab{set: set, dir: dir, Logs: o.Logs, Plugin: cmp.Or(o.Plugin, PluginPTP)}
	build := []struct {
		what string
		do   func() error
	}{
		{"networks", l.wire},
		{"the product's own files and image", func() (err error) {
			l.Product, err = makeProduct(ctx, o.Repository, filepath.Join(dir, "product"))
			return err
		}},
		{"control plane", func() error { return l.startControlPlanes(ctx) }},
		{"objects", func() error { return l.applyObjects(ctx) }},
		{"nodes", func() error { return l.startMachines(ctx) }},
		{"pod network", func() error { return l.startPlugin(ctx) }},
		{"MetalLB", func() error { return l.startMetalLB(ctx) }},
		{"kube-proxy", func() error { return l.StartProxies(ctx, ProxyNFTables) }},
		{"services", func() error { return l.WaitServed(ctx) }},
	}
	for _, step := range build {
		fmt.Fprintf(o.Progress, "lab: %s\n", step.what)
		if err := step.do(); err != nil {
			err = fmt.Errorf("making the lab's %s: %w\n%s", step.what, err, l.LogTails(12))
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// wire makes the networks and the machines in them.
func (l *Lab) wire() (err error) {
	if l.Net, err = netlab.NewCluster(netlab.AnchorLayout); err != nil {
		return err
	}
	for i := range controlPlaneCount {
		c, err := l.newControlPlane(i)
		if err != nil {
			return err
		}
		l.ControlPlanes = append(l.ControlPlanes, c)
	}
	for i, n := range l.Net.Nodes {
		m, err := l.newMachine(n, i)
		if err != nil {
			return err
		}
		l.Machines = append(l.Machines, m)
	}
	return nil
}

// Close stops every program and removes what the lab has made outside its
// namespaces, but for the logs.
func (l *Lab) Close() error {
	var errs []error
	for _, m := range l.Machines {
		errs = append(errs, m.endPods())
	}
	errs = append(errs, stopAll(l.processes))
	l.processes = nil
	for _, m := range l.Machines {
		errs = append(errs, m.close())
	}
	if l.Net != nil {
		errs = append(errs, l.Net.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(l.dir))...)
}

// Control is the first control plane.
func (l *Lab) Control() *ControlPlane { return l.ControlPlanes[0] }

// Kubectl runs kubectl on the first control plane's machine with a standard input, and
// gives its output.
func (l *Lab) Kubectl(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	args = append([]string{"--kubeconfig", l.kubeconfig(), "--cache-dir", filepath.Join(l.dir, "kubectl")}, args...)
	cmd := l.Control().Command(ctx, l.set.Program("kubectl"), args...)
	cmd.Stdin = bytes.NewReader(input)
	return cmd.Output()
}

func (l *Lab) kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }
