//go:build linux

package kube

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"homeward/testenv/netlab"
)

// Where the control plane listens.
const (
	apiPort = netlab.VIPPort
	etcdURL = "http://127.0.0.1:2379"
	peerURL = "http://127.0.0.1:2380"
)

// serviceCIDR is the plan's default, and apiService what Kubernetes takes of it for
// the API's Service.
const (
	serviceCIDR = "10.96.0.0/12"
	apiService  = "10.96.0.1"
)

// ControlPlane is a machine with an API server and both NICs. The first has etcd
// and the controllers besides.
type ControlPlane struct {
	*netlab.Host
	// Name is the plan's hostname.
	Name    string
	Address netip.Addr

	lab *Lab
	api *Process
}

// controlExternal is the kernel's name of the external NIC.
const controlExternal = "ens19"

// controlPlaneCount is how many the plan has.
const controlPlaneCount = 2

func (l *Lab) newControlPlane(index int) (*ControlPlane, error) {
	c := &ControlPlane{
		Name:    fmt.Sprintf("edge-controlplane-%02d", index+1),
		Address: netip.AddrFrom4([4]byte{10, 90, 0, byte(2 + index)}),
		lab:     l,
	}
	mac := net.HardwareAddr{0x02, 0, 0, 0, 0x0e, byte(0x11 + index)}
	var err error
	c.Host, err = l.Net.AddMachine(fmt.Sprintf("control%d", index+1), c.Address, controlExternal, mac)
	return c, err
}

func (c *ControlPlane) talos() installed {
	return installed{host: c.Host, name: c.Name, external: controlExternal, product: c.lab.Product}
}

// startControlPlanes starts etcd, the API servers and the controllers.
func (l *Lab) startControlPlanes(ctx context.Context) (err error) {
	if l.pki, err = newPKI(filepath.Join(l.dir, "pki")); err != nil {
		return err
	}
	if err := l.pki.writeKubeconfig(l.kubeconfig(), apiURL(l.Control().Address)); err != nil {
		return err
	}
	// A test's data need not survive a power cut.
	etcd := "http://" + netip.AddrPortFrom(l.Control().Address, 2379).String()
	_, err = l.start(l.Control().Command, "etcd", l.set.Program("etcd"),
		"--name=lab", "--data-dir="+filepath.Join(l.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL+","+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=lab="+peerURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, c := range l.ControlPlanes {
		if err := c.talos().configure(); err != nil {
			return err
		}
		if err := c.startAPI(etcd); err != nil {
			return err
		}
	}
	for _, c := range l.ControlPlanes {
		if err := WaitFor(ctx, "the API server of "+c.Name, c.ready); err != nil {
			return err
		}
	}
	return l.startControllers()
}

// startControllers starts the controllers that make EndpointSlices out of Services and
// Pods, and the accounts of pods; each acts as its own account.
func (l *Lab) startControllers() error {
	if err := l.identify("kube-controller-manager", identityControllers); err != nil {
		return err
	}
	_, err := l.start(l.Control().Command, "kube-controller-manager", l.set.Program("kube-controller-manager"),
		"--kubeconfig="+l.kubeconfigOf("kube-controller-manager"), "--leader-elect=false", "--bind-address=127.0.0.1",
		"--use-service-account-credentials", "--service-account-private-key-file="+l.pki.file("sa.key"), "--root-ca-file="+l.pki.file("ca.crt"),
		"--controllers=endpointslice-controller,serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller")
	return err
}

// apiURL is how an API server is reached at an address of its machine.
func apiURL(address netip.Addr) string {
	return "https://" + netip.AddrPortFrom(address, apiPort).String()
}

// podSecurity is Talos's default: whoever needs more than "baseline" needs a
// namespace whose labels say so, as the product's for MetalLB do.
const podSecurity = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, enforce-version: latest, audit: restricted, audit-version: latest, warn: restricted, warn-version: latest}
    exemptions: {namespaces: [kube-system]}
`

// startAPI starts the machine's API server. Its certificate has the names that
// the patch asks for, as Talos's has.
func (c *ControlPlane) startAPI(etcd string) error {
	list, err := c.talos().documents(AgentPod)
	if err != nil {
		return err
	}
	sans := []string{c.Address.String(), apiService}
	for _, d := range list {
		if d.Cluster != nil {
			sans = append(sans, d.Cluster.APIServer.CertSANs...)
		}
	}
	if !slices.Contains(sans, c.lab.Net.Addresses.VIP.String()) {
		return fmt.Errorf("starting the API server of %s: its patch has no certificate for the VIP", c.Name)
	}
	pki := c.lab.pki
	if err := pki.issue(c.Name, sans); err != nil {
		return err
	}
	admission := pki.file("admission.yaml")
	if err := os.WriteFile(admission, []byte(podSecurity), 0o600); err != nil {
		return err
	}
	c.api, err = c.lab.start(c.Command, "kube-apiserver-"+c.Name, c.lab.set.Program("kube-apiserver"),
		"--etcd-servers="+etcd, "--bind-address=0.0.0.0", "--advertise-address="+c.Address.String(),
		fmt.Sprintf("--secure-port=%d", apiPort), fmt.Sprintf("--apiserver-count=%d", controlPlaneCount),
		"--tls-cert-file="+pki.file(c.Name+".crt"), "--tls-private-key-file="+pki.file(c.Name+".key"),
		"--service-cluster-ip-range="+serviceCIDR, "--service-account-issuer=https://lab.invalid",
		"--service-account-signing-key-file="+pki.file("sa.key"), "--service-account-key-file="+pki.file("sa.pub"),
		"--token-auth-file="+pki.file("tokens.csv"), "--client-ca-file="+pki.file("ca.crt"), "--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction", "--admission-control-config-file="+admission,
		"--allow-privileged=true", "--profiling=false")
	return err
}

// ready is a condition: the machine's API server answers at its private address.
func (c *ControlPlane) ready(ctx context.Context) error {
	if c.api.Ended() {
		return fmt.Errorf("it has ended: see %s", c.lab.Logs)
	}
	return c.lab.askAPI(ctx, c.Host, apiURL(c.Address))
}

// askAPI asks an API server from a host with kubectl: TLS, the server's name, the
// token and the answer have to be right.
func (l *Lab) askAPI(ctx context.Context, from *netlab.Host, server string) error {
	cmd := from.Command(ctx, l.set.Program("kubectl"), "--kubeconfig", l.kubeconfig(),
		"--cache-dir", filepath.Join(l.dir, "kubectl"), "--server", server, "--request-timeout=2s", "get", "--raw", "/readyz")
	_, err := cmd.Output()
	return err
}
