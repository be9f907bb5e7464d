package openstack

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"homeward/netplan"
)

// portOf finds the world's port of a use.
func (w *world) portOf(t testing.TB, use Use) *Port {
	t.Helper()
	for _, p := range w.ports {
		if m, err := ParseMark(p.Description); err == nil && m.Use == use {
			return p
		}
	}
	t.Fatalf("no port for %s", use.what())
	return nil
}

func (w *world) floatingOf(t testing.TB, use Use) *FloatingIP {
	t.Helper()
	port := w.portOf(t, use)
	for _, f := range w.floating {
		if f.PortID == port.ID {
			return f
		}
	}
	t.Fatalf("no floating IP for %s", use.what())
	return nil
}

// reservedWorld is one with a cluster in it.
func reservedWorld(t testing.TB, with ...func(*netplan.Spec)) *world {
	t.Helper()
	w := newWorld()
	reserve(t, planOf(t, with...), &operator{world: w})
	return w
}

func TestGrowing(t *testing.T) {
	w := reservedWorld(t)
	before := *w.portOf(t, Use{ForMachine, "edge-worker-01"})
	p := planOf(t, workers(5))
	reserve(t, p, &operator{world: w})
	if err := w.whole(p); err != nil {
		t.Fatal(err)
	}
	if after := w.portOf(t, Use{ForMachine, "edge-worker-01"}); after.ID != before.ID || after.Revision != before.Revision {
		t.Error("a machine that was there was touched")
	}
}

func TestShrinking(t *testing.T) {
	w := reservedWorld(t, workers(4))
	p := planOf(t, workers(2))
	reserve(t, p, &operator{world: w})
	if err := w.whole(p); err != nil {
		t.Fatal(err)
	}
}

// A machine's port that a server uses is never removed, and the rest is done.
func TestShrinkingLeavesWhatIsUsed(t *testing.T) {
	w := reservedWorld(t, workers(4))
	used := w.portOf(t, Use{ForMachine, "edge-worker-04"})
	used.DeviceID, used.DeviceOwner = "server-1", "compute:nova"
	res := reserve(t, planOf(t, workers(2)), &operator{world: w})
	if len(res.Left) != 1 || res.Left[0].ID != used.ID || !strings.Contains(res.Left[0].Message, "server-1") {
		t.Errorf("left %v", res.Left)
	}
	if w.ports[used.ID] == nil || len(w.ports) != 1+2+2+1+1 {
		t.Errorf("%d ports are left", len(w.ports))
	}
	status := clusterOf(planOf(t, workers(2)), &operator{world: w}).Status(context.Background())
	if len(status.Left) != 1 || len(status.Steps) != 0 {
		t.Errorf("status: left %v, steps %v", status.Left, status.Steps)
	}
	used.DeviceID, used.DeviceOwner = "", ""
	reserve(t, planOf(t, workers(2)), &operator{world: w})
	if w.ports[used.ID] != nil {
		t.Error("the port is still there, and nobody uses it")
	}
}

// What is spare when a run begins may be used when its turn to go comes.
func TestWhatIsUsedMeanwhileStays(t *testing.T) {
	w := reservedWorld(t, workers(2))
	p := planOf(t, func(s *netplan.Spec) {
		one := 1
		s.Workers = []netplan.PoolSpec{{Name: "batch", Count: &one}, {Name: "worker", Count: &one}}
	})
	spare := w.portOf(t, Use{ForMachine, "edge-worker-02"})
	o := &operator{world: w, disturb: func(_ int, what string) (bool, error) {
		if what == "create port" {
			w.mu.Lock()
			defer w.mu.Unlock()
			spare.DeviceID = "server-1"
		}
		return true, nil
	}}
	res := reserve(t, p, o)
	if w.ports[spare.ID] == nil || len(res.Left) != 1 {
		t.Errorf("the port is there: %v; left %v", w.ports[spare.ID] != nil, res.Left)
	}
}

// What others changed on our objects comes back, and what they added stays.
func TestDrift(t *testing.T) {
	w := reservedWorld(t)
	p := planOf(t)
	worker := w.portOf(t, Use{ForMachine, "edge-worker-01"})
	theirs := Pair{Address: "10.9.9.0/24", MAC: "fa:16:3e:00:00:01"}
	worker.Pairs = []Pair{theirs}
	worker.Groups = []string{"somebody's"}
	worker.Name = "renamed"
	for _, g := range w.groups {
		g.Rules = slices.DeleteFunc(g.Rules, func(r GroupRule) bool { return r.From == 443 || r.Egress && !r.V6 })
		g.Rules = append(g.Rules, GroupRule{ID: "byhand", Rule: tcp(22, prefix("10.0.0.0/8"))},
			GroupRule{ID: "old", Description: (Mark{owner, Use{For: ForRule}}).String(), Rule: tcp(8080, prefix("10.0.0.0/8"))})
		g.Tags = []string{"theirs"}
	}
	for _, s := range w.subnets {
		s.DNS = nil
	}
	for _, r := range w.routers {
		r.ExternalID = ""
	}
	for id, f := range w.floating {
		if m, _ := ParseMark(f.Description); m.Use == ingress {
			f.PortID = ""
		} else {
			delete(w.floating, id)
		}
	}
	status := clusterOf(p, &operator{world: w}).Status(context.Background())
	words := ""
	for _, s := range status.Steps {
		words += s.String() + "\n"
	}
	for _, want := range []string{"renamed", "security group edge", "443", "egress", "rule old", "name servers", "gateway on public", "create a floating IP on public for port edge-kubeapi", "put floating IP", "send from", "tag security group"} {
		if !strings.Contains(words, want) {
			t.Errorf("status does not tell of %q:\n%s", want, words)
		}
	}
	reserve(t, p, &operator{world: w})
	worker = w.portOf(t, Use{ForMachine, "edge-worker-01"})
	if !slices.Contains(worker.Pairs, theirs) || len(worker.Pairs) != 2 || len(worker.Groups) != 2 || !slices.Contains(worker.Groups, "somebody's") || worker.Name != "edge-worker-01" {
		t.Errorf("the worker's port is %+v", worker)
	}
	for _, g := range w.groups {
		at := func(id string) bool {
			return slices.ContainsFunc(g.Rules, func(r GroupRule) bool { return r.ID == id })
		}
		if !at("byhand") || at("old") || len(g.Rules) != 8+1 || !slices.Contains(g.Tags, "theirs") {
			t.Errorf("the group has %v, tags %v", g.Rules, g.Tags)
		}
	}
	worker.Pairs = worker.Pairs[1:]
	if err := w.whole(p); err != nil {
		t.Error(err)
	}
}

// The reserved addresses move when the plan chooses others, and the floating IPs with
// them.
func TestChosenAddressesMove(t *testing.T) {
	w := reservedWorld(t)
	before := w.addresses()
	for _, with := range []func(*netplan.Spec){choose("10.0.0.50", "10.0.0.51"), choose("10.0.0.51", "10.0.0.50"), choose("10.0.0.50", ""), choose("", "")} {
		p := planOf(t, with)
		reserve(t, p, &operator{world: w})
		if err := w.whole(p); err != nil {
			t.Fatal(err)
		}
		for use, want := range map[Use]netplan.ChosenAddress{ingress: p.OpenStack.Ingress, kubeAPI: p.OpenStack.KubeAPI} {
			if got := w.portOf(t, use).Fixed[0].Address; want.Fixed.IsValid() && got != want.Fixed {
				t.Errorf("%s has %s, want %s", use.what(), got, want.Fixed)
			}
		}
		if !slices.Equal(before, w.addresses()) {
			t.Errorf("the floating IPs are %v, and were %v", w.addresses(), before)
		}
	}
}

func machine(name, address, mac string) func(*netplan.Spec) {
	return func(s *netplan.Spec) {
		m := netplan.MachineSpec{Name: name}
		if address != "" {
			m.Address = addr(address)
		}
		if mac != "" {
			m.ClusterMAC, _ = netplan.ParseMAC(mac)
		}
		s.Machines = append(slices.Clone(s.Machines), m)
	}
}

func TestAMachinesAddressChangesWhileNothingUsesIt(t *testing.T) {
	w := reservedWorld(t)
	p := planOf(t, machine("edge-worker-02", "10.0.0.77", ""))
	reserve(t, p, &operator{world: w})
	port := w.portOf(t, Use{ForMachine, "edge-worker-02"})
	if port.Fixed[0].Address != addr("10.0.0.77") {
		t.Errorf("it has %v", port.Fixed)
	}
	port.DeviceID = "server-1"
	p = planOf(t, machine("edge-worker-02", "10.0.0.78", ""))
	res := clusterOf(p, &operator{world: w}).Reserve(context.Background(), Options{})
	wantOutcome(t, res, InTheWay)
	if res.Conflicts[0].Blame != Wrong || !strings.Contains(res.Conflicts[0].Message, "server-1") {
		t.Errorf("conflicts %v", res.Conflicts)
	}
}

// The address of a machine that left goes to one that came.
func TestAnAddressIsHandedOn(t *testing.T) {
	w := reservedWorld(t, workers(2), machine("edge-worker-02", "10.0.0.77", ""))
	p := planOf(t, workers(1), func(s *netplan.Spec) {
		two := 2
		s.ControlPlanes = &two
	}, machine("edge-controlplane-02", "10.0.0.77", ""))
	reserve(t, p, &operator{world: w})
	if err := w.whole(p); err != nil {
		t.Error(err)
	}
}

// Duplicates that a race, or somebody, made: one of each stays, and no used one goes.
func TestDuplicates(t *testing.T) {
	w := reservedWorld(t)
	o := &operator{world: w}
	ctx := context.Background()
	mark := func(use Use) Object { return Object{Name: "edge", Description: (Mark{owner, use}).String()} }
	second, _ := o.CreateNetwork(ctx, mark(Use{For: ForNetwork}))
	s, _ := o.CreateSubnet(ctx, Subnet{Object: mark(Use{For: ForSubnet}), NetworkID: second.ID, CIDR: prefix("10.0.0.0/24"), Gateway: addr("10.0.0.1"), Pools: [][2]netip.Addr{{addr("10.0.0.2"), addr("10.0.0.9")}}})
	r, _ := o.CreateRouter(ctx, Router{Object: mark(Use{For: ForRouter}), ExternalID: externalA})
	_ = o.Plug(ctx, r.ID, s.ID)
	g, _ := o.CreateGroup(ctx, mark(Use{For: ForGroup}))
	if _, err := o.CreatePort(ctx, Port{Object: mark(kubeAPI), NetworkID: second.ID, Fixed: []FixedIP{{SubnetID: s.ID}}, Groups: []string{g.ID}}); err != nil {
		t.Fatal(err)
	}
	f := FloatingIP{Object: w.new(mark(kubeAPI)), Address: addr("203.0.113.99"), NetworkID: externalA}
	w.floating[f.ID] = &f
	worker := w.portOf(t, Use{ForMachine, "edge-worker-01"})
	worker.Groups = append(worker.Groups, g.ID)
	p := planOf(t)
	reserve(t, p, &operator{world: w})
	if err := w.whole(p); err != nil {
		t.Error(err)
	}
}

func TestAUsedDuplicateStays(t *testing.T) {
	w := newWorld()
	o := &operator{world: w}
	ctx := context.Background()
	// The older one is empty; servers are on the younger.
	first, _ := o.CreateNetwork(ctx, Object{Name: "edge", Description: (Mark{owner, Use{For: ForNetwork}}).String()})
	used, _ := o.CreateNetwork(ctx, Object{Name: "edge", Description: (Mark{owner, Use{For: ForNetwork}}).String()})
	s, _ := o.CreateSubnet(ctx, Subnet{Object: Object{Description: (Mark{owner, Use{For: ForSubnet}}).String()}, NetworkID: used.ID, CIDR: prefix("10.0.0.0/24"), Gateway: addr("10.0.0.1"),
		Pools: [][2]netip.Addr{{addr("10.0.0.2"), addr("10.0.0.99")}}})
	server, err := o.CreatePort(ctx, Port{NetworkID: used.ID, DeviceID: "server-1", DeviceOwner: "compute:nova", Fixed: []FixedIP{{SubnetID: s.ID}}})
	if err != nil {
		t.Fatal(err)
	}
	res := reserve(t, planOf(t), &operator{world: w})
	if res.Holding.Network.ID != used.ID || w.networks[first.ID] != nil || w.ports[server.ID] == nil {
		t.Errorf("kept %s, the empty one is there: %v", res.Holding.Network.ID, w.networks[first.ID] != nil)
	}
	// Both used: the older is kept, the other stays too.
	w = newWorld()
	o = &operator{world: w}
	for range 2 {
		n, _ := o.CreateNetwork(ctx, Object{Name: "edge", Description: (Mark{owner, Use{For: ForNetwork}}).String()})
		if _, err := o.CreatePort(ctx, Port{NetworkID: n.ID, DeviceID: "server", MAC: n.ID}); err != nil {
			t.Fatal(err)
		}
	}
	res = reserve(t, planOf(t), &operator{world: w})
	if len(w.networks) != 2 || len(res.Left) != 1 || res.Left[0].Kind != KindNetwork {
		t.Errorf("%d networks, left %v", len(w.networks), res.Left)
	}
}
