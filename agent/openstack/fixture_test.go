package openstack

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"homeward/agent/ledger"
	"homeward/netplan"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

var owner = ledger.Owner{ID: "0123456789abcdef", Cluster: "edge"}

// specOf is a small cluster's; with makes it another.
func specOf(with ...func(*netplan.Spec)) netplan.Spec {
	three, two := 1, 2
	s := netplan.Spec{
		Name: "edge", Talos: netplan.TalosSpec{Version: "v1.13.9"},
		ControlPlanes: &three, Workers: []netplan.PoolSpec{{Name: "worker", Count: &two}},
		Cluster:   netplan.LinkSpec{CIDR: netip.MustParsePrefix("10.0.0.0/24")},
		DNS:       []netip.Addr{addr("198.51.100.53")},
		OpenStack: &netplan.OpenStackSpec{ExternalNet: "public"},
		Security: []netplan.AllowSpec{
			{Name: "kubernetes", Hosts: map[string][]netip.Prefix{"office": {netip.MustParsePrefix("198.51.100.0/24")}}},
			{Name: "talos", Hosts: map[string][]netip.Prefix{"office": {netip.MustParsePrefix("198.51.100.0/24")}}},
		},
	}
	for _, f := range with {
		f(&s)
	}
	return s
}

func workers(n int) func(*netplan.Spec) {
	return func(s *netplan.Spec) { s.Workers = []netplan.PoolSpec{{Name: "worker", Count: &n}} }
}

func planOf(t testing.TB, with ...func(*netplan.Spec)) *netplan.Plan {
	t.Helper()
	p, err := netplan.Resolve(specOf(with...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// clusterOf is a plan at a world, with no time passing.
func clusterOf(p *netplan.Plan, api API) *Cluster {
	return &Cluster{
		Plan: p, API: api, Owner: owner, Log: slog.New(slog.DiscardHandler),
		MakeOwner: func() (string, error) { return owner.ID, nil },
		Sleep:     func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
}

// reserve runs one to its end and wants it done.
func reserve(t testing.TB, p *netplan.Plan, api API) Result {
	t.Helper()
	res := clusterOf(p, api).Reserve(context.Background(), Options{})
	wantOutcome(t, res, Done)
	return res
}

func release(t testing.TB, p *netplan.Plan, api API) Result {
	t.Helper()
	res := clusterOf(p, api).Release(context.Background(), Options{})
	wantOutcome(t, res, Done)
	return res
}

func wantOutcome(t testing.TB, res Result, want Outcome) {
	t.Helper()
	if res.Outcome != want {
		t.Fatalf("outcome %s, want %s: error %v, conflicts %v, left %v", res.Outcome, want, res.Err, res.Conflicts, res.Left)
	}
}

// whole says what of a cluster's network is not as its plan has it, from the world's
// own view: exactly one of each object, and nothing else of the owner's.
func (w *world) whole(p *netplan.Plan) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := len(p.Machines) + 2 + 1 // and the router's interface
	switch {
	case len(w.networks) != 1, len(w.subnets) != 1, len(w.routers) != 1, len(w.groups) != 1:
		return fmt.Errorf("%d networks, %d subnets, %d routers, %d groups", len(w.networks), len(w.subnets), len(w.routers), len(w.groups))
	case len(w.ports) != want:
		return fmt.Errorf("%d ports, want %d", len(w.ports), want)
	case len(w.floating) != 2:
		return fmt.Errorf("%d floating IPs", len(w.floating))
	}
	fixed := map[Use]netip.Addr{}
	for _, port := range w.ports {
		if m, err := ParseMark(port.Description); err == nil {
			fixed[m.Use] = port.Fixed[0].Address
		}
	}
	for _, m := range p.Machines {
		if _, ok := fixed[Use{ForMachine, m.Name}]; !ok {
			return fmt.Errorf("no port of %s", m.Name)
		}
	}
	for _, port := range w.ports {
		m, err := ParseMark(port.Description)
		if err != nil || m.For != ForMachine {
			continue
		}
		for _, machine := range p.Machines {
			use := kubeAPI
			if machine.Role == netplan.RoleWorker {
				use = ingress
			}
			if machine.Name == m.Machine && (len(port.Pairs) != 1 || !port.Pairs[0].is(fixed[use])) {
				return fmt.Errorf("%s has pairs %v, want %s", m.Machine, port.Pairs, fixed[use])
			}
		}
	}
	for _, f := range w.floating {
		port := w.ports[f.PortID]
		if port == nil {
			return fmt.Errorf("floating IP %s is on no port", f.Address)
		}
		if a, _ := ParseMark(port.Description); f.Description != (Mark{owner, a.Use}).String() {
			return fmt.Errorf("floating IP %s (%s) is on %s", f.Address, f.Description, port.Name)
		}
	}
	return nil
}
