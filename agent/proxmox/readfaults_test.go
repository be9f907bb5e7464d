package proxmox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger/inventory"
	"homeward/testenv/pvesim"
)

// hook is a simulator's, with a switch.
type hook struct {
	mu sync.Mutex
	f  func(pvesim.Request) pvesim.Fault
}

func (h *hook) set(f func(pvesim.Request) pvesim.Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.f = f
}

func (h *hook) call(r pvesim.Request) pvesim.Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f == nil {
		return pvesim.Fault{}
	}
	return h.f(r)
}

func TestReadOfACLusterThatMoves(t *testing.T) {
	configs := func(s *inventory.Snapshot) map[int]string {
		out := map[int]string{}
		for _, g := range s.Guests {
			out[g.VMID] = g.Node
		}
		return out
	}
	for name, c := range map[string]struct {
		when   string // the path at which it happens
		change func(*pvesim.State) error
		want   map[int]string
		unread string
	}{
		"a guest that migrates": {"/nodes/pve2/qemu/113/pending", func(st *pvesim.State) error {
			return st.EditGuest(113, func(g *pvesim.Guest) { g.Node = "pve3" })
		}, map[int]string{113: "pve3", 114: "pve3", 115: "pve3", 200: "pve1", 201: "pve1"}, ""},
		"a guest that is deleted": {"/nodes/pve2/qemu/113/pending", func(st *pvesim.State) error { return dropGuest(st, 113) },
			map[int]string{114: "pve3", 115: "pve3", 200: "pve1", 201: "pve1"}, ""},
		"a set that is deleted": {"/cluster/firewall/ipset/blocked", func(st *pvesim.State) error { st.DropSet("cluster", "blocked"); return nil },
			map[int]string{113: "pve2", 114: "pve3", 115: "pve3", 200: "pve1", 201: "pve1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hook{}
			sim := furnished(t, pvesim.Options{Hook: h.call})
			var once sync.Once
			h.set(func(r pvesim.Request) pvesim.Fault {
				if r.Path == c.when {
					once.Do(func() {
						if err := sim.Change(c.change); err != nil {
							t.Error(err)
						}
					})
				}
				return pvesim.Fault{}
			})
			s := read(t, sim.client("pve1"), ReadOptions{})
			if diff := cmp.Diff(c.want, configs(s)); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(unread(s), "\n"); got != c.unread {
				t.Errorf("unread: %s", got)
			}
		})
	}
	t.Run("a node that is offline", func(t *testing.T) {
		sim := furnished(t, pvesim.Options{})
		if err := sim.Change(func(st *pvesim.State) error {
			return st.EditNode("pve3", func(n *pvesim.Node) { n.Online = false })
		}); err != nil {
			t.Fatal(err)
		}
		s := read(t, sim.client("pve1"), ReadOptions{})
		want := []string{
			"node pve3, its interfaces: the node is offline",
			`the guests on pve3: the node is offline: VM 114 "mute" on pve3, VM 115 "off" on pve3`,
		}
		if diff := cmp.Diff(want, unread(s)); diff != "" {
			t.Error(diff)
		}
		for _, r := range sim.Log() {
			if strings.HasPrefix(r.Path, "/nodes/pve3") {
				t.Errorf("the node was asked: %s", r.Path)
			}
		}
	})
	t.Run("a server that cannot tell who has a port", func(t *testing.T) {
		h := &hook{}
		sim := furnished(t, pvesim.Options{Hook: h.call})
		want := unread(read(t, sim.client("pve1"), ReadOptions{}))
		h.set(func(r pvesim.Request) pvesim.Fault {
			if strings.HasSuffix(r.Path, "/bridges") {
				return pvesim.Fault{Answer: pvesim.AnswerHTML}
			}
			return pvesim.Fault{}
		})
		if diff := cmp.Diff(want, unread(read(t, sim.client("pve1"), ReadOptions{}))); diff != "" {
			t.Errorf("unread (-want +got):\n%s", diff)
		}
	})
	t.Run("a node that hangs", func(t *testing.T) {
		h := &hook{}
		sim := furnished(t, pvesim.Options{Hook: h.call})
		if err := sim.Change(func(st *pvesim.State) error {
			for id := 300; id < 400; id++ {
				if err := st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: id, Node: "pve3", Config: map[string]string{"name": "x"}}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		h.set(func(r pvesim.Request) pvesim.Fault {
			if strings.HasPrefix(r.Path, "/nodes/pve3") {
				return pvesim.Fault{Answer: pvesim.AnswerTimedOut, Apply: pvesim.ApplyNever}
			}
			return pvesim.Fault{}
		})
		s := read(t, sim.client("pve1"), ReadOptions{})
		if len(s.Unread) != 103 || len(s.Guests) != 3 {
			t.Errorf("%d unread, %d guests", len(s.Unread), len(s.Guests))
		}
		asked := 0
		for _, r := range sim.Log() {
			if strings.HasPrefix(r.Path, "/nodes/pve3") {
				asked++
			}
		}
		if asked > DefaultInFlight {
			t.Errorf("the node was asked %d times, each of which takes half a minute", asked)
		}
	})
}

// TestReadWithoutStatistics is a cluster whose nodes send none, so that the lists
// know neither who is online nor who runs, nor names.
func TestReadWithoutStatistics(t *testing.T) {
	api := byPath{
		"/access/permissions": `{"/":{"Sys.Audit":1,"VM.Audit":1,"SDN.Audit":1}}`,
		"/nodes":              `[{"node":"pve1","status":"unknown"},{"node":"pve2","status":"offline"}]`,
		"/cluster/resources": `[
			{"type":"qemu","vmid":101,"node":"pve1","status":"unknown"},{"type":"qemu","vmid":102,"node":"pve1","status":"unknown"},
			{"type":"lxc","vmid":103,"node":"pve1","status":"unknown"},{"type":"lxc","vmid":104,"node":"pve2","status":"unknown"}]`,
		"/nodes/pve1/qemu/101/pending":        `[{"key":"name","value":"a"},{"key":"template","value":1}]`,
		"/nodes/pve1/qemu/102/pending":        `[{"key":"name","value":"b"}]`,
		"/nodes/pve1/lxc/103/pending":         `[{"key":"hostname","value":"c"}]`,
		"/nodes/pve1/qemu/101/status/current": `{"status":"stopped"}`,
		"/nodes/pve1/qemu/102/status/current": `{"status":"running"}`,
		"/nodes/pve1/network":                 `[]`,
	}
	for _, empty := range []string{"/cluster/sdn/zones", "/cluster/sdn/vnets", "/cluster/sdn/ipams/pve/status", "/cluster/firewall/aliases", "/cluster/firewall/ipset", "/nodes/pve1/qemu/101/firewall/ipset", "/nodes/pve1/qemu/102/firewall/ipset"} {
		api[empty] = `[]`
	}
	s := read(t, api, ReadOptions{})
	want := []inventory.Guest{
		{Kind: inventory.QEMU, VMID: 101, Name: "a", Node: "pve1", Template: true, Config: map[string]string{"name": "a"}, Pending: map[string]string{}},
		{Kind: inventory.QEMU, VMID: 102, Name: "b", Node: "pve1", Running: true, Config: map[string]string{"name": "b"}, Pending: map[string]string{}},
	}
	if diff := cmp.Diff(want, s.Guests); diff != "" {
		t.Error(diff)
	}
	if got := unread(s); len(got) != 3 || !strings.HasPrefix(got[0], "CT 103 on pve1: ") || !strings.HasPrefix(got[2], "the guests on pve2: ") {
		t.Errorf("unread: %q", got)
	}
}

func TestReadEnds(t *testing.T) {
	h := &hook{}
	sim := furnished(t, pvesim.Options{Hook: h.call})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	h.set(func(r pvesim.Request) pvesim.Fault {
		if strings.HasSuffix(r.Path, "/pending") {
			cancel(stop)
		}
		return pvesim.Fault{}
	})
	if _, err := Read(ctx, sim.client("pve1"), ReadOptions{}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestReadOfCloserGuests(t *testing.T) {
	sim := furnished(t, pvesim.Options{})
	s := read(t, sim.client("pve1"), ReadOptions{Live: true, Closer: func(s *inventory.Snapshot) []int {
		if len(s.Guests) != 5 || len(s.Nodes) != 3 {
			t.Errorf("asked with %d guests and %d nodes", len(s.Guests), len(s.Nodes))
		}
		return []int{200}
	}})
	var asked []string
	for _, r := range sim.Log() {
		if strings.Contains(r.Path, "/firewall/ipset") && strings.HasPrefix(r.Path, "/nodes") || strings.Contains(r.Path, "interfaces") {
			asked = append(asked, r.Path)
		}
	}
	slices.Sort(asked)
	if diff := cmp.Diff([]string{"/nodes/pve1/lxc/200/firewall/ipset", "/nodes/pve1/lxc/200/interfaces"}, asked); diff != "" {
		t.Error(diff)
	}
	if len(s.Unread) > 0 {
		t.Errorf("unread: %v", s.Unread)
	}
}

func TestReadOfHostileAnswers(t *testing.T) {
	for name, fault := range map[string]pvesim.Fault{
		"a page":      {Answer: pvesim.AnswerHTML},
		"half":        {Answer: pvesim.AnswerTruncated},
		"wrong types": {Answer: pvesim.AnswerWrongTypes},
		"elsewhere":   {Answer: pvesim.AnswerRedirect, Location: "https://127.0.0.1:1/"},
		"nothing":     {Answer: pvesim.AnswerDrop},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hook{}
			sim := furnished(t, pvesim.Options{Hook: h.call})
			client := sim.client("pve1")
			want := read(t, client, ReadOptions{})
			for at := 1; ; at++ {
				count, ports := 0, false
				h.set(func(r pvesim.Request) pvesim.Fault {
					if count++; count == at {
						ports = strings.HasSuffix(r.Path, "/bridges") // see reader.ports
						return fault
					}
					return pvesim.Fault{}
				})
				s, err := Read(t.Context(), client, ReadOptions{})
				if count < at {
					break
				}
				// A connection that just ends is tried again by the HTTP library.
				again := fault.Answer == pvesim.AnswerDrop && cmp.Equal(want, s, values)
				if err == nil && len(s.Unread) == len(want.Unread) && !again && !ports {
					t.Errorf("request %d: nothing is said to be unread", at)
				}
			}
		})
	}
}
