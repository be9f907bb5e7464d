package load

import (
	"errors"
	"io/fs"
	"path/filepath"

	"homeward/netplan"
)

// The environment's names of an application credential. What is set there, and not
// empty, comes before the file.
const (
	EnvCredentialID     = "HOMEWARD_OPENSTACK_APPLICATION_CREDENTIAL_ID"
	EnvCredentialSecret = "HOMEWARD_OPENSTACK_APPLICATION_CREDENTIAL_SECRET"
)

// OpenStackAccess gives how Keystone is reached: the section of the plan at
// clusterFile, the application credential of secrets.yaml beside it, and over that
// the environment that getenv reads. Without any of them the credential is empty: then
// OpenStack's own sources count (clouds.yaml, OS_*), which are not read here. The file
// is not read when the environment has the whole credential.
//
// Mistakes in secrets.yaml are a *Faults. No error and no warning repeats a
// credential.
func OpenStackAccess(clusterFile string, spec *netplan.OpenStackSpec, getenv func(string) string) (netplan.OpenStackAccess, []netplan.Warning, error) {
	var a netplan.OpenStackAccess
	id, secret := getenv(EnvCredentialID), getenv(EnvCredentialSecret)
	if err := errors.Join(named(EnvCredentialID, id, checkCredentialID), named(EnvCredentialSecret, secret, checkCredentialSecret)); err != nil {
		return a, nil, err
	}
	var warnings []netplan.Warning
	if id == "" || secret == "" {
		var doc *document
		var err error
		doc, warnings, err = secretsFile(filepath.Join(filepath.Dir(clusterFile), SecretsFile), openStackSecrets)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			doc = &document{}
		case err != nil:
			return a, nil, err
		}
		if id == "" {
			id = get[string](doc, "openstack.application_credential_id")
		}
		if secret == "" {
			secret = get[string](doc, "openstack.application_credential_secret")
		}
		switch {
		case id == "" && secret != "":
			return a, nil, errors.New("the application credential has no id: give it in " + SecretsFile + " or " + EnvCredentialID)
		case id != "" && secret == "":
			return a, nil, errors.New("the application credential has no secret: give it in " + SecretsFile + " or " + EnvCredentialSecret)
		}
	}
	if spec != nil {
		a.URL, a.Region = spec.URL, spec.Region
	}
	a.CredentialID, a.CredentialSecret = id, netplan.NewSecret(secret)
	return a, warnings, nil
}
