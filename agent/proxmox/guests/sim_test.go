package guests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/netplan"
	"homeward/testenv/pvesim"
)

// simulated is a simulated cluster with the worker's guest, and a real client.
type simulated struct {
	*pvesim.Sim
	api    proxmox.API
	writes atomic.Int64
	// fault is asked about the nth request that writes, from zero.
	fault func(n int64) pvesim.Fault
}

const workerFirewall = `[OPTIONS]

enable: 1
policy_in: ACCEPT

[RULES]

IN ACCEPT -p tcp -dport 22 -log nolog # jump host
IN ACCEPT -p tcp -dport 9999 -log nolog # homeward/1 owner=0123456789abcdef cluster=edge for=old/office
|IN DROP -p udp # not now

`

func simulate(t *testing.T) *simulated {
	t.Helper()
	st := pvesim.NewState()
	for _, g := range []pvesim.Guest{
		{Kind: pvesim.QEMU, VMID: 201, Node: "pve1", Running: true, Config: map[string]string{
			"name": "edge-worker-01", "memory": "4096",
			"net0": "virtio=02:00:00:00:00:03,bridge=vmbr1,firewall=1,queues=4",
			"net1": "virtio=02:00:00:00:00:04,bridge=vmbr0,rate=10,tag=1690",
		}},
		{Kind: pvesim.QEMU, VMID: 300, Node: "pve1", Config: map[string]string{"name": "db1", "net0": "virtio=BC:24:11:00:00:77,bridge=vmbr0"}},
	} {
		if err := st.AddGuest(g); err != nil {
			t.Fatal(err)
		}
	}
	st.SetFirewall(pvesim.GuestScope(201), workerFirewall)
	s := &simulated{}
	sim, err := pvesim.New(pvesim.Options{State: st, Hook: s.hook})
	if err != nil {
		t.Fatal(err)
	}
	s.Sim = sim
	site, err := sim.NewSite()
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Listen("127.0.0.1:0", "pve1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, server.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	id, secret := st.FirstToken()
	client, err := proxmox.New(proxmox.Options{Access: netplan.ProxmoxAccess{
		ProxmoxSpec: netplan.ProxmoxSpec{URL: server.URL(), TLSVerify: ca}, TokenID: id, TokenSecret: netplan.NewSecret(secret),
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.api = client
	return s
}

func (s *simulated) hook(r pvesim.Request) pvesim.Fault {
	if r.Method == "GET" {
		return pvesim.Fault{}
	}
	n := s.writes.Add(1) - 1
	if s.fault == nil {
		return pvesim.Fault{}
	}
	return s.fault(n)
}

func (s *simulated) apply(t *testing.T, d Desired) (Result, error) {
	r := run{api: s.api, at: At{"pve1", 201}, d: d, tries: make(map[string]int), pause: noPause}
	err := r.all(t.Context())
	return r.result, err
}

func TestSimulatorEndState(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	s := simulate(t)
	other, _ := s.State().Guest(300)
	result, err := s.apply(t, d)
	if err != nil {
		t.Fatalf("%v\ndone: %v", err, result.Done)
	}
	golden(t, "simulator.fw", s.State().Firewall(pvesim.GuestScope(201)))
	g, _ := s.State().Guest(201)
	if got, want := g.Config["net1"], "virtio=02:00:00:00:00:04,bridge=vmbr0,firewall=1,rate=10,tag=1691"; got != want {
		t.Errorf("net1 is %s, want %s", got, want)
	}
	if len(s.Replugs()) > 0 || len(s.Unknown()) > 0 || s.BadTokens() > 0 {
		t.Errorf("re-plugged %v, unknown requests %v, %d bad tokens", s.Replugs(), s.Unknown(), s.BadTokens())
	}
	if now, _ := s.State().Guest(300); !cmp.Equal(other, now) || s.State().Firewall(pvesim.GuestScope(300)) != "" {
		t.Error("another guest was changed")
	}
	before, writes := s.State(), s.writes.Load()
	if again, err := s.apply(t, d); err != nil || len(again.Done) > 0 || s.writes.Load() != writes || !before.Equal(s.State()) {
		t.Errorf("second run: %v: %v", err, again.Done)
	}
}

// A member of the plan that somebody made an exception is reported, and everything
// else is done all the same; one of ours is put right.
func TestSimulatorExceptionInTheSet(t *testing.T) {
	for name, c := range map[string]struct {
		comment string
		items   bool
	}{
		"of somebody else": {"# ops", true},
		"of ours":          {"# homeward/1 owner=0123456789abcdef cluster=edge for=kubeapi", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t)
			p := edge(t)
			st := s.State()
			st.SetFirewall(pvesim.GuestScope(201), strings.Replace(workerFirewall, "[RULES]",
				"[IPSET ipfilter-net1]\n\n!"+p.KubeAPI.VIP.String()+" "+c.comment+"\n\n[RULES]", 1))
			s.SetState(st)
			d := For(p, p.Machines[1], owner)
			for range 2 {
				got, err := s.apply(t, d)
				if err != nil {
					t.Fatal(err)
				}
				said := strings.Contains(text(Difference{Items: got.Items}), "as an exception (nomatch)")
				if len(got.Left) > 0 || said != c.items {
					t.Errorf("left %v, items %v", got.Left, got.Items)
				}
			}
		})
	}
}

// TestSimulatorUnknownOutcomes lets each write in turn end in a 596 or a dropped
// connection, made or not.
func TestSimulatorUnknownOutcomes(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	whole := simulate(t)
	if _, err := whole.apply(t, d); err != nil {
		t.Fatal(err)
	}
	total := whole.writes.Load()
	if total < 15 {
		t.Fatalf("only %d writes", total)
	}
	for k := range total {
		for _, fault := range []pvesim.Fault{
			{Apply: pvesim.ApplyNow, Answer: pvesim.AnswerDrop}, {Apply: pvesim.ApplyNever, Answer: pvesim.AnswerTimedOut},
			{Refuse: pvesim.RefuseLock},
		} {
			s := simulate(t)
			s.fault = func(n int64) pvesim.Fault {
				if n == k {
					return fault
				}
				return pvesim.Fault{}
			}
			if result, err := s.apply(t, d); err != nil {
				t.Fatalf("write %d, %+v: %v\ndone: %v", k, fault, err, result.Done)
			}
			if diff := cmp.Diff(whole.State().Firewall("guest/201"), s.State().Firewall("guest/201")); diff != "" {
				t.Fatalf("write %d, %+v: (-whole +this)\n%s", k, fault, diff)
			}
		}
	}
}

// TestSimulatorLateWrite: a write that a hung node makes only after it was made
// again is mended by the next run.
func TestSimulatorLateWrite(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	whole := simulate(t)
	if _, err := whole.apply(t, d); err != nil {
		t.Fatal(err)
	}
	for k := range whole.writes.Load() {
		s := simulate(t)
		s.fault = func(n int64) pvesim.Fault {
			if n == k {
				return pvesim.Fault{Apply: pvesim.ApplyLater, Answer: pvesim.AnswerTimedOut}
			}
			return pvesim.Fault{}
		}
		if _, err := s.apply(t, d); err != nil {
			t.Fatalf("write %d late: %v", k, err)
		}
		s.Settle()
		if _, err := s.apply(t, d); err != nil {
			t.Fatalf("write %d late, rerun: %v", k, err)
		}
		got := strings.Split(s.State().Firewall("guest/201"), "\n")
		want := strings.Split(whole.State().Firewall("guest/201"), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("write %d late: (-whole +this)\n%s", k, diff)
		}
	}
}

func TestSimulatorSurroundings(t *testing.T) {
	s := simulate(t)
	if err := s.Change(func(st *pvesim.State) error {
		st.SetOption("cluster", "enable", "0")
		st.SetOption(pvesim.NodeScope("pve2"), "enable", "0")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	nodes := []inventory.Node{{Name: "pve1", Online: true}, {Name: "pve2", Online: true}, {Name: "pve3"}}
	got, err := ReadSurroundings(t.Context(), s.api, nodes)
	if err != nil || len(got.Unread) > 0 {
		t.Fatal(err, got.Unread)
	}
	if got.Datacenter["enable"] != "0" || got.Hosts["pve2"]["enable"] != "0" || got.Hosts["pve3"] != nil {
		t.Errorf("datacenter %v, hosts %v", got.Datacenter, got.Hosts)
	}
}
