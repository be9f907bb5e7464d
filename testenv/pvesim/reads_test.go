package pvesim

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everything is a cluster with one of each thing that has a path of its own.
func everything(t *testing.T) *Sim {
	t.Helper()
	st := NewState()
	st.AddZone("lan", map[string]string{"type": "vlan", "bridge": "vmbr0", "ipam": "pve"})
	st.AddVNet("blue", "lan", 30)
	st.AddPool("lab", "")
	wall := "[ALIASES]\n\nthing 192.0.2.1\n\n[IPSET thing]\n\n192.0.2.1\n\n[RULES]\n\nIN ACCEPT\n\n[group web]\n\nIN ACCEPT\n\n"
	for _, scope := range []string{ClusterScope, NodeScope("pve1"), GuestScope(100), GuestScope(200)} {
		st.SetFirewall(scope, wall)
	}
	for _, err := range []error{
		st.AddSubnet("blue", "192.0.2.0/24", "192.0.2.1"),
		st.AddGuest(Guest{Kind: QEMU, VMID: 100, Node: "pve1", Running: true, Agent: true, Pool: "lab", Config: map[string]string{"agent": "1", "net0": "virtio=BC:24:11:00:00:01,bridge=blue"}}),
		st.AddGuest(Guest{Kind: LXC, VMID: 200, Node: "pve1", Running: true, Config: map[string]string{"net0": "name=eth0,bridge=vmbr0"}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Options{State: st})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask makes a request as the token that may do all.
func (s *Sim) ask(method, path string) *outbound {
	return s.exchange("pve1", &inbound{method: method, authorization: "PVEAPIToken=" + allTokenID + "=" + allSecret, url: &url.URL{Path: apiRoot + path}})
}

func TestEveryReadAnswers(t *testing.T) {
	s := everything(t)
	names := strings.NewReplacer("{node}", "pve1", "{name}", "thing", "{cidr}", "192.0.2.1", "{pos}", "0", "{group}", "web", "{iface}", "vmbr0",
		"{zone}", "lan", "{vnet}", "blue", "{subnet}", "lan-192.0.2.0-24", "{ipam}", "pve", "{poolid}", "lab",
		"{upid}", upid("pve1", "qmconfig", "100", allTokenID))
	before := s.State()
	for _, m := range s.schema.methods {
		if m.Method != "GET" {
			continue
		}
		vmid := "100"
		if strings.Contains(m.Path, "/lxc/") {
			vmid = "200"
		}
		path := strings.ReplaceAll(names.Replace(m.Path), "{vmid}", vmid)
		if out := s.ask("GET", path); out.status != 200 || string(out.body) == `{"data":null}` {
			t.Errorf("GET %s: %d %s: %s", path, out.status, out.reason, out.body)
		}
	}
	if !s.State().Equal(before) {
		t.Error("a read changes the state")
	}
	if got := s.Unknown(); len(got) != 0 {
		t.Errorf("unknown: %v", got)
	}
}

func TestEveryWriteNeedsARight(t *testing.T) {
	s := everything(t)
	if err := s.Change(func(st *State) error { return st.AddToken(Token{ID: "ops@pve!none", Secret: "x"}) }); err != nil {
		t.Fatal(err)
	}
	before := s.State()
	none, _ := before.tokens.get("ops@pve!none")
	for _, m := range s.schema.methods {
		if m.Method == "GET" || m.User == "all" {
			continue // what all may ask looks at rights itself
		}
		c := &call{sim: s, node: "pve1", method: m, token: none, state: before, params: map[string]string{"node": "pve1", "vmid": "100", "zone": "lan", "vnet": "blue", "poolid": "lab"}}
		if err, ok := m.pass(c).(*problem); !ok || err.status != 403 {
			t.Errorf("%s lets a token without rights pass: %v", m.name(), err)
		}
	}
}

func TestGuestsOfPools(t *testing.T) {
	s := everything(t)
	move := func(params map[string]string) error {
		token, _ := s.State().tokens.get(allTokenID)
		c := &call{sim: s, node: "pve1", token: token, params: params, lists: map[string][]string{}}
		c.method = s.schema.find("PUT", "/pools", params)
		_, err := s.answer(c, RefuseNot)
		return err
	}
	if err := move(map[string]string{"poolid": "lab", "vms": "200"}); err != nil {
		t.Fatal(err)
	}
	for text, params := range map[string]map[string]string{
		"500 update pools failed: VM 200 is already a pool member": {"poolid": "lab", "vms": "200"},
		"500 update pools failed: VM 300 does not exist":           {"poolid": "lab", "vms": "300"},
		"500 update pools failed: pool 'gone' does not exist":      {"poolid": "gone", "vms": "200"},
	} {
		if err := move(params); err == nil || err.Error() != text {
			t.Errorf("%v: %v, want %s", params, err, text)
		}
	}
	if err := move(map[string]string{"poolid": "lab", "vms": "200", "delete": "1"}); err != nil {
		t.Fatal(err)
	}
	g, _ := s.State().Guest(200)
	if diff := cmp.Diff("", g.Pool); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkThousandGuests is the two requests of which an inventory is made.
func BenchmarkThousandGuests(b *testing.B) {
	st := NewState()
	for i := range 1000 {
		if err := st.AddGuest(Guest{Kind: QEMU, VMID: 100 + i, Node: "pve1", Config: map[string]string{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30", "ipconfig0": "ip=192.0.2.5/24"}}); err != nil {
			b.Fatal(err)
		}
	}
	s, err := New(Options{State: st, WithoutLog: true})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.ask("GET", "/cluster/resources")
		s.ask("GET", "/nodes/pve1/qemu/500/config")
	}
}
