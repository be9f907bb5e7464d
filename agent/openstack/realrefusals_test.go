//go:build linux

package openstack

import (
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"homeward/agent/ledger"
	"homeward/netplan"
	lab "homeward/testenv/openstack"
	"homeward/testenv/openstack/faults"
)

func TestRealQuota(t *testing.T) {
	n := newTenant(t, lab.Quota{lab.Ports: 3, lab.FloatingIPs: 1})
	res := n.cluster(small(t)).Reserve(t.Context(), Options{})
	wantOutcome(t, res, Failed)
	for _, want := range []string{"ports: 4 more needed, 3 of 3 free", "floating IPs: 2 more needed, 1 of 1 free"} {
		if !strings.Contains(res.Err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, res.Err)
		}
	}
	n.wantNothing()
	if err := cloud.SetQuota(t.Context(), n.ID, lab.Quota{lab.Ports: 50, lab.FloatingIPs: 5}); err != nil {
		t.Fatal(err)
	}
	// Others use it up between our look and our making.
	c := n.cluster(small(t))
	n.proxy.Add(faults.Match{Service: faults.Network, Method: "POST", Path: pathPorts, From: 2, Times: 1}, faults.Before(func() {
		if err := cloud.SetQuota(t.Context(), n.ID, lab.Quota{lab.Ports: 2}); err != nil {
			t.Error(err)
		}
	}))
	res = c.Reserve(t.Context(), Options{})
	wantOutcome(t, res, Failed)
	var q *QuotaError
	if !errors.As(res.Err, &q) || !strings.Contains(res.Err.Error(), "OverQuota") {
		t.Errorf("it says %v", res.Err)
	}
	if err := cloud.SetQuota(t.Context(), n.ID, lab.Quota{lab.Ports: 50}); err != nil {
		t.Fatal(err)
	}
	n.reserve(small(t))
	n.wantOne(small(t))
	n.release(small(t))
}

// The plan just fits into its network, and somebody's port takes an address before.
func TestRealTheSubnetIsFull(t *testing.T) {
	n := newTenant(t, nil)
	p := planOf(t, workers(2), func(s *netplan.Spec) { s.Cluster.CIDR = prefix("10.0.0.0/29") })
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	c := n.cluster(p)
	var theirs string
	n.proxy.Add(faults.Match{Service: faults.Network, Method: "POST", Path: pathPorts}, faults.Before(func() {
		a, err := n.connect().Read(t.Context(), Query{})
		if err != nil || len(a.Networks) != 1 {
			t.Errorf("read %v, %v", a, err)
			return
		}
		port, err := ports.Create(t.Context(), client, ports.CreateOpts{NetworkID: a.Networks[0].ID, Name: "jump"}).Extract()
		if err != nil {
			t.Error(err)
			return
		}
		theirs = port.ID
	}))
	res := c.Reserve(t.Context(), Options{})
	wantOutcome(t, res, Failed)
	if !strings.Contains(res.Err.Error(), "network.cidr has no address left") {
		t.Errorf("it says %v", res.Err)
	}
	if err := ports.Delete(t.Context(), client, theirs).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	n.reserve(p)
	n.wantOne(p)
	n.release(p)
}

func TestRealThePoolIsEmpty(t *testing.T) {
	n := newTenant(t, nil)
	id, err := cloud.NewExternal(t.Context(), lab.External{Name: "tiny-" + n.Name, Subnet: netip.MustParsePrefix("198.18.7.0/24"),
		Floating: lab.Range{First: addr("198.18.7.10"), Last: addr("198.18.7.11")}})
	if err != nil {
		t.Fatal(err)
	}
	// The router's gateway takes one, and the first floating IP the other.
	p := small(t, func(s *netplan.Spec) { s.OpenStack = &netplan.OpenStackSpec{ExternalNet: "tiny-" + n.Name} })
	res := n.cluster(p).Reserve(t.Context(), Options{})
	wantOutcome(t, res, Failed)
	if !strings.Contains(res.Err.Error(), "the external network has no address left") {
		t.Errorf("it says %v", res.Err)
	}
	n.release(p)
	if err := cloud.DeleteExternal(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// Somebody's port on the cluster's network has the address that the plan then chooses.
func TestRealAnAddressIsTaken(t *testing.T) {
	n := newTenant(t, nil)
	res := n.reserve(small(t))
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := ports.Create(t.Context(), client, ports.CreateOpts{NetworkID: res.Holding.Network.ID, Name: "jump", FixedIPs: []ports.IP{{IPAddress: "10.0.0.50"}}}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	p := small(t, choose("10.0.0.50", ""))
	n.requests()
	res = n.cluster(p).Reserve(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if _, writes := n.requests(); writes != 0 || len(res.Conflicts) != 1 || !strings.Contains(res.Conflicts[0].String(), "port jump") {
		t.Errorf("%d writes, conflicts %v", writes, res.Conflicts)
	}
	res = n.cluster(small(t)).Release(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if err := ports.Delete(t.Context(), client, theirs.ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	n.release(small(t))
}

// The database is killed under a run: it says that it does not know, and the next one
// finds what is there. Neutron does what it was asked when the database is back.
func TestRealTheDatabaseIsKilled(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t)
	c := clusterOf(p, n.connect(func(o *ClientOptions) { o.Timeout = 5 * time.Second }))
	c.Sleep = quickly
	n.proxy.Add(faults.Match{Service: faults.Network, Method: "POST", Path: pathPorts, From: 2, Times: 1}, faults.Before(func() {
		if err := cloud.KillDatabase(t.Context()); err != nil {
			t.Error(err)
		}
	}))
	res := c.Reserve(t.Context(), Options{})
	if err := cloud.RestartDatabase(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, res, Unknown)
	t.Logf("it said: %v", res.Err)
	n.proxy.Clear()
	n.reserve(p)
	n.wantOne(p)
	n.release(p)
}

// A second cluster of the same name with another id is told whose the name is.
func TestRealANameIsTaken(t *testing.T) {
	n := newTenant(t, nil)
	n.reserve(small(t))
	c := n.cluster(small(t))
	c.Owner = namesOwn
	n.requests()
	res := c.Reserve(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if _, writes := n.requests(); writes != 0 || !strings.Contains(res.Conflicts[0].String(), owner.ID) {
		t.Errorf("%d writes, conflicts %v", writes, res.Conflicts)
	}
	wantOutcome(t, c.Release(t.Context(), Options{}), Done)
	n.wantOne(small(t))
	n.release(small(t))
}

// A cloud whose policy forbids MAC addresses of our choice is told so, by the rule.
func TestRealAMACIsForbidden(t *testing.T) {
	n := newTenant(t, nil)
	t.Cleanup(func() {
		if err := cloud.SetPolicy(nil); err != nil {
			t.Error(err)
		}
	})
	if err := cloud.SetPolicy(lab.Policy{ruleOfMAC: "rule:admin_only"}); err != nil {
		t.Fatal(err)
	}
	res := n.cluster(small(t)).Reserve(t.Context(), Options{})
	wantOutcome(t, res, Failed)
	if !strings.Contains(res.Err.Error(), "ask its administrator for create_port:mac_address") {
		t.Errorf("it says %v", res.Err)
	}
	n.release(small(t))
}

// What has only our names is somebody's: each is told, and nothing is written.
func TestRealStrangersHaveOurNames(t *testing.T) {
	n := newTenant(t, nil)
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	p := small(t)
	network, err := networks.Create(t.Context(), client, networks.CreateOpts{Name: p.Name}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := subnets.Create(t.Context(), client, subnets.CreateOpts{NetworkID: network.ID, IPVersion: 4, CIDR: "10.77.0.0/24"}).Extract(); err != nil {
		t.Fatal(err)
	}
	if _, err := routers.Create(t.Context(), client, routers.CreateOpts{Name: p.Name}).Extract(); err != nil {
		t.Fatal(err)
	}
	if _, err := groups.Create(t.Context(), client, groups.CreateOpts{Name: p.Name}).Extract(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{p.KubeAPIPort(), p.IngressPort(), "edge-worker-01"} {
		if _, err := ports.Create(t.Context(), client, ports.CreateOpts{NetworkID: network.ID, Name: name}).Extract(); err != nil {
			t.Fatal(err)
		}
	}
	n.before = n.has()
	n.requests()
	res := n.cluster(p).Reserve(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if _, writes := n.requests(); writes != 0 {
		t.Errorf("%d writes", writes)
	}
	told := map[Kind]int{}
	for _, c := range res.Conflicts {
		told[c.Kind]++
		if c.ID == "" || c.Remedy == "" {
			t.Errorf("no id or no remedy: %+v", c)
		}
	}
	if want := map[Kind]int{KindNetwork: 1, KindRouter: 1, KindGroup: 1, KindPort: 3}; !maps.Equal(told, want) {
		t.Errorf("told %v, want %v: %v", told, want, res.Conflicts)
	}
	wantOutcome(t, n.cluster(p).Release(t.Context(), Options{}), Done)
	n.wantNothing()
}

// The quota does for one of two clusters that begin at once: whoever is not done says
// which quota it was, and once the other has given its part back there is room.
func TestRealTheQuotaDoesForOne(t *testing.T) {
	plans := []*netplan.Plan{small(t), small(t, func(s *netplan.Spec) { s.Name = "other" })}
	owners := []ledger.Owner{owner, other}
	n := newTenant(t, lab.Quota{lab.Ports: len(plans[0].Machines) + 3 + 1})
	results := make([]Result, 2)
	reserve := func(i int) func() {
		c := n.cluster(plans[i])
		c.Owner = owners[i]
		return func() { results[i] = c.Reserve(t.Context(), Options{}) }
	}
	atOnce(reserve(0), reserve(1))
	done := 0
	for i, res := range results {
		t.Logf("%s: %s %v", plans[i].Name, res.Outcome, res.Err)
		var q *QuotaError
		switch {
		case res.Outcome == Done:
			done++
		case res.Outcome != Failed || !errors.As(res.Err, &q) || !strings.Contains(res.Err.Error(), "ports: ") || strings.Contains(res.Err.Error(), "network.cidr"):
			t.Errorf("%s: %s, %v", plans[i].Name, res.Outcome, res.Err)
		}
	}
	if done > 1 {
		t.Error("both are done")
	}
	c := n.cluster(plans[1])
	c.Owner = other
	wantOutcome(t, c.Release(t.Context(), Options{}), Done)
	n.reserve(plans[0])
	n.wantOne(plans[0])
	n.release(plans[0])
}

// A plan whose network has the addresses of the floating IPs is wrong, which only the
// router shows: a member does not see the external network's subnets.
func TestRealTheNetworkOverlapsTheExternalOne(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t, func(s *netplan.Spec) { s.Cluster.CIDR = prefix("203.0.113.0/24") })
	res := n.cluster(p).Reserve(t.Context(), Options{})
	wantOutcome(t, res, InTheWay)
	if len(res.Conflicts) != 1 || res.Conflicts[0].Blame != Wrong || !strings.Contains(res.Conflicts[0].String(), "choose another network.cidr") {
		t.Errorf("conflicts %+v", res.Conflicts)
	}
	n.wantNothing()
}
