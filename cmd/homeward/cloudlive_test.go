//go:build linux

package main

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"homeward/cmd/homeward/internal/allocation"
	"homeward/cmd/homeward/internal/ownerid"
	lab "homeward/testenv/openstack"
)

// live is a cluster of a project of its own at a real Keystone and Neutron.
type live struct {
	cloud
	lab     *lab.Cloud
	project *lab.Project
}

// wants runs a command, looks at its exit code, and that it shows no secret.
func (l *live) wants(code exitCode, args ...string) result {
	l.t.Helper()
	got := homeward(l.t, append(args, "-f", l.file, "--out", l.out)...)
	if got.code != int(code) {
		l.t.Fatalf("%q: exit %d, want %d\n%s\n%s", args, got.code, code, got.out, got.err)
	}
	if strings.Contains(got.out+got.err, l.project.Credential.Secret) {
		l.t.Fatalf("%q shows the secret", args)
	}
	return got
}

func (l *live) has() map[lab.Resource]int {
	l.t.Helper()
	h, err := l.lab.Holdings(l.t.Context(), l.project.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return h.Count()
}

// chosenFloating is the ingress's on the load-balancing page. Only an administrator can
// choose one; the member then adopts it.
const chosenFloating = "203.0.113.80"

// liveEdits make the plan one of this cloud, with the page's addresses.
func liveEdits(c *lab.Cloud, workers string) []string {
	return []string{"https://openstack.example.edu:5000/v3", c.Identity(),
		"openstack:\n", "openstack:\n  ingress_address: 192.0.2.10\n  ingress_floating_ip: " + chosenFloating + "\n",
		"controlplane: {count: 3}", "controlplane: {count: 1}", "worker: {count: 3}", "worker: {count: " + workers + "}"}
}

// newLive makes a project that has the floating IP of the load-balancing page.
func newLive(t *testing.T) *live {
	t.Helper()
	if !lab.Wanted() {
		t.Skip("a real OpenStack needs Debian's packages and a minute: `make test-openstack` runs it (HOMEWARD_OPENSTACK=1)")
	}
	noCloud(t)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	c, err := lab.Open(ctx, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	project, err := c.NewProject(t.Context(), "cli", nil)
	if err != nil {
		t.Fatal(err)
	}
	external, err := networks.List(c.Admin(), networks.ListOpts{Name: lab.ExternalNet}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := networks.ExtractNetworks(external)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d external networks: %v", len(found), err)
	}
	f, err := floatingips.Create(t.Context(), c.Admin(), floatingips.CreateOpts{FloatingNetworkID: found[0].ID, FloatingIP: chosenFloating, ProjectID: project.ID}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { floatingips.Delete(context.WithoutCancel(t.Context()), c.Admin(), f.ID) })
	plan := newCloud(t, liveEdits(c, "1")...)
	plan.write("secrets.yaml", "openstack:\n  application_credential_id: "+project.Credential.ID+"\n  application_credential_secret: "+project.Credential.Secret+"\n")
	if err := os.Chmod(filepath.Join(plan.dir, "secrets.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(plan.dir, ownerid.FileName)); err != nil {
		t.Fatal(err)
	}
	return &live{plan, c, project}
}

// From an empty project to the values of the load-balancing page and back, by the tool
// alone.
func TestOpenStackFromReserveToReleased(t *testing.T) {
	l := newLive(t)
	before := l.has()

	got := l.wants(exitDone, "reserve", "--dry-run")
	if !strings.Contains(got.out, "create network edge\n") || !strings.Contains(got.out, "nothing was changed") || !cmp.Equal(before, l.has()) {
		t.Fatalf("a dry run says\n%s", got.out)
	}
	if _, err := os.Stat(filepath.Join(l.dir, ownerid.FileName)); err == nil {
		t.Error("a dry run made the owner's id")
	}
	l.wants(exitUnknown, "generate")
	l.wants(exitDifference, "status")

	l.wants(exitDone, "reserve")
	a, err := allocation.Load(filepath.Join(l.out, allocation.FileName))
	if err != nil || a.Ingress.Fixed != netip.MustParseAddr("192.0.2.10") || a.Ingress.Floating != netip.MustParseAddr(chosenFloating) || a.KubeAPI.Floating == a.Ingress.Floating {
		t.Fatalf("allocated %+v, %v", a, err)
	}
	l.wants(exitDone, "generate")
	l.page()

	report := l.report(exitDone, "reserve")
	if report.Outcome != allocation.Reserved || report.Made+report.Changed+report.Removed != 0 || report.Ingress.Fixed != a.Ingress.Fixed || len(report.Objects) != 4+4+2 {
		t.Errorf("the second reserve says %+v", report)
	}
	if report = l.report(exitDone, "status"); report.Outcome != allocation.AsPlanned {
		t.Errorf("status says %+v", report)
	}

	l.drifts()
	l.wants(exitDone, "release", "--dry-run")
	l.wants(exitDone, "release")
	if diff := cmp.Diff(before, l.has()); diff != "" {
		t.Errorf("after the release (-before +after):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(l.out, allocation.FileName)); err == nil {
		t.Error("allocation.json is still there")
	}
	l.wants(exitDone, "release")
}

// page compares what is generated with the load-balancing page, byte by byte but for
// our first line.
func (l *live) page() {
	l.t.Helper()
	want, err := os.ReadFile(filepath.Join("..", "..", "talosgen", "gitops", "testdata", "page", "openstack.values.yaml"))
	if err != nil {
		l.t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(l.out, "argocd", "values.yaml"))
	if err != nil {
		l.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(got), "\n")
	if diff := cmp.Diff(string(want), rest); diff != "" {
		l.t.Errorf("argocd/values.yaml (-page +got):\n%s", diff)
	}
}

func (l *live) report(code exitCode, args ...string) allocation.Report {
	l.t.Helper()
	var r allocation.Report
	if err := json.Unmarshal([]byte(l.wants(code, append(args, "-o", "json")...).out), &r); err != nil {
		l.t.Fatal(err)
	}
	return r
}

// drifts changes the plan, and the file, and looks what status says.
func (l *live) drifts() {
	l.t.Helper()
	l.plan(liveEdits(l.lab, "2")...)
	got := l.wants(exitDifference, "status")
	if !strings.Contains(got.out, "create port edge-worker-02") {
		l.t.Errorf("a machine more: %s", got.out)
	}
	l.plan(liveEdits(l.lab, "1")...)
	l.wants(exitDone, "status")
	if err := os.Remove(filepath.Join(l.out, allocation.FileName)); err != nil {
		l.t.Fatal(err)
	}
	if got = l.wants(exitDifference, "status"); !strings.Contains(got.out, "does not have these addresses") {
		l.t.Errorf("without the file: %s", got.out)
	}
	l.wants(exitDone, "reserve")
	// With another id the same name is somebody else's.
	mine, err := os.ReadFile(filepath.Join(l.dir, ownerid.FileName))
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(ownerid.FileName, "fedcba9876543210\n")
	if got = l.wants(exitTaken, "reserve"); !strings.Contains(got.out, "same name with another id") {
		l.t.Errorf("as another owner: %s", got.out)
	}
	l.wants(exitTaken, "status")
	l.write(ownerid.FileName, string(mine))
}
