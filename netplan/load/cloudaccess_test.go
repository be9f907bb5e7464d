package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/netplan"
)

const (
	anID = "0123456789abcdef0123456789abcdef"
	// keystoneSecret is one as Keystone makes them; it must never be seen either.
	keystoneSecret = "r5TEOqaQ-hunter2_Wc0bLmZ9yXvUtSrQpOnMlKjIhGfEdCbA0987654321zyxwvutsrqponmlkjihgfedcba"
	cloudSecrets   = "openstack:\n  application_credential_id: " + anID + "\n  application_credential_secret: " + theSecret + "\n"
)

func TestOpenStackAccess(t *testing.T) {
	spec := netplan.OpenStackSpec{URL: "https://openstack.example.edu:5000/v3", Region: "RegionTwo", ExternalNet: "public"}
	otherID := strings.Repeat("f", 32)
	for name, c := range map[string]struct {
		file    string
		env     []string
		id, key string
	}{
		"the file":                           {cloudSecrets, nil, anID, theSecret},
		"the names of other tools":           {strings.ReplaceAll(cloudSecrets, "application_", ""), nil, anID, theSecret},
		"another provider's section":         {goodSecrets + cloudSecrets, nil, anID, theSecret},
		"the environment alone":              {"", []string{EnvCredentialID, otherID, EnvCredentialSecret, "s3cret"}, otherID, "s3cret"},
		"the environment over a broken file": {"[", []string{EnvCredentialID, otherID, EnvCredentialSecret, "s3cret"}, otherID, "s3cret"},
		"half from each":                     {cloudSecrets, []string{EnvCredentialID, otherID}, otherID, theSecret},
		"no file":                            {"", nil, "", ""},
		"a file without the section":         {goodSecrets, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := OpenStackAccess(cluster(t, c.file), &spec, environment(c.env...))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			if got.URL != spec.URL || got.Region != spec.Region || got.CredentialID != c.id || got.CredentialSecret.Reveal() != c.key {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestOpenStackAccessFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		env  []string
		want string
	}{
		"no secret":              {"openstack: {credential_id: " + anID + "}\n", nil, "openstack.application_credential_secret: is missing: an application credential has an id and a secret"},
		"half of it outside":     {"", []string{EnvCredentialID, anID}, "has no secret"},
		"the other half":         {"", []string{EnvCredentialSecret, theSecret}, "has no id"},
		"still to be filled in":  {"openstack: {credential_id: CHANGE-ME, credential_secret: CHANGE-ME}\n", nil, "credential_id: is not the id of an application credential"},
		"the secret as id":       {strings.Replace(cloudSecrets, anID, theSecret, 1), nil, "application_credential_id: is not the id"},
		"one key in both places": {cloudSecrets + "  credential_secret: x\n", nil, "is also given as"},
		"an unknown key":         {cloudSecrets + "  password: " + theSecret + "\n", nil, "openstack.password: unknown key: known here are"},
		"the secret as a key":    {cloudSecrets + "  " + keystoneSecret + ": 1\n", nil, `openstack."[secret]": unknown key: known here are`},
		"a misspelt section":     {strings.Replace(cloudSecrets, "openstack", "openstak", 1), nil, "openstak: unknown key: did you mean openstack?"},
		"an encrypted file":      {strings.Replace(cloudSecrets, theSecret, "ENC[AES256_GCM,data:x]", 1), nil, "the value is encrypted"},
		"a space":                {strings.Replace(cloudSecrets, theSecret, "'"+theSecret+" '", 1), nil, "holds a space or a line's end"},
		"a list":                 {"- a\n", nil, "the file is a list, not a map: start with `openstack:`"},
		"an id from outside":     {"", []string{EnvCredentialID, theSecret, EnvCredentialSecret, "x"}, EnvCredentialID + " is not the id"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := OpenStackAccess(cluster(t, c.file), &netplan.OpenStackSpec{}, environment(c.env...))
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to hold %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret appears: %v", err)
			}
			if got.CredentialID != "" || !got.CredentialSecret.Empty() {
				t.Error("a credential comes with an error")
			}
		})
	}
}

// A file that everybody can read is spoken of where the credential is in it.
func TestOpenStackAccessOfReadableFile(t *testing.T) {
	for file, want := range map[string]int{cloudSecrets: 1, goodSecrets: 0} {
		path := cluster(t, file)
		if err := os.Chmod(filepath.Join(filepath.Dir(path), SecretsFile), 0o644); err != nil {
			t.Fatal(err)
		}
		_, warnings, err := OpenStackAccess(path, nil, environment())
		if err != nil || len(warnings) != want {
			t.Errorf("got %v, %v for\n%s", warnings, err, file)
		}
	}
}
