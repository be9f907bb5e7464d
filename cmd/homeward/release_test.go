package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/cmd/homeward/internal/ownerid"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan/load"
	"homeward/testenv/pvesim"
)

const weakSecret = "11111111-2222-3333-4444-555555555555"

// weak lets the environment have a token with these grants.
func (p *provider) weak(t *testing.T, grants ...pvesim.Grant) {
	t.Helper()
	if err := p.Change(func(s *pvesim.State) error {
		return s.AddToken(pvesim.Token{ID: "weak@pve!weak", Secret: weakSecret, Grants: grants})
	}); err != nil {
		t.Fatal(err)
	}
	t.Setenv(load.EnvTokenID, "weak@pve!weak")
	t.Setenv(load.EnvTokenSecret, weakSecret)
}

func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	id, err := ownerid.Load(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	p.weak(t, pvesim.Grant{Path: "/vms", Privileges: []string{"VM.Audit"}, Propagate: true})
	if r := p.wants(exitUnknown, "release", "-f", file); strings.Contains(r.out, "given back") {
		t.Errorf("release says\n%s", r.out)
	}
	p.wants(exitUnknown, "release", "-f", file, "--owner", id)
	r := p.wants(exitUnknown, "status", "-f", file)
	if strings.Contains(r.out, "Nothing is reserved") || strings.Contains(r.out, "not claimed") {
		t.Errorf("status takes the unknown for empty:\n%s", r.out)
	}
	p.wants(exitUnknown, "reserve", "-f", file)
	p.wantMembers(edgeHeld)
}

func TestReleaseOfALivingClusterIsRefused(t *testing.T) {
	p := simulated(t, nil)
	living, other := planFile(t), planFile(t, "name: edge", "name: lab")
	p.wants(exitDone, "reserve", "-f", living)
	id, err := ownerid.Load(filepath.Dir(living))
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, vmid int) {
		t.Helper()
		if err := p.Change(func(s *pvesim.State) error {
			return s.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: vmid, Node: "pve1", Running: true, Config: map[string]string{
				"name": name, "net1": "virtio=BC:24:11:00:00:99,bridge=vmbr0,tag=1691",
			}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	add("edge-worker-01", 201)
	if r := p.wants(exitTaken, "release", "-f", other, "--owner", id); !strings.Contains(r.out, `VM 201 "edge-worker-01"`) {
		t.Errorf("it says\n%s", r.out)
	}
	p.wantMembers(edgeHeld)

	// One that may have any address leaves the question open.
	if err := p.Change(func(s *pvesim.State) error {
		return s.EditGuest(201, func(g *pvesim.Guest) { g.Config["name"] = "db1" })
	}); err != nil {
		t.Fatal(err)
	}
	p.wants(exitUnknown, "release", "-f", other, "--owner", id)
	p.wantMembers(edgeHeld)
	p.wants(exitDone, "release", "-f", other, "--owner", id, "--allow-partial")
	p.wantMembers([]string{})
}

func TestWithoutQuorumNothingIsSaidToBeDone(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	if err := p.Change(func(s *pvesim.State) error { s.SetQuorate(false); return nil }); err != nil {
		t.Fatal(err)
	}
	// It would have nothing to write, and so not notice.
	for _, args := range [][]string{{"reserve", "-f", file}, {"release", "-f", file}} {
		if r := p.wants(exitFailed, args...); !strings.Contains(r.out, "no quorum") {
			t.Errorf("%v says\n%s", args, r.out)
		}
	}
	p.wants(exitUnknown, "status", "-f", file)
	p.wantMembers(edgeHeld)
}

func TestReportsSayWhatTheOwnerHas(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	read := func(r result) (report reservation.Report) {
		t.Helper()
		if err := json.Unmarshal([]byte(r.out), &report); err != nil {
			t.Fatal(err)
		}
		return report
	}
	if err := p.Change(func(s *pvesim.State) error {
		s.AddAlias(pvesim.ClusterScope, "printer", "203.0.113.80", "")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "203.0.113.75-203.0.113.78", "[203.0.113.76-203.0.113.78, 203.0.113.80]", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := read(p.wants(exitTaken, "reserve", "-f", file, "-o", "json")); len(got.Addresses) != 5 {
		t.Errorf("a loser that holds 5 addresses lists %d", len(got.Addresses))
	}
	got := read(p.wants(exitDone, "reserve", "-f", file, "-o", "json", "--accept", "alias dc/printer"))
	if diff := cmp.Diff([]string{"203.0.113.75"}, got.GivenBack); diff != "" || len(got.Addresses) != 5 {
		t.Errorf("given back (-want +got):\n%s\naddresses: %v", diff, got.Addresses)
	}
	if len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "accepted: ") {
		t.Errorf("warnings: %q", got.Warnings)
	}
	if got := read(p.wants(exitDone, "release", "-f", file, "-o", "json")); len(got.GivenBack) != 5 || len(got.Addresses) != 0 {
		t.Errorf("released %v, left %v", got.GivenBack, got.Addresses)
	}
}

func TestADryRunTakesNoRightToWrite(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.weak(t,
		pvesim.Grant{Path: "/vms", Privileges: []string{"VM.Audit"}, Propagate: true},
		pvesim.Grant{Path: "/", Privileges: []string{"Sys.Audit"}},
		pvesim.Grant{Path: "/sdn/zones", Privileges: []string{"SDN.Audit"}, Propagate: true},
		pvesim.Grant{Path: "/pool/" + segmentRecord, Privileges: []string{"Pool.Audit"}, Propagate: true})
	r := p.wants(exitDone, "reserve", "-f", file, "--dry-run")
	if !strings.Contains(r.out, "POST /cluster/firewall/ipset/hw-vmbr0-1691 cidr=203.0.113.75") || !strings.Contains(r.err, "Sys.Modify") {
		t.Errorf("it says\n%s\n%s", r.out, r.err)
	}
	p.wants(exitFailed, "reserve", "-f", file)
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), ownerid.FileName)); err == nil {
		t.Error("an owner's id was made although nothing can be claimed")
	}
}
