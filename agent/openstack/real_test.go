//go:build linux

package openstack

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"homeward/netplan"
	lab "homeward/testenv/openstack"
)

// A member's whole way: reserve, nothing to do, grow, shrink, release. What is there is
// read by others than the code under test.
func TestRealLifecycle(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t)
	res := n.reserve(p)
	n.wantOne(p)
	reads, writes := n.requests()
	t.Logf("first reserve: %d reads, %d writes", reads, writes)
	a, ok := res.Holding.Allocation()
	if !ok {
		t.Fatal("nothing is allocated")
	}
	n.wantPairs(map[string]string{"edge-controlplane-01": a.KubeAPI.Fixed.String(), "edge-worker-01": a.Ingress.Fixed.String()})
	n.reserve(p)
	if reads, writes = n.requests(); writes != 0 || reads > 8 {
		t.Errorf("the second reserve made %d reads and %d writes", reads, writes)
	}
	if got, _ := res.Holding.Allocation(); got != a {
		t.Errorf("then %v was allocated, and first %v", got, a)
	}
	grown := small(t, workers(3))
	n.reserve(grown)
	n.wantOne(grown)
	n.reserve(p)
	n.wantOne(p)
	n.release(p)
	n.release(p)
}

// wantPairs asks the server itself for the machines' pairs.
func (n *tenant) wantPairs(want map[string]string) {
	n.t.Helper()
	client, err := n.Client(n.t.Context(), cloud.Identity())
	if err != nil {
		n.t.Fatal(err)
	}
	for name, address := range want {
		page, err := ports.List(client, ports.ListOpts{Name: name}).AllPages(n.t.Context())
		if err != nil {
			n.t.Fatal(err)
		}
		list, err := ports.ExtractPorts(page)
		if err != nil || len(list) != 1 {
			n.t.Fatalf("%d ports are called %s: %v", len(list), name, err)
		}
		p := list[0]
		if len(p.AllowedAddressPairs) != 1 || p.AllowedAddressPairs[0].IPAddress != address || len(p.SecurityGroups) != 1 || !slices.Contains(p.Tags, tagOf(owner)) {
			n.t.Errorf("%s has pairs %v, want %s; groups %v, tags %v", name, p.AllowedAddressPairs, address, p.SecurityGroups, p.Tags)
		}
	}
}

// Foreign pairs and groups on our ports stay; a MAC, a chosen address and one that
// moves are as the plan has them.
func TestRealChange(t *testing.T) {
	n := newTenant(t, nil)
	chosen := small(t, choose("10.0.0.50", ""), machine("edge-worker-01", "10.0.0.61", "bc:24:11:00:00:01"))
	res := n.reserve(chosen)
	worker := res.Holding.Ports[Use{ForMachine, "edge-worker-01"}]
	if worker.MAC != "bc:24:11:00:00:01" || !worker.has(addr("10.0.0.61")) {
		t.Errorf("the worker has %s, %v", worker.MAC, worker.Fixed)
	}
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	pairs := []ports.AddressPair{{IPAddress: "10.9.9.0/24"}}
	if _, err := ports.Update(t.Context(), client, worker.ID, ports.UpdateOpts{AllowedAddressPairs: &pairs}).Extract(); err != nil {
		t.Fatal(err)
	}
	floating := res.Holding.Floating[ingress].Address
	res = n.reserve(small(t, choose("10.0.0.51", ""), machine("edge-worker-01", "10.0.0.62", "bc:24:11:00:00:01")))
	n.wantOne(chosen)
	worker = res.Holding.Ports[Use{ForMachine, "edge-worker-01"}]
	if !worker.has(addr("10.0.0.62")) || !paired(worker, "10.9.9.0/24", "10.0.0.51") {
		t.Errorf("the worker has %v, pairs %v", worker.Fixed, worker.Pairs)
	}
	if f := res.Holding.Floating[ingress]; f.Address != floating || f.PortID != res.Holding.Ports[ingress].ID || !res.Holding.Ports[ingress].has(addr("10.0.0.51")) {
		t.Errorf("the floating IP is %s on %s, the port has %v", f.Address, f.PortID, res.Holding.Ports[ingress].Fixed)
	}
	n.release(chosen)
}

// What a member switches off is switched on again: the real servers say so of each kind.
func TestRealWhatIsOffIsSwitchedOn(t *testing.T) {
	n := newTenant(t, nil)
	res := n.reserve(small(t))
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	h, no := res.Holding, false
	_, err1 := networks.Update(t.Context(), client, h.Network.ID, networks.UpdateOpts{AdminStateUp: &no}).Extract()
	_, err2 := subnets.Update(t.Context(), client, h.Subnet.ID, subnets.UpdateOpts{EnableDHCP: &no}).Extract()
	_, err3 := routers.Update(t.Context(), client, h.Router.ID, routers.UpdateOpts{AdminStateUp: &no}).Extract()
	_, err4 := ports.Update(t.Context(), client, h.Ports[ingress].ID, ports.UpdateOpts{AdminStateUp: &no}).Extract()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if res := n.cluster(small(t)).Status(t.Context()); len(res.Steps) != 4 {
		t.Errorf("status has %v", res.Steps)
	}
	if res := n.reserve(small(t)); res.Changed != 4 {
		t.Errorf("%d changed", res.Changed)
	}
	if res := n.cluster(small(t)).Status(t.Context()); len(res.Steps) != 0 {
		t.Errorf("then status has %v", res.Steps)
	}
	n.release(small(t))
}

// paired says that a port has exactly these pairs, in any order.
func paired(p *Port, addresses ...string) bool {
	for _, a := range addresses {
		if !slices.ContainsFunc(p.Pairs, func(x Pair) bool { return x.Address == a }) {
			return false
		}
	}
	return len(p.Pairs) == len(addresses)
}

func TestRealAdoption(t *testing.T) {
	n := newTenant(t, nil)
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	a, err := n.connect().Read(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(a.External, func(n Network) bool { return n.Name == lab.ExternalNet })
	mine, err := floatingips.Create(t.Context(), client, floatingips.CreateOpts{FloatingNetworkID: a.External[at].ID, Description: "the web's"}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if err := attributestags.Add(t.Context(), client, "floatingips", mine.ID, "web").ExtractErr(); err != nil {
		t.Fatal(err)
	}
	n.before = n.has()
	p := small(t, floatingIPs(mine.FloatingIP, ""))
	res := n.reserve(p)
	if f := res.Holding.Floating[ingress]; f.ID != mine.ID || f.PortID != res.Holding.Ports[ingress].ID {
		t.Errorf("on the port is %s", f.Address)
	}
	n.release(p)
	after, err := floatingips.Get(t.Context(), client, mine.ID).Extract()
	if err != nil || after.PortID != "" || after.Description != "the web's" || !slices.Equal(after.Tags, []string{"web"}) {
		t.Errorf("the operator's is %+v, %v", after, err)
	}
}

// Two operators of one cluster at once end with one cluster.
func TestRealTwoOperators(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t)
	results := make([]Result, 2)
	a, b := n.cluster(p), n.cluster(p)
	atOnce(func() { results[0] = a.Reserve(t.Context(), Options{}) }, func() { results[1] = b.Reserve(t.Context(), Options{}) })
	for _, res := range results {
		wantOutcome(t, res, Done)
	}
	n.reserve(p)
	n.wantOne(p)
	first, _ := results[0].Holding.Allocation()
	second, _ := results[1].Holding.Allocation()
	if first != second {
		t.Errorf("one allocated %v, the other %v", first, second)
	}
	n.release(p)
}

// Two clusters want one floating IP at once: at most one has it, and the other says so.
func TestRealOneFloatingIPForTwo(t *testing.T) {
	n := newTenant(t, nil)
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	a, err := n.connect().Read(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(a.External, func(n Network) bool { return n.Name == lab.ExternalNet })
	mine, err := floatingips.Create(t.Context(), client, floatingips.CreateOpts{FloatingNetworkID: a.External[at].ID}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	n.before = n.has()
	plans := []*netplan.Plan{small(t, floatingIPs(mine.FloatingIP, "")), small(t, floatingIPs(mine.FloatingIP, ""), func(s *netplan.Spec) { s.Name = "other" })}
	clusters := []*Cluster{n.cluster(plans[0]), n.cluster(plans[1])}
	clusters[1].Owner = other
	results := make([]Result, 2)
	atOnce(func() { results[0] = clusters[0].Reserve(t.Context(), Options{}) }, func() { results[1] = clusters[1].Reserve(t.Context(), Options{}) })
	done := 0
	for i, res := range results {
		t.Logf("%s: %s %v %v", clusters[i].Plan.Name, res.Outcome, res.Conflicts, res.Err)
		if res.Outcome == Done {
			done++
		} else {
			wantOutcome(t, res, InTheWay)
		}
	}
	if done != 1 {
		t.Errorf("%d of two have it", done)
	}
	for _, c := range clusters {
		wantOutcome(t, c.Release(t.Context(), Options{}), Done)
	}
	n.wantNothing()
}

// Requests and time of a larger cluster, counted: -machines=100 for the figures.
func TestRealManyMachines(t *testing.T) {
	n := newTenant(t, nil)
	p := planOf(t, workers(*machines))
	ports := len(p.Machines) + 2
	n.requests()
	start := time.Now()
	n.reserve(p)
	took := time.Since(start)
	n.wantOne(p)
	reads, writes := n.requests()
	// Each port is made and tagged; network, subnet, router, its interface, group,
	// rules, two floating IPs, and six tags.
	if want := 2*ports + 14; writes != want {
		t.Errorf("%d writes for %d machines, want %d", writes, len(p.Machines), want)
	}
	start = time.Now()
	n.reserve(p)
	again := time.Since(start)
	r, w := n.requests()
	if w != 0 || r > 8+len(p.Machines)/namesAtOnce {
		t.Errorf("again: %d reads, %d writes", r, w)
	}
	start = time.Now()
	n.release(p)
	t.Logf("%d machines: reserve %s (%d reads, %d writes), again %s (%d reads), release %s", len(p.Machines), took.Round(time.Second/10), reads, writes, again.Round(time.Second/10), r, time.Since(start).Round(time.Second/10))
}
