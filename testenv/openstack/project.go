//go:build linux

package openstack

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
)

// Project is a project with one user, who is a member and no more, and an
// application credential of that user's.
type Project struct {
	ID, Name         string
	UserID, UserName string
	Password         string // the user's, a secret
	Credential       Credential

	cloud *Cloud
}

// Credential is an application credential; Secret is one.
type Credential struct{ ID, Secret string }

// NewProject makes a project of a test's own, with a quota of its own when one is
// given; what quota does not name has Neutron's default (500 ports, 50 floating
// addresses, 100 networks, 10 routers). Its name begins with prefix and is new.
func (c *Cloud) NewProject(ctx context.Context, prefix string, quota Quota) (*Project, error) {
	p := &Project{Name: prefix + "-" + strings.ToLower(rand.Text()[:8]), Password: rand.Text(), cloud: c}
	p.UserName = p.Name
	made, err := projects.Create(ctx, c.AdminIdentity(), projects.CreateOpts{Name: p.Name, DomainID: defaultDomain}).Extract()
	if err != nil {
		return nil, fmt.Errorf("making project %s: %w", p.Name, err)
	}
	p.ID = made.ID
	if p.UserID, err = makeUser(ctx, c.AdminIdentity(), p.UserName, p.Password, p.ID, "member"); err != nil {
		return nil, err
	}
	if p.Credential, err = p.NewCredential(ctx, "first"); err != nil {
		return nil, err
	}
	if len(quota) == 0 {
		return p, nil
	}
	return p, c.SetQuota(ctx, p.ID, quota)
}

// NewCredential makes another application credential, as for a second operator.
func (p *Project) NewCredential(ctx context.Context, name string) (Credential, error) {
	identity, _, err := clients(ctx, p.byPassword(p.cloud.Identity()))
	if err != nil {
		return Credential{}, fmt.Errorf("asking Keystone as %s: %w", p.UserName, err)
	}
	made, err := applicationcredentials.Create(ctx, identity, p.UserID, applicationcredentials.CreateOpts{Name: name}).Extract()
	if err != nil {
		return Credential{}, fmt.Errorf("making application credential %s of %s: %w", name, p.UserName, err)
	}
	return Credential{ID: made.ID, Secret: made.Secret}, nil
}

// byPassword is the user with name and password at that address of Keystone.
func (p *Project) byPassword(identity string) gophercloud.AuthOptions {
	return gophercloud.AuthOptions{IdentityEndpoint: identity, Username: p.UserName, Password: p.Password,
		DomainID: defaultDomain, Scope: &gophercloud.AuthScope{ProjectID: p.ID}}
}

// AuthOptions is the first application credential at an address of Keystone: the
// lab's [Cloud.Identity], or that of a proxy before it.
func (p *Project) AuthOptions(identity string) gophercloud.AuthOptions {
	return gophercloud.AuthOptions{IdentityEndpoint: identity,
		ApplicationCredentialID: p.Credential.ID, ApplicationCredentialSecret: p.Credential.Secret}
}

// Client gives Neutron's API as a member of the project sees it, by the application
// credential, at an address of Keystone: see AuthOptions. It gets itself a new token
// when Keystone no longer takes the old one.
func (p *Project) Client(ctx context.Context, identity string) (*gophercloud.ServiceClient, error) {
	_, network, err := clients(ctx, p.AuthOptions(identity))
	if err != nil {
		return nil, fmt.Errorf("asking Keystone as %s: %w", p.UserName, err)
	}
	return network, nil
}
