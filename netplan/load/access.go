package load

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"homeward/netplan"
)

// The environment's names. What is set there, and not empty, comes before the files.
const (
	EnvURL         = "HOMEWARD_PROXMOX_URL"
	EnvTokenID     = "HOMEWARD_PROXMOX_TOKEN_ID"
	EnvTokenSecret = "HOMEWARD_PROXMOX_TOKEN_SECRET"
	EnvCAFile      = "HOMEWARD_PROXMOX_CA_FILE"
)

// SecretsFile is the name of the file with the token, beside the cluster file.
const SecretsFile = "secrets.yaml"

// Access gives how the Proxmox API is reached: the section of the plan at
// clusterFile, the token of secrets.yaml beside it, and over both the environment
// that getenv reads. The file is not read when the environment has the whole token.
// EnvCAFile takes the place of both tls_verify and fingerprint; a CA file of the
// plan is looked for from where the plan is.
//
// Mistakes in secrets.yaml are a *Faults. No error and no warning repeats a
// credential.
func Access(clusterFile string, spec *netplan.ProxmoxSpec, getenv func(string) string) (netplan.ProxmoxAccess, []netplan.Warning, error) {
	var a netplan.ProxmoxAccess
	if spec != nil {
		a.ProxmoxSpec = *spec
	}
	dir := filepath.Dir(clusterFile)
	if v := a.TLSVerify; v != "" && v != "true" && v != "false" && !filepath.IsAbs(v) {
		a.TLSVerify = filepath.Join(dir, v)
	}
	if v := getenv(EnvCAFile); v != "" {
		a.TLSVerify, a.Fingerprint = v, ""
	}
	if v := getenv(EnvURL); v != "" {
		if err := checkURL(v); err != nil {
			return netplan.ProxmoxAccess{}, nil, err
		}
		a.URL = v
	}
	if a.URL == "" {
		return netplan.ProxmoxAccess{}, nil, fmt.Errorf("the Proxmox API has no address: give proxmox.url in %s, or %s", netplan.Quote(filepath.Base(clusterFile)), EnvURL)
	}
	id, secret := getenv(EnvTokenID), getenv(EnvTokenSecret)
	if err := errors.Join(named(EnvTokenID, id, checkTokenID), named(EnvTokenSecret, secret, checkTokenSecret)); err != nil {
		return netplan.ProxmoxAccess{}, nil, err
	}
	var warnings []netplan.Warning
	if id == "" || secret == "" {
		var err error
		if id, secret, warnings, err = token(filepath.Join(dir, SecretsFile), id, secret); err != nil {
			return netplan.ProxmoxAccess{}, nil, err
		}
	}
	a.TokenID, a.TokenSecret = id, netplan.NewSecret(secret)
	return a, warnings, nil
}

// named checks what the environment has.
func named(name, value string, check func(string) error) error {
	if value == "" {
		return nil
	}
	if err := check(value); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

// checkURL checks an address without repeating it.
func checkURL(text string) error {
	const like = "give it like https://pve.example.edu:8006"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%s is not a URL: %s", EnvURL, like)
	case u.User != nil:
		return fmt.Errorf("%s carries credentials: %s", EnvURL, like)
	case u.Scheme != "https":
		return fmt.Errorf("%s is not https: %s", EnvURL, like)
	}
	return nil
}

// token completes the token of the environment from a secrets.yaml.
func token(path, id, secret string) (string, string, []netplan.Warning, error) {
	doc, warnings, err := secretsFile(path, proxmoxSecrets)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil, fmt.Errorf("%s is missing: write the token there, as\nproxmox:\n  token_id: %s\n  token_secret: UUID\nor set %s and %s; `homeward proxmox permissions` says how to make one", path, exampleTokenID, EnvTokenID, EnvTokenSecret)
	}
	if err != nil {
		return "", "", nil, err
	}
	if id == "" {
		id = get[string](doc, "proxmox.token_id")
	}
	if secret == "" {
		secret = get[string](doc, "proxmox.token_secret")
	}
	return id, secret, warnings, nil
}

// secretsFile reads the secrets.yaml at path, of which other providers' sections are
// other tools'. The error wraps the system's when there is no such file.
func secretsFile(path string, known secretTable) (*document, []netplan.Warning, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the secrets: %w", err)
	}
	defer f.Close()
	data, err := readBounded(f)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the secrets: %w", err)
	}
	doc, err := secrets(path, data, known)
	if err != nil {
		return nil, nil, err
	}
	var warnings []netplan.Warning
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o004 != 0 && doc.has(known.keys[0].path) {
		warnings = append(warnings, netplan.Warning{Path: SecretsFile, Message: fmt.Sprintf("everybody on this machine can read %s: chmod 600 %s", known.what, path)})
	}
	return doc, append(warnings, doc.warnings...), nil
}

// secrets reads a secrets.yaml.
func secrets(path string, data []byte, known secretTable) (*document, error) {
	root, fault := parseFor(data, known.advice)
	if fault != nil {
		return nil, &Faults{File: path, List: []Located{*fault}}
	}
	doc := walkBy(roomsOf(known.keys), root)
	for _, k := range known.keys {
		above := doc.values[parent(k.path)]
		if doc.has(k.path) || doc.tainted[k.path] || doc.meant[k.path] || doc.tainted[parent(k.path)] {
			continue
		}
		switch {
		case k.kind == section && k.required:
			doc.faults.add(k.path, Located{Line: 1, Path: k.path, Message: "is missing: " + known.advice.empty})
		case above != nil:
			doc.faults.add(k.path, Located{Line: above.line, Path: k.path, Message: "is missing: " + known.both})
		}
	}
	if list := doc.faults.sorted(); len(list) > 0 {
		return nil, &Faults{File: path, List: list}
	}
	return doc, nil
}
