package pvesim_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

// fullState has something of everything.
func fullState(t testing.TB) *pvesim.State {
	t.Helper()
	st := pvesim.NewState()
	st.AddZone("lan", map[string]string{"type": "vlan", "bridge": "vmbr0", "ipam": "pve"})
	st.AddVNet("blue", "lan", 30)
	st.AddPool("homeward", "ledger")
	st.AddSet(pvesim.ClusterScope, "lab", "a set", pvesim.Member{CIDR: "192.0.2.1", Comment: "mine"}, pvesim.Member{CIDR: "192.0.2.0/28", NoMatch: true})
	st.AddAlias(pvesim.ClusterScope, "office", "198.51.100.0/24", "")
	st.SetOption(pvesim.NodeScope("pve1"), "enable", "0")
	for _, err := range []error{
		st.AddSubnet("blue", "192.0.2.0/24", "192.0.2.1"),
		st.AddIP("lan", "192.0.2.0/24", "192.0.2.7", "BC:24:11:00:00:07", "db", 107),
		st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 100, Node: "pve1", Pool: "homeward", Config: map[string]string{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}}),
		st.AddToken(pvesim.Token{ID: "ops@pve!xx", Secret: "s", Grants: []pvesim.Grant{{Path: "/", Role: "PVEAuditor", Propagate: true}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func TestCopiesAreApart(t *testing.T) {
	st := fullState(t)
	before := st.Digest()
	for name, edit := range map[string]func(*pvesim.State) error{
		"guest": func(s *pvesim.State) error { return s.EditGuest(100, func(g *pvesim.Guest) { g.Config["net0"] = "" }) },
		"node": func(s *pvesim.State) error {
			return s.EditNode("pve1", func(n *pvesim.Node) { n.Interfaces[0].MTU = 9000 })
		},
		"set":    func(s *pvesim.State) error { s.AddSet(pvesim.ClusterScope, "lab", ""); return nil },
		"no set": func(s *pvesim.State) error { s.DropSet(pvesim.ClusterScope, "lab"); return nil },
		"pool":   func(s *pvesim.State) error { s.AddPool("homeward", "else"); return nil },
		"ipam":   func(s *pvesim.State) error { return s.AddIP("lan", "192.0.2.0/24", "192.0.2.8", "", "", 0) },
		"sdn":    func(s *pvesim.State) error { s.AddVNet("red", "lan", 31); return nil },
		"token":  func(s *pvesim.State) error { return s.AddToken(pvesim.Token{ID: "ops@pve!xx", Secret: "other"}) },
		"quorum": func(s *pvesim.State) error { s.SetQuorate(false); return nil },
		"firewall": func(s *pvesim.State) error {
			s.SetFirewall(pvesim.GuestScope(100), "[OPTIONS]\n\nenable: 1\n")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := st.Clone()
			if !other.Equal(st) {
				t.Error("a copy is not equal")
			}
			if err := edit(other); err != nil {
				t.Fatal(err)
			}
			if other.Equal(st) {
				t.Error("a change does not show")
			}
			if st.Digest() != before {
				t.Error("the change of a copy changes the original")
			}
		})
	}
}

func TestEqualAgainAfterUndoing(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := inProcess(t, s, "pve1")
	fresh := s.State()
	c.must("POST", sets, "name", "lab")
	c.must("POST", sets+"/lab", "cidr", "192.0.2.1")
	c.must("POST", "/pools", "poolid", "x")
	c.must("DELETE", sets+"/lab", "force", "1")
	c.must("DELETE", "/pools", "poolid", "x")
	if !s.State().Equal(fresh) {
		t.Error("what was undone still shows")
	}
	c.must("POST", sets, "name", "lab")
	s.SetState(fresh)
	if got := s.State().Sets(pvesim.ClusterScope); len(got) != 0 {
		t.Errorf("sets %v after the state was set back", got)
	}
}

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if _, err := pvesim.LoadState(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	st := fullState(t)
	if err := st.Save(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file %v %v", info, err)
	}
	again, err := pvesim.LoadState(path)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Equal(st) {
		t.Error("what was saved is not what is loaded")
	}
	s := newSim(t, pvesim.Options{State: again})
	if got := column(inProcess(t, s, "pve1").as("ops@pve!xx", "s").must("GET", sets+"/lab"), "cidr"); !cmp.Equal(got, []string{"192.0.2.0/28", "192.0.2.1"}) {
		t.Errorf("members %v", got)
	}
}

func TestStateFilesThatAreNone(t *testing.T) {
	good, err := json.Marshal(fullState(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"another kind":      {"homeward proxmox simulator state 1", "homeward proxmox simulator state 2"},
		"no guest's node":   {`"node":"pve1"`, `"node":"pve7"`},
		"no guest's pool":   {`"pool":"homeward"`, `"pool":"elsewhere"`},
		"another name":      {`"name":"pve2"`, `"name":"pve8"`},
		"another token":     {`"id":"ops@pve!xx"`, `"id":"ops@pve!yy"`},
		"a role that isn't": {"PVEAuditor", "Auditor"},
		"no JSON":           {`"kind"`, `kind`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(good), edit[0], edit[1], 1)
			if text == string(good) {
				t.Fatalf("the state has no %s", edit[0])
			}
			if err := new(pvesim.State).UnmarshalJSON([]byte(text)); err == nil {
				t.Error("it is taken")
			}
		})
	}
}

// FuzzState wants that no file makes the simulator fall, and that what it takes it
// writes as it was.
func FuzzState(f *testing.F) {
	good, err := json.Marshal(fullState(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"kind":"homeward proxmox simulator state 1","nodes":{"a":{"name":"a"}},"tokens":{},"sdn":{"config":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var st pvesim.State
		if st.UnmarshalJSON(text) != nil {
			return
		}
		again, err := json.Marshal(&st)
		if err != nil {
			t.Fatal(err)
		}
		var other pvesim.State
		if err := other.UnmarshalJSON(again); err != nil || !other.Equal(&st) {
			t.Errorf("written and read it is another: %v", err)
		}
		c := inProcess(t, newSim(t, pvesim.Options{State: &st}), "pve1")
		for _, path := range []string{"/cluster/resources", "/cluster/sdn/vnets?pending=1", "/cluster/sdn/ipams/pve/status", "/access/permissions", "/access/acl", sets} {
			c.do("GET", path)
		}
	})
}
