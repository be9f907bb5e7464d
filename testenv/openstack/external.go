//go:build linux

package openstack

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/provider"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
)

// External is an external network: every project sees it and may take floating
// addresses from it.
type External struct {
	Name     string
	Subnet   netip.Prefix // its first address is the gateway
	Floating Range
}

// publicSubnet is that of [ExternalNet].
var publicSubnet = netip.MustParsePrefix("203.0.113.0/24")

// makeExternal makes the network that every lab has.
func (c *Cloud) makeExternal(ctx context.Context, floating Range) error {
	if floating == (Range{}) {
		floating = Range{First: netip.MustParseAddr("203.0.113.100"), Last: netip.MustParseAddr("203.0.113.199")}
	}
	_, err := c.NewExternal(ctx, External{Name: ExternalNet, Subnet: publicSubnet, Floating: floating})
	return err
}

// NewExternal makes an external network and gives its id: one with a range of its
// own for a test that empties it. Its name must be new; it goes with DeleteExternal
// or with the lab.
func (c *Cloud) NewExternal(ctx context.Context, e External) (id string, err error) {
	yes, no := true, false
	network, err := networks.Create(ctx, c.Admin(), external.CreateOptsExt{External: &yes,
		CreateOptsBuilder: provider.CreateOptsExt{CreateOptsBuilder: networks.CreateOpts{Name: e.Name},
			Segments: []provider.Segment{{NetworkType: "flat", PhysicalNetwork: e.Name}}}}).Extract()
	if err != nil {
		return "", fmt.Errorf("making external network %s: %w", e.Name, err)
	}
	gateway := e.Subnet.Masked().Addr().Next().String()
	if _, err := subnets.Create(ctx, c.Admin(), subnets.CreateOpts{
		Name: e.Name, NetworkID: network.ID, IPVersion: gophercloud.IPv4, CIDR: e.Subnet.Masked().String(), GatewayIP: &gateway, EnableDHCP: &no,
		AllocationPools: []subnets.AllocationPool{{Start: e.Floating.First.String(), End: e.Floating.Last.String()}},
	}).Extract(); err != nil {
		return "", fmt.Errorf("making the subnet of external network %s: %w", e.Name, err)
	}
	return network.ID, nil
}

// DeleteExternal deletes an external network by id; nobody may have an address of
// it any more.
func (c *Cloud) DeleteExternal(ctx context.Context, id string) error {
	if err := networks.Delete(ctx, c.Admin(), id).ExtractErr(); err != nil {
		return fmt.Errorf("deleting external network %s: %w", id, err)
	}
	return nil
}
