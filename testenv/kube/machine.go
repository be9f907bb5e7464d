//go:build linux

package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

// Machine is a worker: a node of netlab with the programs of a Kubernetes node.
type Machine struct {
	*netlab.Node
	// Name is the plan's hostname and the node's name.
	Name string

	lab    *Lab
	index  int
	root   string
	mounts *netlab.Mounts
	// The programs, nil until they have been started.
	containerd, kubelet, proxy, speaker, flanneld *Process
	// flannelBegan is when flanneld was started last.
	flannelBegan time.Time
}

// private are the directories that each machine has for itself, at the places
// where its programs look for them.
var private = []string{"/run", "/var/lib", "/var/log"}

func (l *Lab) newMachine(n *netlab.Node, index int) (*Machine, error) {
	m := &Machine{Node: n, Name: fmt.Sprintf("edge-worker-%02d", index+1), lab: l, index: index}
	m.root = filepath.Join(l.dir, m.Name)
	for _, dir := range append([]string{"/manifests", "/etc"}, private...) {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	m.mounts, err = n.NewMounts(func() error {
		for _, dir := range private {
			if err := unix.Mount(filepath.Join(m.root, dir), dir, "", unix.MS_BIND, ""); err != nil {
				return fmt.Errorf("mounting %s: %w", dir, err)
			}
		}
		return nil
	})
	return m, err
}

// talos is what stands in for Talos on the machine.
func (m *Machine) talos() installed {
	return installed{host: m.Host, name: m.Name, external: m.ExternalLink, product: m.lab.Product}
}

// Configure does with the machine's patch what Talos does, in place of what
// netlab has made of the external link.
func (m *Machine) Configure() error {
	if err := m.RemoveAddress(m.ExternalLink, m.ExternalAddress); err != nil {
		return err
	}
	return m.talos().configure()
}

// start runs one of the machine's programs among its mounts.
func (m *Machine) start(name, file string, args ...string) (*Process, error) {
	return m.lab.start(m.mounts.Command, name+"-"+m.Name, file, args...)
}

// etc is a file of the machine's own configuration.
func (m *Machine) etc(name string) string { return filepath.Join(m.root, "etc", name) }

// writeEtc writes such a file.
func (m *Machine) writeEtc(name, text string) error {
	return os.WriteFile(m.etc(name), []byte(text), 0o644)
}

// cgroup is the machine's root in the control groups.
func (m *Machine) cgroup() string { return cgroupName(m.index) }

func (m *Machine) close() error {
	return errors.Join(m.mounts.Close(), removeCgroups(m.cgroup()))
}

// WriteManifest gives the kubelet a static pod, or replaces one, whole.
func (m *Machine) WriteManifest(name string, text []byte) error {
	file := filepath.Join(m.root, "manifests", name+".yaml")
	// Outside the directory first: the kubelet reads whatever lies in it.
	fresh := m.etc(name + ".new")
	if err := os.WriteFile(fresh, text, 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// manifestDiffers says whether a static pod is another than what the kubelet has under
// the name, if anything.
func (m *Machine) manifestDiffers(name string, text []byte) (bool, error) {
	has, err := os.ReadFile(filepath.Join(m.root, "manifests", name+".yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return !bytes.Equal(has, text), err
}

// RemoveManifest takes a static pod away.
func (m *Machine) RemoveManifest(name string) error {
	return os.Remove(filepath.Join(m.root, "manifests", name+".yaml"))
}
