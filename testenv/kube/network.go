//go:build linux

package kube

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// NetworkPlugin is what connects pods.
type NetworkPlugin string

// The plugins: a veth each with netlab's own routes between the nodes, and flannel.
const (
	PluginPTP     NetworkPlugin = "ptp"
	PluginFlannel NetworkPlugin = "flannel"
)

// The plugins' configurations. ptp gives pods addresses that netlab routes to this
// machine; flannel's is that of its own manifest, without portmap.
const (
	ptpConfig = `{"cniVersion": "0.4.0", "name": "lab", "plugins": [{"type": "ptp", "ipMasq": false,
  "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}],
    "ranges": [[{"subnet": "10.244.%[1]d.0/24", "rangeStart": "10.244.%[1]d.100", "rangeEnd": "10.244.%[1]d.200", "gateway": "10.244.%[1]d.1"}]]}}]}
`
	flannelConfig = `{"cniVersion": "0.3.1", "name": "cbr0", "plugins": [
  {"type": "flannel", "delegate": {"hairpinMode": true, "isDefaultGateway": true}}]}
`
)

// cniPlugins is where Debian's containernetworking-plugins are.
const cniPlugins = "/usr/lib/cni"

// configurePlugin writes the plugin's configuration for containerd, and gives the
// directory with the plugins' programs.
func (m *Machine) configurePlugin() (dir string, err error) {
	if m.lab.Plugin == PluginPTP {
		return cniPlugins, m.writeEtc("10-lab.conflist", fmt.Sprintf(ptpConfig, m.index+1))
	}
	if err := m.writeEtc("10-flannel.conflist", flannelConfig); err != nil {
		return "", err
	}
	dir = filepath.Join(m.root, "cni")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	programs := []string{m.lab.set.Program("flannel")}
	for _, name := range []string{"bridge", "host-local", "loopback"} {
		programs = append(programs, filepath.Join(cniPlugins, name))
	}
	for _, file := range programs {
		err := os.Symlink(file, filepath.Join(dir, filepath.Base(file)))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	return dir, nil
}
