//go:build linux

package demo

import (
	"context"

	"homeward/testenv/netlab"
)

// Keep puts a contender on a cluster for playing: the first node announces and
// serves the matrix's services, and the contender's program runs on every node
// until stop, started again whenever it ends. When Keep returns, a client behind
// the router is answered, unless the contender has no program. Call stop before
// the cluster is closed.
func Keep(ctx context.Context, c *netlab.Cluster, p Program) (stop func() error, err error) {
	o := Options{Progress: func(string) {}}
	t, err := o.start(ctx, c, p, &ContenderReport{})
	if err != nil {
		return nil, err
	}
	return t.stop, nil
}
