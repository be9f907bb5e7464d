//go:build linux

package openstack

import (
	"context"
	"fmt"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"
)

// tokenCache is how long Neutron believes a token before it asks Keystone again.
// Five minutes are usual.
const tokenCache = 2 * time.Second

// ExpireTokens makes every token of the project's user worthless, whatever
// credential it came from: the next request with one is answered 401. It returns
// when new tokens are good.
func (c *Cloud) ExpireTokens(ctx context.Context, p *Project) error {
	// A new password does it, also where it is the old one.
	if err := users.Update(ctx, c.AdminIdentity(), p.UserID, users.UpdateOpts{Password: p.Password}).Err; err != nil {
		return fmt.Errorf("revoking the tokens of %s: %w", p.UserName, err)
	}
	// Keystone notes the time in whole seconds, so that a new token of the same second
	// is worthless as well; and Neutron has to forget what it knows.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(tokenCache + time.Second):
		return nil
	}
}
