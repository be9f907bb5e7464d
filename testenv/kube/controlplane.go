//go:build linux

package kube

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Where the control plane listens.
const (
	apiPort = 6443
	etcdURL = "http://127.0.0.1:2379"
	peerURL = "http://127.0.0.1:2380"
)

// startControlPlane starts etcd, the API server and the controllers that make
// EndpointSlices out of Services and Pods.
func (l *Lab) startControlPlane(ctx context.Context) error {
	pki := filepath.Join(l.dir, "pki")
	if err := os.MkdirAll(pki, 0o700); err != nil {
		return err
	}
	if err := l.writeIdentities(pki); err != nil {
		return err
	}
	// A test's data need not survive a power cut.
	_, err := l.start(l.Control.Command, "etcd", l.set.Program("etcd"),
		"--name=lab", "--data-dir="+filepath.Join(l.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=lab="+peerURL)
	if err != nil {
		return err
	}
	api, err := l.start(l.Control.Command, "kube-apiserver", l.set.Program("kube-apiserver"),
		"--etcd-servers="+etcdURL, "--bind-address="+controlAddress.String(), "--advertise-address="+controlAddress.String(),
		fmt.Sprintf("--secure-port=%d", apiPort), "--cert-dir="+pki,
		"--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://lab.invalid",
		"--service-account-signing-key-file="+filepath.Join(pki, "sa.key"),
		"--service-account-key-file="+filepath.Join(pki, "sa.pub"),
		"--token-auth-file="+filepath.Join(pki, "tokens.csv"), "--authorization-mode=RBAC",
		// Pods stand in for MetalLB's; nobody makes their accounts.
		"--disable-admission-plugins=ServiceAccount", "--allow-privileged=true", "--profiling=false")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err = WaitFor(ctx, "the API server", func(ctx context.Context) error {
		if api.Ended() {
			return fmt.Errorf("it has ended: see %s", l.Logs)
		}
		_, err := l.Kubectl(ctx, nil, "get", "--raw", "/readyz")
		return err
	})
	if err != nil {
		return err
	}
	_, err = l.start(l.Control.Command, "kube-controller-manager", l.set.Program("kube-controller-manager"),
		"--kubeconfig="+l.kubeconfig(), "--leader-elect=false", "--bind-address=127.0.0.1",
		"--controllers=endpointslice-controller")
	return err
}

// writeIdentities writes the keys and the administrator's token, fresh each time.
func (l *Lab) writeIdentities(pki string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	token := hex.EncodeToString(secret)
	for file, text := range map[string][]byte{
		filepath.Join(pki, "sa.key"):     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		filepath.Join(pki, "sa.pub"):     pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		filepath.Join(pki, "tokens.csv"): []byte(token + ",admin,admin,\"system:masters\"\n"),
		l.kubeconfig():                   []byte(kubeconfigText(token, filepath.Join(pki, "apiserver.crt"))),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kubeconfigText names the certificate that the API server makes for itself when
// it starts.
func kubeconfigText(token, certificate string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: "https://%s:%d", certificate-authority: %q}
users:
- name: admin
  user: {token: %q}
contexts:
- name: lab
  context: {cluster: lab, user: admin}
`, controlAddress, apiPort, certificate, token)
}
