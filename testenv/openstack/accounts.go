//go:build linux

package openstack

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"
)

// defaultDomain is the id of the domain that keystone-manage bootstrap makes.
const defaultDomain = "default"

// makeAccounts gives Neutron its account and its place in the catalog, as an
// operator would.
func (c *Cloud) makeAccounts(ctx context.Context) error {
	provider, err := authenticate(ctx, c.administrator())
	if err != nil {
		return err
	}
	// Only now is the network in the catalog: the administrator logs in again below.
	identity, err := openstack.NewIdentityV3(provider, gophercloud.EndpointOpts{Region: Region})
	if err != nil {
		return err
	}
	service, err := projects.Create(ctx, identity, projects.CreateOpts{Name: "service", DomainID: defaultDomain}).Extract()
	if err != nil {
		return fmt.Errorf("making the service project: %w", err)
	}
	if _, err := roles.Create(ctx, identity, roles.CreateOpts{Name: "service"}).Extract(); err != nil {
		return fmt.Errorf("making the service role: %w", err)
	}
	if _, err := makeUser(ctx, identity, "neutron", servicePassword, service.ID, "admin", "service"); err != nil {
		return err
	}
	network, err := services.Create(ctx, identity, services.CreateOpts{Type: "network", Name: "neutron"}).Extract()
	if err != nil {
		return fmt.Errorf("making the network service: %w", err)
	}
	for _, who := range []gophercloud.Availability{gophercloud.AvailabilityPublic, gophercloud.AvailabilityInternal, gophercloud.AvailabilityAdmin} {
		opts := endpoints.CreateOpts{Availability: who, Region: Region, ServiceID: network.ID, URL: c.place.Network}
		if _, err := endpoints.Create(ctx, identity, opts).Extract(); err != nil {
			return fmt.Errorf("making the %s endpoint of the network: %w", who, err)
		}
	}
	return c.becomeAdministrator(ctx)
}

// makeUser makes a user of the default domain with roles in a project; its id.
func makeUser(ctx context.Context, identity *gophercloud.ServiceClient, name, password, project string, in ...string) (string, error) {
	user, err := users.Create(ctx, identity, users.CreateOpts{Name: name, Password: password, DomainID: defaultDomain}).Extract()
	if err != nil {
		return "", fmt.Errorf("making user %s: %w", name, err)
	}
	for _, role := range in {
		if err := grant(ctx, identity, user.ID, project, role); err != nil {
			return "", fmt.Errorf("granting %s to user %s: %w", role, name, err)
		}
	}
	return user.ID, nil
}

// grant gives a user a role in a project, by the role's name.
func grant(ctx context.Context, identity *gophercloud.ServiceClient, user, project, name string) error {
	page, err := roles.List(identity, roles.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return err
	}
	found, err := roles.ExtractRoles(page)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%d roles have that name", len(found))
	}
	return roles.Assign(ctx, identity, found[0].ID, roles.AssignOpts{UserID: user, ProjectID: project}).ExtractErr()
}
