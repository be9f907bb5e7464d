//go:build linux

package openstack

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

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
