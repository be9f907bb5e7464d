//go:build linux

package openstack

import "fmt"

// CloudName is the name of the entry in what [Project.CloudsYAML] writes.
const CloudName = "lab"

// CloudsYAML is a clouds.yaml with the project's first application credential at an
// address of Keystone. It holds the secret.
func (p *Project) CloudsYAML(identity string) []byte {
	return fmt.Appendf(nil, `clouds:
  %s:
    auth_type: v3applicationcredential
    auth:
      auth_url: %s
      application_credential_id: %s
      application_credential_secret: %s
    region_name: %s
    identity_api_version: 3
`, CloudName, identity, p.Credential.ID, p.Credential.Secret, Region)
}

// CloudsYAMLByPassword is the same with the user's name and password.
func (p *Project) CloudsYAMLByPassword(identity string) []byte {
	return fmt.Appendf(nil, `clouds:
  %s:
    auth:
      auth_url: %s
      username: %s
      password: %s
      project_id: %s
      user_domain_id: %s
    region_name: %s
    identity_api_version: 3
`, CloudName, identity, p.UserName, p.Password, p.ID, defaultDomain, Region)
}

// Env is what OpenStack clients read from the environment, with the project's first
// application credential at an address of Keystone. It holds the secret.
func (p *Project) Env(identity string) map[string]string {
	return map[string]string{
		"OS_AUTH_TYPE":                     "v3applicationcredential",
		"OS_AUTH_URL":                      identity,
		"OS_APPLICATION_CREDENTIAL_ID":     p.Credential.ID,
		"OS_APPLICATION_CREDENTIAL_SECRET": p.Credential.Secret,
		"OS_REGION_NAME":                   Region,
		"OS_IDENTITY_API_VERSION":          "3",
	}
}

// EnvByPassword is the same with the user's name and password.
func (p *Project) EnvByPassword(identity string) map[string]string {
	return map[string]string{
		"OS_AUTH_URL":             identity,
		"OS_USERNAME":             p.UserName,
		"OS_PASSWORD":             p.Password,
		"OS_PROJECT_ID":           p.ID,
		"OS_USER_DOMAIN_ID":       defaultDomain,
		"OS_DOMAIN_ID":            defaultDomain,
		"OS_REGION_NAME":          Region,
		"OS_IDENTITY_API_VERSION": "3",
	}
}
