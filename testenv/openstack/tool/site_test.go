//go:build linux

package tool

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"homeward/testenv/openstack"
)

// chosenFloating is the ingress's on the load-balancing page. Only an administrator can
// choose one; the member then adopts it.
const chosenFloating = "203.0.113.80"

// newSite builds the tool and makes a project that has the floating IP of the page.
func newSite(t *testing.T) *site {
	t.Helper()
	if !openstack.Wanted() {
		t.Skipf("a real OpenStack needs Debian's packages and a minute: `make test-openstack` runs it (%s=1)", openstack.WantedVariable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	s := &site{t: t, dir: t.TempDir()}
	s.bin = filepath.Join(t.TempDir(), "homeward")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.bin, "homeward/cmd/homeward").CombinedOutput(); err != nil {
		t.Fatalf("building the tool: %v\n%s", err, out)
	}
	var err error
	if s.cloud, err = openstack.Open(ctx, openstack.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.cloud.Stop(); err != nil {
			t.Error(err)
		}
	})
	if s.project, err = s.cloud.NewProject(ctx, "tool", nil); err != nil {
		t.Fatal(err)
	}
	s.allocate(ctx)
	s.url = s.cloud.Identity()
	s.plan(1)
	s.write("secrets.yaml", "openstack:\n  application_credential_id: "+s.project.Credential.ID+"\n  application_credential_secret: "+s.project.Credential.Secret+"\n")
	return s
}

// allocate gives the project the page's floating IP, as an administrator.
func (s *site) allocate(ctx context.Context) {
	s.t.Helper()
	page, err := networks.List(s.cloud.Admin(), networks.ListOpts{Name: openstack.ExternalNet}).AllPages(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	found, err := networks.ExtractNetworks(page)
	if err != nil || len(found) != 1 {
		s.t.Fatalf("%d external networks: %v", len(found), err)
	}
	f, err := floatingips.Create(ctx, s.cloud.Admin(), floatingips.CreateOpts{FloatingNetworkID: found[0].ID, FloatingIP: chosenFloating, ProjectID: s.project.ID}).Extract()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := floatingips.Delete(context.WithoutCancel(s.t.Context()), s.cloud.Admin(), f.ID).ExtractErr(); err != nil {
			s.t.Error(err)
		}
	})
}
