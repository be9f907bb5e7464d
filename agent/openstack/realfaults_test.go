//go:build linux

package openstack

import (
	"context"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"homeward/netplan"
	"homeward/testenv/openstack/faults"
)

// What can go wrong, and which test shows it at the real servers; those in package
// testenv/openstack/tool run the tool itself and look at its exit code.
//
//	quota exceeded, of each kind         TestQuotaOfEveryKind (a fact), TestRealQuota, tool TestExitCodes
//	a quota that does for one of two     TestRealTheQuotaDoesForOne
//	the subnet is full                   TestRealTheSubnetIsFull, tool TestExitCodes
//	the floating pool is empty           TestRealThePoolIsEmpty, tool TestExitCodes
//	somebody's port has the address      TestRealAnAddressIsTaken
//	a stale revision                     TestRealAStaleRevision
//	a stranger has our names             TestRealANameIsTaken, TestRealStrangersHaveOurNames
//	ours twice                           TestRealALateWrite; in memory TestDuplicates, TestADoubledRule
//	401 in the middle, and for ever      TestRealFaultsThatPass, TestRealFaultsThatStay, tool TestExitCodes
//	409 by its type                      testenv/openstack (facts), TestRealFaultsThatPass; in memory TestEachErrorByItsType
//	403, of a role and of a MAC          TestRealFaultsThatStay, TestRealAMACIsForbidden
//	503, a web page, garbage             TestRealFaultsThatPass, TestRealFaultsThatStay, tool TestExitCodes
//	the database is killed               TestRealTheDatabaseIsKilled
//	killed after each write, then again  TestRealKilledAfterEachWrite, tool TestExitCodes (by signals)
//	two operators of one cluster         TestRealTwoOperators, tool TestTwoOperators

const (
	pathNetworks = "/v2.0/networks"
	pathPorts    = "/v2.0/ports"
	pathFloating = "/v2.0/floatingips"
)

// One run in which nearly everything goes wrong once ends as if nothing had.
func TestRealFaultsThatPass(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t)
	cluster := n.cluster(p)
	at := func(method, path string, from, times int) faults.Match {
		return faults.Match{Service: faults.Network, Method: method, Path: path, From: from, Times: times}
	}
	rules := map[string]*faults.Rule{}
	for _, c := range []struct {
		name  string
		match faults.Match
		fault faults.Fault
	}{
		{"lists are away for a moment", at("GET", pathNetworks, 1, 2), faults.Balancer(503)},
		{"a list is cut", at("GET", "/v2.0/routers", 1, 1), faults.Cut(5)},
		{"the network's answer is lost", at("POST", pathNetworks, 1, 1), faults.Lose()},
		{"the server has an error", at("POST", "/v2.0/routers", 1, 1), faults.Refuse(500, "HTTPInternalServerError", "Request Failed: internal server error")},
		{"the rules' answer is lost", at("POST", "/v2.0/security-group-rules", 1, 1), faults.Lose()},
		{"the token ends in the middle", at("POST", "/v2.0/subnets", 1, 1), faults.Unauthorized()},
		{"the interface's answer is lost", at("PUT", "/v2.0/routers/*/add_router_interface", 1, 1), faults.Lose()},
		{"a port's answer is cut", at("POST", pathPorts, 1, 1), faults.Cut(40)},
		{"a balancer gives up over a port", at("POST", pathPorts, 2, 1), faults.Balancer(504)},
		{"another has the address for a moment", at("POST", pathPorts, 3, 1), faults.Refuse(409, "IpAddressAlreadyAllocated", "IP address 10.0.0.9 already allocated")},
		{"too many requests", at("POST", pathPorts, 4, 1), faults.TooMany(1)},
		{"a floating IP's answer is lost", at("POST", pathFloating, 1, 1), faults.Lose()},
		{"a tag's answer is lost", at("PUT", "/v2.0/networks/*/tags/*", 1, 1), faults.Lose()},
	} {
		rules[c.name] = n.proxy.Add(c.match, c.fault)
	}
	res := cluster.Reserve(t.Context(), Options{})
	wantOutcome(t, res, Done)
	for name, rule := range rules {
		if rule.Met() == 0 {
			t.Errorf("not met: %s", name)
		}
	}
	n.proxy.Clear()
	n.wantOne(p)
	n.proxy.Add(at("DELETE", pathPorts+"/*", 1, 2), faults.Lose())
	n.proxy.Add(at("DELETE", pathNetworks+"/*", 1, 1), faults.Balancer(502))
	n.proxy.Add(at("PUT", "/v2.0/routers/*/remove_router_interface", 1, 1), faults.Lose())
	n.release(p)
}

// What goes wrong and stays so ends the run as it says, and leaves nothing that a
// release does not find.
func TestRealFaultsThatStay(t *testing.T) {
	always := faults.Match{Service: faults.Network, Method: "GET", Path: pathNetworks, Times: faults.Always}
	n := newTenant(t, nil)
	p := small(t)
	for _, c := range []struct {
		name    string
		match   faults.Match
		fault   faults.Fault
		outcome Outcome
		says    string
	}{
		{"lists are away", always, faults.Balancer(503), Unknown, "503"},
		{"a login page", always, faults.Answer(200, "text/html", "<html>Sign in</html>"), Unknown, "web page"},
		{"garbage", always, faults.Answer(200, "application/json", `{"networks": `), Unknown, ""},
		{"not allowed", faults.Match{Service: faults.Network, Method: "POST", Path: "/v2.0/routers", Times: faults.Always}, faults.Refuse(403, "PolicyNotAuthorized", "rule:create_router is disallowed by policy"), Failed, "role member"},
		{"the token is taken by nobody", faults.Match{Service: faults.Network, Times: faults.Always}, faults.Unauthorized(), Failed, "credential"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := n.cluster(p)
			n.proxy.Add(c.match, c.fault)
			res := cluster.Reserve(t.Context(), Options{})
			n.proxy.Clear()
			wantOutcome(t, res, c.outcome)
			if !strings.Contains(res.Err.Error(), c.says) || strings.Contains(res.Err.Error(), n.Credential.Secret) {
				t.Errorf("it says %v", res.Err)
			}
		})
	}
	n.release(p)
}

// Each run is killed when its write is done, and the next one goes on: as many runs as
// there are writes, and one cluster.
func TestRealKilledAfterEachWrite(t *testing.T) {
	n := newTenant(t, nil)
	p := small(t)
	kills := n.untilDone(func(ctx context.Context, c *Cluster) Result { return c.Reserve(ctx, Options{}) }, p)
	n.wantOne(p)
	freed := n.untilDone(func(ctx context.Context, c *Cluster) Result { return c.Release(ctx, Options{}) }, p)
	n.wantNothing()
	if kills < 20 || freed < 8 {
		t.Errorf("%d and %d runs were killed", kills, freed)
	}
	t.Logf("%d runs of reserve and %d of release were killed", kills, freed)
}

// untilDone runs again and again, each run killed after its first write.
func (n *tenant) untilDone(do func(context.Context, *Cluster) Result, p *netplan.Plan) (kills int) {
	n.t.Helper()
	for range 60 {
		c := n.cluster(p)
		c.Abreast = 1
		ctx, kill := context.WithCancel(n.t.Context())
		n.proxy.Clear()
		rule := n.proxy.Add(faults.Match{Service: faults.Network, Method: faults.Write, Times: 1}, faults.Lose(kill))
		res := do(ctx, c)
		kill()
		n.proxy.Clear()
		if rule.Met() == 0 {
			wantOutcome(n.t, res, Done)
			return kills
		}
		wantOutcome(n.t, res, Unknown)
		kills++
	}
	n.t.Fatal("it never ends")
	return kills
}

// A network that is made late, just before the client makes another or after that: one
// stays.
func TestRealALateWrite(t *testing.T) {
	for _, when := range []faults.Match{
		{Service: faults.Network, Method: "POST", Path: pathNetworks, From: 2, Times: 1},
		{Service: faults.Network, Method: "POST", Path: "/v2.0/subnets", Times: 1},
	} {
		n := newTenant(t, nil)
		p := small(t)
		c := n.cluster(p)
		late := n.proxy.Add(faults.Match{Service: faults.Network, Method: "POST", Path: pathNetworks, Times: 1}, faults.Late(faults.Gone()))
		second := n.proxy.Add(when, faults.Before(late.Deliver))
		wantOutcome(t, c.Reserve(t.Context(), Options{}), Done)
		if late.Met() != 1 || second.Met() != 1 {
			t.Error("nothing came late")
		}
		n.reserve(p)
		n.wantOne(p)
		n.release(p)
	}
}

// Somebody changes a port between our look at it and our change: both changes are
// there in the end.
func TestRealAStaleRevision(t *testing.T) {
	n := newTenant(t, nil)
	res := n.reserve(small(t))
	worker := res.Holding.Ports[Use{ForMachine, "edge-worker-01"}]
	client, err := n.Client(t.Context(), cloud.Identity())
	if err != nil {
		t.Fatal(err)
	}
	set := func(pairs ...ports.AddressPair) {
		if _, err := ports.Update(t.Context(), client, worker.ID, ports.UpdateOpts{AllowedAddressPairs: &pairs}).Extract(); err != nil {
			t.Error(err)
		}
	}
	set()
	c := n.cluster(small(t))
	rule := n.proxy.Add(faults.Match{Service: faults.Network, Method: "PUT", Path: pathPorts + "/*", Times: 1}, faults.Before(func() { set(ports.AddressPair{IPAddress: "10.9.9.9"}) }))
	res = c.Reserve(t.Context(), Options{})
	wantOutcome(t, res, Done)
	if p := res.Holding.Ports[Use{ForMachine, "edge-worker-01"}]; rule.Met() != 1 || !paired(p, "10.9.9.9", res.Holding.Ports[ingress].Fixed[0].Address.String()) {
		t.Errorf("the port has pairs %v", p.Pairs)
	}
	n.release(small(t))
}
