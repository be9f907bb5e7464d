package proxmox

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"homeward/netplan"
)

// maxCA is how much of a CA file is read.
const maxCA = 1 << 20

// pinFault is a certificate that is not the pinned one.
type pinFault struct {
	host       string
	want, have []byte
}

func (f *pinFault) Error() string {
	return fmt.Sprintf("the certificate of %s has the SHA-256 fingerprint %s, not %s as proxmox.fingerprint says", f.host, colons(f.have), colons(f.want))
}

// trust gives the TLS configuration of an access. A fingerprint decides alone: it
// is of the server's own certificate, so that a self-signed one will do. Else
// TLSVerify does: "true" or nothing for the system's authorities, the path of a CA
// file for those in it, "false" for none, which log hears of.
func trust(a netplan.ProxmoxAccess, host string, log *slog.Logger) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.Fingerprint != "" {
		pin, err := hex.DecodeString(strings.ReplaceAll(a.Fingerprint, ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, errors.New("proxmox.fingerprint is no SHA-256 fingerprint: give 32 hexadecimal bytes with colons")
		}
		config.InsecureSkipVerify = true // what follows is stricter
		config.VerifyConnection = func(s tls.ConnectionState) error {
			have := sha256.Sum256(s.PeerCertificates[0].Raw)
			if !bytes.Equal(have[:], pin) {
				return &pinFault{host: host, want: pin, have: have[:]}
			}
			return nil
		}
		return config, nil
	}
	switch a.TLSVerify {
	case "", "true":
	case "false":
		config.InsecureSkipVerify = true
		if log != nil {
			log.Warn("the certificate of the Proxmox API is not verified: whoever stands between can read the token; give a CA file or proxmox.fingerprint", "host", host)
		}
	default:
		pool, err := authorities(a.TLSVerify)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	return config, nil
}

// authorities reads the certificates of a CA file.
func authorities(path string) (*x509.CertPool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file of the Proxmox API: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxCA))
	if err != nil {
		return nil, fmt.Errorf("reading the CA file of the Proxmox API %s: %w", path, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		what := "holds no certificate"
		if bytes.Contains(data, []byte("PRIVATE KEY")) {
			what = "holds a key, not a certificate"
		}
		return nil, fmt.Errorf("the CA file of the Proxmox API %s %s: give a PEM file such as a copy of /etc/pve/pve-root-ca.pem", path, what)
	}
	return pool, nil
}

// colons writes a fingerprint as openssl does.
func colons(sum []byte) string {
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}
