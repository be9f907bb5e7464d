//go:build linux

package openstack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"homeward/testenv/openstack"
	"homeward/testenv/openstack/faults"
)

func TestProjectsAreApart(t *testing.T) {
	one, asOne := member(t, openstack.Quota{openstack.Networks: 1})
	two, asTwo := member(t, nil)
	made := get[networks.Network](t)(networks.Create(t.Context(), asOne, networks.CreateOpts{Name: "n"}).Extract())
	if got := refusal(networks.Create(t.Context(), asOne, networks.CreateOpts{Name: "n"}).Err); got != "409 OverQuota" {
		t.Errorf("a second network with a quota of one: %s", got)
	}
	if got := refusal(networks.Get(t.Context(), asTwo, made.ID).Err); got != "404 NetworkNotFound" {
		t.Errorf("another project's network: %s", got)
	}
	must(t, networks.Create(t.Context(), asTwo, networks.CreateOpts{Name: "n"}).Err)
	for _, p := range []*openstack.Project{one, two} {
		h, err := lab.Holdings(t.Context(), p.ID)
		must(t, err)
		want := map[openstack.Resource]int{openstack.Networks: 1, openstack.Subnets: 0, openstack.Ports: 0, openstack.Routers: 0,
			openstack.FloatingIPs: 0, openstack.Groups: 0, openstack.GroupRules: 0}
		if diff := cmp.Diff(want, h.Count()); diff != "" {
			t.Errorf("holdings of %s (-want +got):\n%s\n%s", p.Name, diff, h)
		}
	}
	must(t, lab.SetQuota(t.Context(), one.ID, openstack.Quota{openstack.Networks: 2}))
	if got := refusal(networks.Create(t.Context(), asOne, networks.CreateOpts{Name: "n"}).Err); got != "done" {
		t.Errorf("a second network with a quota of two: %s", got)
	}
}

func TestExpireTokens(t *testing.T) {
	p, client := member(t, nil)
	other, asOther := member(t, nil)
	reauth := client.ReauthFunc
	client.ReauthFunc = nil
	ask := func(c *gophercloud.ServiceClient) string { return refusal(networks.Get(t.Context(), c, "none").Err) }
	if got := ask(client); got != "404 NetworkNotFound" {
		t.Fatalf("before: %s", got)
	}
	must(t, lab.ExpireTokens(t.Context(), p))
	if got := ask(client); got != "401" {
		t.Errorf("with the revoked token: %s", got)
	}
	client.ReauthFunc = reauth
	if got := ask(client); got != "404 NetworkNotFound" {
		t.Errorf("with leave to get another one: %s", got)
	}
	if got := ask(asOther); got != "404 NetworkNotFound" {
		t.Errorf("the token of another project, %s: %s", other.Name, got)
	}
}

// A member sees a killed database as 500 from Keystone, as 503 from Neutron where
// that has to ask Keystone first, and otherwise as a request that hangs.
func TestDatabaseKilled(t *testing.T) {
	p, client := member(t, nil)
	made := get[networks.Network](t)(networks.Create(t.Context(), client, networks.CreateOpts{Name: "kept"}).Extract())
	must(t, lab.KillDatabase(t.Context()))
	must(t, lab.KillDatabase(t.Context())) // once is enough
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	if _, err := p.Client(ctx, lab.Identity()); err == nil || !gophercloud.ResponseCodeIs(errors.Unwrap(err), http.StatusInternalServerError) {
		t.Errorf("a token without a database: %v", err)
	}
	err := networks.Get(ctx, client, made.ID).Err
	if !gophercloud.ResponseCodeIs(err, http.StatusServiceUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a network without a database: %v", err)
	}
	restarting, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	must(t, lab.RestartDatabase(restarting))
	must(t, networks.Get(t.Context(), client, made.ID).Err)
	h, err := lab.Holdings(t.Context(), p.ID)
	must(t, err)
	if n := h.Count()[openstack.Networks]; n != 1 {
		t.Errorf("%d networks, want the one that was made before:\n%s", n, h)
	}
}

// A client that comes by the proxy stays with it, also for Neutron, and the servers
// do what it loses the answers of.
func TestThroughTheProxy(t *testing.T) {
	p, direct := member(t, nil)
	proxy, err := faults.Start(lab.Identity(), lab.Network())
	must(t, err)
	defer func() { must(t, proxy.Close()) }()
	client, err := p.Client(t.Context(), proxy.Identity())
	must(t, err)
	proxy.Add(faults.Match{Method: "POST", Path: "/v2.0/networks"}, faults.Lose())
	if err := networks.Create(t.Context(), client, networks.CreateOpts{Name: "n"}).Err; !errors.Is(err, io.EOF) {
		t.Errorf("a lost answer: %v", err)
	}
	must(t, lab.ExpireTokens(t.Context(), p))
	for _, by := range []*gophercloud.ServiceClient{client, direct} {
		page, err := networks.List(by, networks.ListOpts{Name: "n"}).AllPages(t.Context())
		must(t, err)
		found, err := networks.ExtractNetworks(page)
		must(t, err)
		if len(found) != 1 {
			t.Errorf("%d networks, want the one whose answer was lost", len(found))
		}
	}
	var record []string
	for _, r := range proxy.Requests() {
		record = append(record, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", r.Method, r.Path, r.Status, r.Fault)))
	}
	want := []string{"POST /v3/auth/tokens 201", "GET / 200", "POST /v2.0/networks 201 lose",
		"GET /v2.0/networks 401", "POST /v3/auth/tokens 201", "GET /v2.0/networks 200"}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
