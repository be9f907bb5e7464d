package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/agent/pvefs"
	"homeward/cmd/homeward/internal/ownerid"
	"homeward/cmd/homeward/internal/reservation"
	"homeward/netplan/load"
	"homeward/testenv/pvesim"
)

// provider is a simulated Proxmox to which the environment points.
type provider struct {
	*pvesim.Sim
	t      *testing.T
	secret string
}

// simulated starts one; change edits its fresh state.
func simulated(t *testing.T, change func(*pvesim.State)) *provider {
	t.Helper()
	state := pvesim.NewState()
	if change != nil {
		change(state)
	}
	return simulatedWith(t, pvesim.Options{State: state})
}

// simulatedWith starts one of other options.
func simulatedWith(t *testing.T, o pvesim.Options) *provider {
	t.Helper()
	if o.State == nil {
		o.State = pvesim.NewState()
	}
	state := o.State
	sim, err := pvesim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	site, err := sim.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Listen("127.0.0.1:0", "pve1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, site.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	id, secret := state.FirstToken()
	t.Setenv(load.EnvURL, server.URL())
	t.Setenv(load.EnvTokenID, id)
	t.Setenv(load.EnvTokenSecret, secret)
	t.Setenv(load.EnvCAFile, ca)
	t.Cleanup(func() {
		if unknown := sim.Unknown(); len(unknown) > 0 {
			t.Errorf("the simulator does not know %q", unknown)
		}
	})
	return &provider{sim, t, secret}
}

// run runs a command and looks that it never shows the token's secret.
func (p *provider) run(args ...string) result {
	p.t.Helper()
	r := homeward(p.t, args...)
	if strings.Contains(r.out+r.err, p.secret) {
		p.t.Fatalf("%q shows the secret", args)
	}
	return r
}

// wants runs a command and looks at its exit code.
func (p *provider) wants(code exitCode, args ...string) result {
	p.t.Helper()
	r := p.run(args...)
	if r.code != int(code) {
		p.t.Fatalf("%q returned %d, want %d\n%s\n%s", args, r.code, code, r.out, r.err)
	}
	return r
}

const segmentRecord = "hw-vmbr0-1691"

// members gives the record's addresses and whose they are.
func (p *provider) members() []string {
	p.t.Helper()
	set, _ := p.State().Set(pvesim.ClusterScope, segmentRecord)
	list := []string{}
	for _, m := range set {
		words := regexp.MustCompile(`cluster=(\S+) for=(\S+) state=(\S+)`).FindStringSubmatch(m.Comment)
		if words == nil {
			words = []string{"", "by hand", m.Comment, ""}
		}
		list = append(list, strings.TrimSpace(m.CIDR+" "+strings.Join(words[1:], " ")))
	}
	return list
}

var edgeHeld = []string{
	"203.0.113.75 edge ingress held", "203.0.113.76 edge ingress held", "203.0.113.77 edge ingress held",
	"203.0.113.78 edge ingress held", "203.0.113.79 edge kubeapi held",
}

func (p *provider) wantMembers(want []string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.members()); diff != "" {
		p.t.Fatalf("the record (-want +got):\n%s", diff)
	}
}

func TestReserveClaimsThePlanAndReleaseGivesItBack(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)

	p.wants(exitDifference, "status", "-f", file)
	p.wants(exitDone, "reserve", "-f", file, "--dry-run")
	p.wantMembers([]string{})
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), ownerid.FileName)); err == nil {
		t.Error("a dry run made the owner's id")
	}

	r := p.wants(exitDone, "reserve", "-f", file)
	p.wantMembers(edgeHeld)
	if !strings.Contains(r.out, "5 addresses reserved for edge, 5 new") || !strings.Contains(r.err, ownerid.FileName) {
		t.Errorf("it says\n%s\n%s", r.out, r.err)
	}
	before := p.State()
	if r = p.wants(exitDone, "reserve", "-f", file); !strings.Contains(r.out, "0 new") || !p.State().Equal(before) {
		t.Errorf("the second run changed something, or says so:\n%s", r.out)
	}
	p.wants(exitDone, "release", "-f", file)
	p.wantMembers([]string{})
	p.wants(exitDone, "release", "-f", file)
}

func TestReserveBringsTheClaimsToAChangedPlan(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), "203.0.113.75-203.0.113.78", "203.0.113.77-203.0.113.78, 203.0.113.80", 1)
	moved = regexp.MustCompile(`ingress_pool: (.*)`).ReplaceAllString(moved, "ingress_pool: [$1]")
	if err := os.WriteFile(file, []byte(moved), 0o644); err != nil {
		t.Fatal(err)
	}
	r := p.wants(exitDifference, "status", "-f", file)
	for _, want := range []string{"203.0.113.75  claimed for ingress, and not in the plan", "203.0.113.80  in the plan for ingress, and not claimed"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("status lacks %q:\n%s", want, r.out)
		}
	}
	p.wants(exitDone, "reserve", "-f", file)
	p.wantMembers([]string{
		"203.0.113.77 edge ingress held", "203.0.113.78 edge ingress held", "203.0.113.79 edge kubeapi held", "203.0.113.80 edge ingress held",
	})
}

func TestReserveLosesToWhatIsThere(t *testing.T) {
	p := simulated(t, func(s *pvesim.State) {
		err := s.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 113, Node: "pve2", Config: map[string]string{
			"name": "db1", "net1": "virtio=BC:24:11:00:00:99,bridge=vmbr0,tag=1691", "ipconfig1": "ip=203.0.113.77/25",
		}})
		if err != nil {
			t.Fatal(err)
		}
		s.AddAlias(pvesim.ClusterScope, "printer", "203.0.113.75", "")
	})
	file := planFile(t)
	r := p.wants(exitTaken, "reserve", "-f", file, "-o", "json")
	var report reservation.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range report.Conflicts {
		got = append(got, c.Address+" "+c.Source)
	}
	want := []string{`203.0.113.75 alias dc/printer`, `203.0.113.77 VM 113 "db1" on pve2, net1, ipconfig1`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	p.wantMembers([]string{})
	p.wants(exitTaken, "status", "-f", file)

	// What only names an address may stay when the operator says so; what uses it not.
	r = p.wants(exitTaken, "reserve", "-f", file, "--accept", "alias dc/printer")
	if strings.Contains(r.out, "dc/printer") || !strings.Contains(r.out, "db1") {
		t.Errorf("conflicts:\n%s", r.out)
	}
	if r = p.wants(exitTaken, "reserve", "-f", file, "--accept", "alias dc/other"); !strings.Contains(r.err, "dc/other") {
		t.Errorf("what was accepted in vain is not named:\n%s", r.err)
	}
}

func TestReserveOfAnotherClusterAndOfTheSameName(t *testing.T) {
	p := simulated(t, nil)
	first, other, twin := planFile(t), planFile(t, "name: edge", "name: lab"), planFile(t)
	p.wants(exitDone, "reserve", "-f", first)
	for file, hint := range map[string]string{other: "choose another address", twin: "put its homeward.id beside"} {
		r := p.wants(exitTaken, "reserve", "-f", file)
		if !strings.Contains(r.out, "cluster edge (id ") || !strings.Contains(r.out, hint) {
			t.Errorf("it says\n%s", r.out)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), ownerid.FileName)); err == nil {
			t.Error("a loser that claimed nothing has an owner's id")
		}
		p.wants(exitUsage, "release", "-f", file)
		p.wantMembers(edgeHeld)
	}

	// The dead cluster's claims, once it is known that nothing uses them.
	id, err := ownerid.Load(filepath.Dir(first))
	if err != nil {
		t.Fatal(err)
	}
	p.wants(exitUsage, "release", "-f", other, "--owner", "0123456789abcdef")
	if err := p.Change(func(s *pvesim.State) error {
		return s.AddGuest(pvesim.Guest{Kind: pvesim.LXC, VMID: 120, Node: "pve1", Config: map[string]string{
			"hostname": "dns", "net0": "name=eth0,bridge=vmbr0,tag=1691,hwaddr=BC:24:11:00:00:98,ip=203.0.113.78/25",
		}})
	}); err != nil {
		t.Fatal(err)
	}
	if r := p.wants(exitTaken, "release", "-f", other, "--owner", id); !strings.Contains(r.out, `CT 120 "dns" on pve1`) {
		t.Errorf("it says\n%s", r.out)
	}
	p.wantMembers(edgeHeld)
	if err := p.Change(func(s *pvesim.State) error {
		return s.EditGuest(120, func(g *pvesim.Guest) { g.Config["net0"] = "name=eth0,bridge=vmbr1" })
	}); err != nil {
		t.Fatal(err)
	}
	p.wants(exitDone, "release", "-f", other, "--owner", id)
	p.wantMembers([]string{})
	p.wants(exitDone, "reserve", "-f", other)
}

func TestReserveWithoutAllRights(t *testing.T) {
	p := simulated(t, func(s *pvesim.State) {
		err := s.AddToken(pvesim.Token{ID: "weak@pve!weak", Secret: "11111111-2222-3333-4444-555555555555", Grants: []pvesim.Grant{
			{Path: "/vms", Privileges: []string{"VM.Audit"}, Propagate: true},
			{Path: "/", Privileges: []string{"Sys.Audit"}},
			{Path: "/sdn/zones", Privileges: []string{"SDN.Audit"}, Propagate: true},
			{Path: "/pool/" + segmentRecord, Privileges: []string{"Pool.Audit", "Pool.Allocate"}, Propagate: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
	})
	file := planFile(t)
	t.Setenv(load.EnvTokenID, "weak@pve!weak")
	t.Setenv(load.EnvTokenSecret, "11111111-2222-3333-4444-555555555555")
	p.wants(exitDone, "proxmox", "permissions", "-f", file, "--check")
	p.wants(exitDone, "proxmox", "permissions", "-f", file, "--check", "--for", "status", "-o", "json")
	p.wants(exitFailed, "proxmox", "permissions", "-f", file, "--check", "--for", "guests")
	r := p.wants(exitDone, "reserve", "-f", file)
	if len(p.members()) != 0 || len(p.State().Pools()) == 0 {
		t.Errorf("it claimed elsewhere:\n%s", r.out)
	}
	if s := p.wants(exitDone, "status", "-f", file); !strings.Contains(s.out, "(pools)") {
		t.Errorf("status:\n%s", s.out)
	}
	p.wants(exitDone, "release", "-f", file)
}

func TestFailuresAreJSONForScripts(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	for name, c := range map[string]struct {
		code exitCode
		args []string
	}{
		"release without an owner": {exitUsage, []string{"release", "-f", file, "-o", "json"}},
		"owner that owns nothing":  {exitUsage, []string{"release", "-f", file, "-o", "json", "--owner", "0123456789abcdef"}},
		"plan":                     {exitUsage, []string{"status", "-f", planFile(t, "vlan: 1691", "vlan: 5000"), "-o", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.wants(c.code, c.args...)
			var report struct {
				Errors []struct{ Message string }
			}
			if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Errors) == 0 || report.Errors[0].Message == "" {
				t.Errorf("%v: %s", err, r.out)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		t.Setenv(load.EnvURL, "https://127.0.0.1:1")
		r := p.wants(exitUnknown, "reserve", "-f", file, "-o", "json")
		if !strings.Contains(r.out, `"errors"`) {
			t.Errorf("it says %s", r.out)
		}
	})
}

func TestLookReadsThisHostsFiles(t *testing.T) {
	simulated(t, nil)
	pve := t.TempDir()
	for name, text := range map[string]string{
		"nodes/pve2/qemu-server/113.conf": "name: db1\nnet1: virtio=BC:24:11:00:00:99,bridge=vmbr0,tag=1691\nipconfig1: ip=203.0.113.77/25\n",
		"nodes/pve1/lxc/.keep":            "",
		"corosync.conf":                   "",
	} {
		path := filepath.Join(pve, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	tool := &tool{streams: streams{out: &out, err: &errs}, logFormat: "text"}
	if err := tool.startLog(); err != nil {
		t.Fatal(err)
	}
	f := &lookFlags{file: planFile(t), output: "table", local: true, changed: func(string) bool { return false }}
	result, err := tool.read(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tool.connect(f, result)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Look(t.Context(), reservation.LookOptions{Local: func() (*inventory.Snapshot, error) {
		return pvefs.ReadDir("pve1", pve, t.TempDir())
	}})
	if err != nil {
		t.Fatal(err)
	}
	taken := l.Taken(s.Owner)
	if len(taken) != 1 || taken[0].Source != `VM 113 "db1" on pve2, net1, ipconfig1` {
		t.Errorf("taken: %+v", taken)
	}
	for _, u := range l.Survey.Unread {
		if strings.Contains(u.Source, "interfaces") {
			t.Errorf("unread although the API has them: %+v", u)
		}
	}
}

func TestReserveProbeFromElsewhereProvesNothing(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	r := p.wants(exitUnknown, "reserve", "-f", file, "--probe", "--interface", "nosuch0")
	if !strings.Contains(r.out, "cannot be asked from here") || !strings.Contains(r.out, "nosuch0") {
		t.Errorf("it says\n%s", r.out)
	}
	p.wantMembers([]string{})
	p.wants(exitDone, "reserve", "-f", file, "--probe", "--interface", "nosuch0", "--allow-partial")
	p.wantMembers(edgeHeld)
}

func TestReserveIsRefusedByItsCommandLine(t *testing.T) {
	file := planFile(t)
	for name, args := range map[string][]string{
		"no token":       {"reserve", "-f", file},
		"wait":           {"reserve", "-f", file, "--wait", "0s"},
		"replug alone":   {"reserve", "-f", file, "--allow-replug"},
		"format":         {"status", "-f", file, "-o", "xml"},
		"live and local": {"status", "-f", file, "--live", "--local"},
		"no owner":       {"release", "-f", file},
		"argument":       {"reserve", "-f", file, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := homeward(t, args...); r.code != int(exitUsage) || r.err == "" {
				t.Errorf("returned %d: %s", r.code, r.err)
			}
		})
	}
}

// A plan that grew too large to reserve still gives back what was claimed.
func TestReleaseOfAPlanThatGrewTooLarge(t *testing.T) {
	p := simulated(t, nil)
	file := planFile(t)
	p.wants(exitDone, "reserve", "-f", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.NewReplacer("203.0.113.0/25", "203.0.0.0/16", "203.0.113.75-203.0.113.78", "203.0.64.0-203.0.68.0").Replace(string(text))
	if err := os.WriteFile(file, []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	p.wants(exitUsage, "reserve", "-f", file)
	p.wantMembers(edgeHeld)
	p.wants(exitDone, "release", "-f", file)
	p.wantMembers([]string{})
}

// On a segment that is a VNet of a vlan zone too, the VNet's IPAM takes the claims
// however the plan spells it, and what stands there is respected.
func TestReserveClaimsInTheIPAMOfABridgesVNet(t *testing.T) {
	p := simulated(t, func(st *pvesim.State) {
		st.AddZone("lz", map[string]string{"type": "vlan", "bridge": "vmbr0", "ipam": "pve"})
		st.AddVNet("vl1", "lz", 1691)
		if err := st.AddSubnet("vl1", "203.0.113.0/25", ""); err != nil {
			t.Fatal(err)
		}
		if err := st.AddIP("lz", "203.0.113.0/25", "203.0.113.76", "BC:24:11:11:11:11", "", 0); err != nil {
			t.Fatal(err)
		}
	})
	for _, spelt := range []string{"bridge: vmbr0\n      vlan: 1691", "vnet: vl1"} {
		file := planFile(t, "bridge: vmbr0\n      vlan: 1691", spelt)
		r := p.wants(exitTaken, "reserve", "-f", file)
		if !strings.Contains(r.out, "203.0.113.76") {
			t.Errorf("%s: %s", spelt, r.out)
		}
		p.wantMembers([]string{})
	}
}
