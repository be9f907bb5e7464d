//go:build linux

package openstack

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
)

// authenticate gets a token; the client gets another one when it is refused.
func authenticate(ctx context.Context, options gophercloud.AuthOptions) (*gophercloud.ProviderClient, error) {
	options.AllowReauth = true
	return openstack.AuthenticatedClient(ctx, options)
}

// clients gives clients of both APIs to who options says.
func clients(ctx context.Context, options gophercloud.AuthOptions) (identity, network *gophercloud.ServiceClient, err error) {
	provider, err := authenticate(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	at := gophercloud.EndpointOpts{Region: Region}
	if identity, err = openstack.NewIdentityV3(provider, at); err != nil {
		return nil, nil, err
	}
	network, err = openstack.NewNetworkV2(provider, at)
	return identity, network, err
}

// administrator is who may do everything.
func (c *Cloud) administrator() gophercloud.AuthOptions {
	return gophercloud.AuthOptions{
		IdentityEndpoint: c.place.Identity, Username: "admin", Password: c.place.Password,
		DomainID: defaultDomain, Scope: &gophercloud.AuthScope{ProjectName: "admin", DomainID: defaultDomain},
	}
}

// becomeAdministrator gets the administrator's clients.
func (c *Cloud) becomeAdministrator(ctx context.Context) error {
	identity, network, err := clients(ctx, c.administrator())
	if err != nil {
		return fmt.Errorf("asking Keystone as its administrator: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity, c.network = identity, network
	return nil
}

// Admin gives Neutron's API as its administrator sees it, for what a test has to
// arrange behind the back of a member.
func (c *Cloud) Admin() *gophercloud.ServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.network
}

// AdminIdentity gives Keystone's API as its administrator sees it.
func (c *Cloud) AdminIdentity() *gophercloud.ServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.identity
}

// askNeutron asks one question that needs Neutron's database.
func (c *Cloud) askNeutron(ctx context.Context) error {
	_, err := networks.List(c.Admin(), networks.ListOpts{Name: ExternalNet}).AllPages(ctx)
	return err
}
