//go:build linux

package openstack_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	gophercloudopenstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"homeward/testenv/openstack"
)

var someone = &openstack.Project{ID: "p1", Name: "some", UserID: "u1", UserName: "some",
	Password: "word", Credential: openstack.Credential{ID: "c1", Secret: "secret"}}

const keystone = "http://127.0.0.1:1/v3"

// What is written is read by the library as every client reads it.
func TestCredentialsAreReadAsWritten(t *testing.T) {
	credential := gophercloud.AuthOptions{IdentityEndpoint: keystone, ApplicationCredentialID: "c1", ApplicationCredentialSecret: "secret"}
	password := gophercloud.AuthOptions{IdentityEndpoint: keystone, Username: "some", Password: "word", DomainID: "default", TenantID: "p1"}
	fromFile := func(text []byte) func(*testing.T) (gophercloud.AuthOptions, error) {
		return func(t *testing.T) (gophercloud.AuthOptions, error) {
			options, at, _, err := clouds.Parse(clouds.WithCloudsYAML(strings.NewReader(string(text))), clouds.WithCloudName(openstack.CloudName))
			if at.Region != openstack.Region {
				t.Errorf("region %q", at.Region)
			}
			return options, err
		}
	}
	fromEnvironment := func(env map[string]string) func(*testing.T) (gophercloud.AuthOptions, error) {
		return func(t *testing.T) (gophercloud.AuthOptions, error) {
			for name, value := range env {
				t.Setenv(name, value)
			}
			return gophercloudopenstack.AuthOptionsFromEnv()
		}
	}
	for name, test := range map[string]struct {
		read func(*testing.T) (gophercloud.AuthOptions, error)
		want gophercloud.AuthOptions
	}{
		"file":                      {fromFile(someone.CloudsYAML(keystone)), credential},
		"file with password":        {fromFile(someone.CloudsYAMLByPassword(keystone)), password},
		"environment":               {fromEnvironment(someone.Env(keystone)), credential},
		"environment with password": {fromEnvironment(someone.EnvByPassword(keystone)), password},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.read(t)
			must(t, err)
			got.Scope, got.AllowReauth = nil, false
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

// What is read is good for the real Keystone.
func TestCredentialsAreGood(t *testing.T) {
	p, _ := member(t, nil)
	second, err := p.NewCredential(t.Context(), "second")
	must(t, err)
	if second == p.Credential {
		t.Error("a second credential is the first")
	}
	for name, text := range map[string][]byte{"credential": p.CloudsYAML(lab.Identity()), "password": p.CloudsYAMLByPassword(lab.Identity())} {
		options, _, _, err := clouds.Parse(clouds.WithCloudsYAML(strings.NewReader(string(text))), clouds.WithCloudName(openstack.CloudName))
		must(t, err)
		if _, err := gophercloudopenstack.AuthenticatedClient(t.Context(), options); err != nil {
			t.Errorf("by %s: %v", name, err)
		}
	}
	wrong := p.AuthOptions(lab.Identity())
	wrong.ApplicationCredentialSecret = "wrong"
	if _, err := gophercloudopenstack.AuthenticatedClient(t.Context(), wrong); !gophercloud.ResponseCodeIs(err, 401) {
		t.Errorf("with a wrong secret: %v", err)
	}
}
