//go:build linux

package kube_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"homeward/testenv/kube"
	"homeward/testenv/netlab"
)

// change does to the cluster what operators do: the API's address moves, one
// machine alone shall announce, the pool grows and shrinks.
func change(t *testing.T, l *kube.Lab) {
	t.Run("the API's address moved by hand", func(t *testing.T) {
		for _, m := range l.Machines {
			must(t, m.HoldVIP())
			ctx := within(t, 20*time.Second)
			must(t, kube.WaitFor(ctx, "an answer from the API's address on "+m.Name, l.Asks(l.Net.Addresses.VIP, netlab.VIPPort)))
			must(t, m.ReleaseVIP())
		}
	})
	t.Run("an L2Advertisement by nodeSelectors", func(t *testing.T) { testSelectors(t, l) })
	t.Run("the pool grown and shrunk", func(t *testing.T) { testPool(t, l) })
}

// testSelectors lets each machine alone announce in turn, whichever MetalLB would
// have chosen, and asks a Service with a backend on the first.
func testSelectors(t *testing.T, l *kube.Lab) {
	service := loaded(l)[2]
	for _, m := range l.Machines {
		ctx := within(t, time.Minute)
		must(t, l.AnnounceFrom(ctx, m.Name))
		must(t, kube.WaitFor(ctx, m.Name+" to announce", l.AnnouncedBy(service, m)))
		must(t, kube.WaitFor(ctx, "an answer", l.Asks(service.Address, service.Port)))
	}
	must(t, l.AnnounceFrom(within(t, time.Minute), ""))
	judge(t, l, netlab.PathExternal)
}

// testPool regenerates the plan with a larger pool, and with the old one again. A
// Service pinned to an address of the new part is answered while it is there.
func testPool(t *testing.T, l *kube.Lab) {
	pool := l.Net.Addresses.Pool
	first, last := pool[0], pool[len(pool)-1]
	added := last.Next()
	ctx := within(t, 3*time.Minute)
	regenerate := func(last netip.Addr) {
		must(t, l.Product.Regenerate(ctx, fmt.Sprintf("%s-%s", first, last)))
		must(t, l.ApplyGenerated(ctx, "metallb.yaml"))
		must(t, l.InstallReturnPath(ctx, kube.AgentPod))
	}
	service := kube.Service{
		Policy: netlab.PolicyCluster, Backend: l.Machines[1].Name, HostNetwork: true, Address: added, Port: 9000,
	}
	service.Name = "grown"
	regenerate(added)
	must(t, l.Apply(ctx, service.Manifest()))
	must(t, kube.WaitFor(ctx, "an answer from "+added.String(), l.Asks(added, service.Port)))

	must(t, l.Delete(ctx, "service", service.Name))
	regenerate(last)
	for _, m := range l.Machines {
		must(t, kube.WaitFor(ctx, "the old pool on "+m.Name, m.LacksDestination(added)))
	}
	judge(t, l, netlab.PathExternal)
}
