//go:build linux

package kube_test

import (
	"context"
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
	t.Run("the API's address moved by hand", func(t *testing.T) { testVIP(t, l) })
	t.Run("an L2Advertisement by nodeSelectors", func(t *testing.T) { testSelectors(t, l) })
	t.Run("the pool grown and shrunk", func(t *testing.T) { testPool(t, l) })
}

// testVIP moves the API's address from one control plane to the next, and asks
// there with kubectl from both clients. Without the rule of the patch the answer
// leaves by the private NIC and no client has it.
func testVIP(t *testing.T, l *kube.Lab) {
	for _, c := range l.ControlPlanes {
		must(t, c.HoldVIP())
		for _, client := range []*netlab.Host{l.Net.Behind, l.Net.OnLink} {
			must(t, kube.WaitFor(within(t, 20*time.Second), "the API of "+c.Name+" behind its VIP", l.AsksAPI(client)))
		}
		restore, err := c.DropVIPRule()
		must(t, err)
		if l.AsksAPI(l.Net.Behind)(t.Context()) == nil {
			t.Errorf("%s answers at the VIP without the rule for it", c.Name)
		}
		must(t, restore())
		must(t, l.AsksAPI(l.Net.Behind)(t.Context()))
		must(t, c.ReleaseVIP())
	}
}

// testSelectors lets each machine alone announce in turn, whichever MetalLB would
// have chosen, and asks a Service with a backend on the first.
func testSelectors(t *testing.T, l *kube.Lab) {
	service := clusterService(l, l.Machines[0])
	for _, m := range l.Machines {
		ctx := within(t, time.Minute)
		must(t, l.AnnounceFrom(ctx, m.Name))
		must(t, kube.WaitFor(ctx, m.Name+" to announce", l.AnnouncedBy(service, m)))
		must(t, kube.WaitFor(ctx, "an answer", l.Asks(service.Address, service.Port)))
	}
	must(t, l.AnnounceFrom(within(t, time.Minute), ""))
	judge(t, l, netlab.PathExternal)
}

// testPool regenerates the plan with a larger pool and the generated Traefik
// Service pinned to the new address, and with the old one again.
func testPool(t *testing.T, l *kube.Lab) {
	pool := l.Net.Addresses.Pool
	first, last := pool[0], pool[len(pool)-1]
	added := last.Next()
	ctx := within(t, 3*time.Minute)
	regenerate := func(last, ingress netip.Addr) {
		must(t, l.Product.Regenerate(ctx, fmt.Sprintf("%s-%s", first, last), ingress))
		must(t, l.InstallReturnPath(ctx, kube.AgentPod))
		must(t, l.ApplyGenerated(ctx, "metallb.yaml"))
		must(t, l.ApplyGenerated(ctx, "traefik.yaml"))
	}
	regenerate(added, added)
	must(t, kube.WaitFor(ctx, "traefik at "+added.String(), hasAddress(l, added)))
	must(t, kube.WaitFor(ctx, "an answer from "+added.String(), l.Asks(added, 80)))

	regenerate(last, netip.Addr{})
	must(t, kube.WaitFor(ctx, "traefik at "+first.String(), hasAddress(l, first)))
	for _, m := range l.Machines {
		must(t, kube.WaitFor(ctx, "the old pool on "+m.Name, m.LacksDestination(added)))
	}
	judge(t, l, netlab.PathExternal)
}

// hasAddress is a condition: MetalLB gave the generated Traefik Service an address.
func hasAddress(l *kube.Lab, want netip.Addr) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := l.WaitAddress(ctx, "ingress", "traefik")
		if err == nil && got != want {
			err = fmt.Errorf("it has %s", got)
		}
		return err
	}
}
