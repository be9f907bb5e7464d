//go:build linux

package openstack

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
)

// Resource is a kind of thing in Neutron, by the name that its quota has.
type Resource string

// The resources that a cluster is made of.
const (
	Networks    Resource = "network"
	Subnets     Resource = "subnet"
	Ports       Resource = "port"
	Routers     Resource = "router"
	FloatingIPs Resource = "floatingip"
	Groups      Resource = "security_group"
	GroupRules  Resource = "security_group_rule"
)

// Quota is how many of a resource a project may have; -1 is as many as it likes.
type Quota map[Resource]int

// ToQuotaUpdateMap gives the body of the request.
func (q Quota) ToQuotaUpdateMap() (map[string]any, error) {
	return map[string]any{"quota": map[Resource]int(q)}, nil
}

// SetQuota changes what a project may have of the resources that quota names; what
// it has above that stays.
func (c *Cloud) SetQuota(ctx context.Context, project string, quota Quota) error {
	if err := quotas.Update(ctx, c.Admin(), project, quota).Err; err != nil {
		return fmt.Errorf("setting the quota of project %s: %w", project, err)
	}
	return nil
}
