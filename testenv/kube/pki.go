//go:build linux

package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// pki is the cluster's keys and tokens, fresh with each lab.
type pki struct {
	dir   string
	token string
	ca    *x509.Certificate
	key   *ecdsa.PrivateKey
}

// file is one of the pki's files.
func (p *pki) file(name string) string { return filepath.Join(p.dir, name) }

// newPKI writes an authority, the key pair of the service accounts and the
// administrator's token.
func newPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	p := &pki{dir: dir, token: hex.EncodeToString(secret)}
	if err := p.makeAuthority(); err != nil {
		return nil, fmt.Errorf("making the cluster's authority: %w", err)
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&accounts.PublicKey)
	if err != nil {
		return nil, err
	}
	if err := p.writeKey("sa.key", accounts); err != nil {
		return nil, err
	}
	if err := p.writePEM("sa.pub", "PUBLIC KEY", public); err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.file("tokens.csv"), []byte(p.token+",admin,admin,\"system:masters\"\n"), 0o600)
}

func (p *pki) makeAuthority() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := certificate("lab")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	p.key = key
	return p.writePEM("ca.crt", "CERTIFICATE", der)
}

// issue writes NAME.crt and NAME.key of a server that is called by any of these
// names and addresses.
func (p *pki) issue(name string, sans []string) error {
	template := certificate(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, san := range sans {
		if ip := net.ParseIP(san); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, san)
		}
	}
	return p.sign(name, template)
}

// sign makes a key and writes NAME.crt and NAME.key.
func (p *pki) sign(name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, &key.PublicKey, p.key)
	if err != nil {
		return fmt.Errorf("issuing the certificate of %s: %w", name, err)
	}
	if err := p.writePEM(name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return p.writeKey(name+".key", key)
}

// issueClient writes NAME.crt and NAME.key of a client that the API server knows as a
// user of groups.
func (p *pki) issueClient(name, user string, groups []string) error {
	template := certificate(user)
	template.Subject.Organization = groups
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return p.sign(name, template)
}

func certificate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
}

func (p *pki) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return p.writePEM(name, "PRIVATE KEY", der)
}

func (p *pki) writePEM(name, kind string, der []byte) error {
	return os.WriteFile(p.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// writeKubeconfig writes the administrator's kubeconfig for an API server.
func (p *pki) writeKubeconfig(file, server string) error {
	return os.WriteFile(file, fmt.Appendf(nil, kubeconfigText, server, p.file("ca.crt"), fmt.Sprintf("token: %q", p.token)), 0o600)
}

// kubeconfigText is a kubeconfig of a server, an authority, and what proves the user.
const kubeconfigText = `apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: %q, certificate-authority: %q}
users:
- name: user
  user: {%s}
contexts:
- name: lab
  context: {cluster: lab, user: user}
`
