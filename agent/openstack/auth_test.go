package openstack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"homeward/netplan"
)

// environ sets OS_* to these and to nothing else.
func environ(t *testing.T, vars map[string]string) {
	t.Helper()
	for _, name := range []string{"AUTH_URL", "USERNAME", "USER_ID", "USERID", "PASSWORD", "PROJECT_ID", "PROJECT_NAME", "TENANT_ID", "TENANT_NAME", "USER_DOMAIN_ID", "USER_DOMAIN_NAME",
		"PROJECT_DOMAIN_ID", "PROJECT_DOMAIN_NAME", "DOMAIN_ID", "DOMAIN_NAME", "REGION_NAME", "INTERFACE", "CLOUD", "CLIENT_CONFIG_FILE", "CACERT",
		"APPLICATION_CREDENTIAL_ID", "APPLICATION_CREDENTIAL_NAME", "APPLICATION_CREDENTIAL_SECRET"} {
		t.Setenv("OS_"+name, vars["OS_"+name])
	}
}

const keystoneURL = "https://openstack.example.edu:5000/v3"

func TestLogin(t *testing.T) {
	secret := netplan.NewSecret("secret")
	cloudsYAML := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(cloudsYAML, []byte("clouds:\n  lab:\n    auth: {auth_url: "+keystoneURL+", application_credential_id: c2, application_credential_secret: other}\n    region_name: Two\n    interface: internal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		access netplan.OpenStackAccess
		env    map[string]string
		want   gophercloud.AuthOptions
		scope  gophercloud.AuthScope
		region string
		at     gophercloud.Availability
	}{
		{"the plan's credential comes first", netplan.OpenStackAccess{URL: "https://openstack.example.edu:5000/", Region: "One", CredentialID: "c1", CredentialSecret: secret},
			map[string]string{"OS_CLOUD": "lab", "OS_CLIENT_CONFIG_FILE": cloudsYAML},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, ApplicationCredentialID: "c1", ApplicationCredentialSecret: "secret"}, gophercloud.AuthScope{}, "One", gophercloud.AvailabilityPublic},
		{"a cloud of clouds.yaml", netplan.OpenStackAccess{}, map[string]string{"OS_CLOUD": "lab", "OS_CLIENT_CONFIG_FILE": cloudsYAML},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, ApplicationCredentialID: "c2", ApplicationCredentialSecret: "other"}, gophercloud.AuthScope{}, "Two", gophercloud.AvailabilityInternal},
		{"the plan's region counts", netplan.OpenStackAccess{URL: keystoneURL + "/", Region: "Three"}, map[string]string{"OS_CLOUD": "lab", "OS_CLIENT_CONFIG_FILE": cloudsYAML},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, ApplicationCredentialID: "c2", ApplicationCredentialSecret: "other"}, gophercloud.AuthScope{}, "Three", gophercloud.AvailabilityInternal},
		{"an openrc file as the dashboard gives it", netplan.OpenStackAccess{},
			map[string]string{"OS_AUTH_URL": keystoneURL, "OS_PROJECT_ID": "p1", "OS_PROJECT_NAME": "demo", "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_ID": "default", "OS_USERNAME": "me", "OS_PASSWORD": "pw", "OS_REGION_NAME": "One", "OS_INTERFACE": "public"},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, Username: "me", Password: "pw", DomainName: "Default"}, gophercloud.AuthScope{ProjectID: "p1"}, "One", gophercloud.AvailabilityPublic},
		{"a project by its name", netplan.OpenStackAccess{},
			map[string]string{"OS_AUTH_URL": keystoneURL, "OS_PROJECT_NAME": "demo", "OS_USER_DOMAIN_ID": "default", "OS_PROJECT_DOMAIN_NAME": "Default", "OS_USERNAME": "me", "OS_PASSWORD": "pw", "OS_INTERFACE": "internalURL"},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, Username: "me", Password: "pw", DomainID: "default"}, gophercloud.AuthScope{ProjectName: "demo", DomainName: "Default"}, "", gophercloud.AvailabilityInternal},
		{"an application credential of the environment", netplan.OpenStackAccess{},
			map[string]string{"OS_AUTH_URL": "https://openstack.example.edu:5000", "OS_APPLICATION_CREDENTIAL_ID": "c3", "OS_APPLICATION_CREDENTIAL_SECRET": "x", "OS_PROJECT_ID": "ignored"},
			gophercloud.AuthOptions{IdentityEndpoint: keystoneURL, ApplicationCredentialID: "c3", ApplicationCredentialSecret: "x"}, gophercloud.AuthScope{}, "", gophercloud.AvailabilityPublic},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ(t, c.env)
			l, err := loginOf(c.access)
			if err != nil {
				t.Fatal(err)
			}
			var scope gophercloud.AuthScope
			if l.auth.Scope != nil {
				scope = *l.auth.Scope
			}
			l.auth.Scope, c.want.AllowReauth = nil, true
			if l.auth != c.want || scope != c.scope || l.endpoint.Region != c.region || l.endpoint.Availability != c.at {
				t.Errorf("got %+v, scope %+v, at %+v", l.auth, scope, l.endpoint)
			}
		})
	}
}

func TestLoginFaults(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(broken, []byte("clouds:\n  lab:\n    auth: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		access netplan.OpenStackAccess
		env    map[string]string
		says   string
	}{
		{"nothing at all", netplan.OpenStackAccess{URL: keystoneURL}, nil, "secrets.yaml"},
		{"no address", netplan.OpenStackAccess{CredentialID: "c", CredentialSecret: netplan.NewSecret("s")}, nil, "openstack.url"},
		{"another cloud's credential", netplan.OpenStackAccess{URL: "https://a.example/v3"}, map[string]string{"OS_AUTH_URL": "https://b.example/v3", "OS_USERNAME": "me", "OS_PASSWORD": "hunter2"}, "must not go to another cloud"},
		{"credentials in the address", netplan.OpenStackAccess{}, map[string]string{"OS_AUTH_URL": "https://me:hunter2@b.example", "OS_USERNAME": "me", "OS_PASSWORD": "hunter2"}, "no URL"},
		{"no such cloud", netplan.OpenStackAccess{}, map[string]string{"OS_CLOUD": "nowhere", "OS_CLIENT_CONFIG_FILE": "/dev/null"}, "nowhere"},
		{"a clouds.yaml with a mistake", netplan.OpenStackAccess{}, map[string]string{"OS_CLOUD": "lab", "OS_CLIENT_CONFIG_FILE": broken}, "clouds.yaml or secure.yaml has a fault"},
		{"a secret without an id", netplan.OpenStackAccess{URL: keystoneURL}, map[string]string{"OS_APPLICATION_CREDENTIAL_NAME": "c", "OS_APPLICATION_CREDENTIAL_SECRET": "hunter2"}, "OS_APPLICATION_CREDENTIAL_SECRET is set, and OS_APPLICATION_CREDENTIAL_ID"},
		{"an id without a secret", netplan.OpenStackAccess{URL: keystoneURL}, map[string]string{"OS_APPLICATION_CREDENTIAL_ID": "c"}, "OS_APPLICATION_CREDENTIAL_SECRET is not"},
		{"a user without a password", netplan.OpenStackAccess{URL: keystoneURL}, map[string]string{"OS_USERNAME": "me"}, "OS_PASSWORD is not"},
		{"a password without a user", netplan.OpenStackAccess{URL: keystoneURL}, map[string]string{"OS_PASSWORD": "hunter2"}, "OS_USERNAME is not"},
		{"no CA file", netplan.OpenStackAccess{URL: keystoneURL, CredentialID: "c", CredentialSecret: netplan.NewSecret("s")}, map[string]string{"OS_CACERT": "no-such-file"}, "OS_CACERT"},
		{"no certificate in it", netplan.OpenStackAccess{URL: keystoneURL, CredentialID: "c", CredentialSecret: netplan.NewSecret("s")}, map[string]string{"OS_CACERT": "/dev/null"}, "no certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ(t, c.env)
			_, err := loginOf(c.access)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		})
	}
}
