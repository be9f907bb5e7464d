//go:build linux

package openstack

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/netplan"
	lab "homeward/testenv/openstack"
	"homeward/testenv/openstack/faults"
)

// cloud is the real Keystone and Neutron of the tests called TestReal; nil where they
// are not wanted.
var cloud *lab.Cloud

var machines = flag.Int("machines", 12, "workers of the cluster that is counted and timed against real servers")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withLab(m))
}

func withLab(m *testing.M) int {
	if !lab.Wanted() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	var err error
	if cloud, err = lab.Open(ctx, lab.Options{Progress: os.Stderr}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, cloud.LogTails(20))
	}
	if err := cloud.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// tenant is a project of a test's own, and a proxy in front of the servers in which
// things go wrong.
type tenant struct {
	*lab.Project
	t      *testing.T
	proxy  *faults.Proxy
	before map[lab.Resource]int
}

func newTenant(t *testing.T, quota lab.Quota) *tenant {
	t.Helper()
	if cloud == nil {
		t.Skip("a real OpenStack needs Debian's packages and a minute: `make test-openstack` runs it (HOMEWARD_OPENSTACK=1)")
	}
	p, err := cloud.NewProject(t.Context(), "homeward", quota)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faults.Start(cloud.Identity(), cloud.Network())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &tenant{Project: p, t: t, proxy: proxy}
	n.before = n.has()
	return n
}

// has counts what the project has.
func (n *tenant) has() map[lab.Resource]int {
	n.t.Helper()
	h, err := cloud.Holdings(n.t.Context(), n.ID)
	if err != nil {
		n.t.Fatal(err)
	}
	return h.Count()
}

// wantNothing looks that a release left what there was before.
func (n *tenant) wantNothing() {
	n.t.Helper()
	if diff := cmp.Diff(n.before, n.has()); diff != "" {
		n.t.Errorf("after the release (-before +after):\n%s", diff)
	}
}

// wantOne looks that there is exactly one cluster of that plan.
func (n *tenant) wantOne(p *netplan.Plan) {
	n.t.Helper()
	want := map[lab.Resource]int{lab.Networks: 1, lab.Subnets: 1, lab.Routers: 1, lab.Groups: 1, lab.GroupRules: len(rulesOf(p)) + 1, lab.Ports: len(p.Machines) + 3, lab.FloatingIPs: 2}
	if diff := cmp.Diff(want, n.has()); diff != "" {
		n.t.Errorf("of the cluster (-want +has):\n%s", diff)
	}
}

// connect gives a client as a member, through the proxy.
func (n *tenant) connect(change ...func(*ClientOptions)) *Client {
	n.t.Helper()
	o := ClientOptions{
		Access: netplan.OpenStackAccess{URL: n.proxy.Identity(), Region: lab.Region, CredentialID: n.Credential.ID, CredentialSecret: netplan.NewSecret(n.Credential.Secret)},
		Sleep:  quickly, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute,
	}
	for _, f := range change {
		f(&o)
	}
	c, err := Connect(n.t.Context(), o)
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// quickly waits a tenth of what is asked for.
func quickly(ctx context.Context, d time.Duration) error { return ledger.Sleep(ctx, d/10) }

func (n *tenant) cluster(p *netplan.Plan) *Cluster {
	n.t.Helper()
	c := clusterOf(p, n.connect())
	c.Sleep = quickly
	return c
}

func (n *tenant) reserve(p *netplan.Plan) Result {
	n.t.Helper()
	res := n.cluster(p).Reserve(n.t.Context(), Options{})
	wantOutcome(n.t, res, Done)
	return res
}

func (n *tenant) release(p *netplan.Plan) {
	n.t.Helper()
	wantOutcome(n.t, n.cluster(p).Release(n.t.Context(), Options{}), Done)
	n.wantNothing()
}

// writes and reads count the requests to Neutron since the last call.
func (n *tenant) requests() (reads, writes int) {
	for _, r := range n.proxy.Requests() {
		switch {
		case r.Service != faults.Network:
		case r.Method == "GET":
			reads++
		default:
			writes++
		}
	}
	n.proxy.Forget()
	return reads, writes
}

// small is the cluster of most tests: every port costs seconds on a busy machine.
func small(t *testing.T, with ...func(*netplan.Spec)) *netplan.Plan {
	return planOf(t, append([]func(*netplan.Spec){workers(1)}, with...)...)
}

// atOnce runs functions side by side.
func atOnce(f ...func()) {
	var wg sync.WaitGroup
	for _, g := range f {
		wg.Go(g)
	}
	wg.Wait()
}
