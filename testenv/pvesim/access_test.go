package pvesim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

// withTokens gives a state with a token for each set of grants, named by it.
func withTokens(t testing.TB, grants map[string][]pvesim.Grant) *pvesim.State {
	t.Helper()
	st := pvesim.NewState()
	for name, list := range grants {
		if err := st.AddToken(pvesim.Token{ID: "ops@pve!" + name, Secret: "s-" + name, Grants: list}); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func TestTokens(t *testing.T) {
	var slept time.Duration
	s := newSim(t, pvesim.Options{Times: pvesim.Times{BadToken: 3 * time.Second}, Sleep: func(d time.Duration) { slept += d }})
	c := inProcess(t, s, "pve1")
	c.must("GET", "/version")
	if slept != 0 {
		t.Errorf("a good token waits %v", slept)
	}
	c.as("root@pam!homeward", "wrong").refused("401 invalid token value!", "", "GET", "/version")
	c.as("root@pam!nobody", "wrong").refused("401 no such token", "", "GET", "/version")
	if slept != 6*time.Second || s.BadTokens() != 2 {
		t.Errorf("two bad tokens waited %v, and %d were counted", slept, s.BadTokens())
	}
	none := *c
	none.auth = ""
	none.refused("401 No ticket", "", "GET", "/version")
}

func TestRights(t *testing.T) {
	st := withTokens(t, map[string][]pvesim.Grant{
		"auditor": {{Path: "/", Role: "PVEAuditor", Propagate: true}},
		"nothing": nil,
		"vm":      {{Path: "/vms/100", Privileges: []string{"VM.Audit", "VM.Config.Network"}}},
		"pool":    {{Path: "/pool/lab", Privileges: []string{"VM.Audit", "Pool.Audit"}, Propagate: true}},
		"hole":    {{Path: "/", Role: "Administrator", Propagate: true}, {Path: "/vms/101", Role: "NoAccess"}},
		"flat":    {{Path: "/vms", Privileges: []string{"VM.Audit"}}},
	})
	st.AddPool("lab", "")
	for vmid, pool := range map[int]string{100: "", 101: "", 102: "lab"} {
		if err := st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: vmid, Node: "pve1", Pool: pool}); err != nil {
			t.Fatal(err)
		}
	}
	c := inProcess(t, newSim(t, pvesim.Options{State: st}), "pve1")
	as := func(name string) *client { return c.as("ops@pve!"+name, "s-"+name) }

	t.Run("lists show what the token may see", func(t *testing.T) {
		for name, want := range map[string][]float64{"auditor": {100, 101, 102}, "nothing": {}, "vm": {100}, "pool": {102}, "hole": {100, 102}, "flat": {}} {
			got := []float64{}
			for _, o := range list(as(name).must("GET", "/cluster/resources", "type", "vm")) {
				got = append(got, o["vmid"].(float64))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
	t.Run("what is missing is named", func(t *testing.T) {
		as("auditor").refused("403 Permission check failed (/, Sys.Modify)", "", "POST", sets, "name", "x1")
		as("nothing").refused("403 Permission check failed (/, Sys.Audit)", "", "GET", sets)
		as("vm").refused("403 Permission check failed (/vms/101, VM.Audit)", "", "GET", "/nodes/pve1/qemu/101/config")
		as("vm").must("GET", "/nodes/pve1/qemu/100/config")
		as("pool").must("GET", "/nodes/pve1/qemu/102/config")
		as("hole").refused("403 Permission check failed (/vms/101, VM.Audit)", "", "GET", "/nodes/pve1/qemu/101/config")
		as("auditor").refused("403 Permission check failed (/pool/x, Pool.Allocate)", "", "POST", "/pools", "poolid", "x")
	})
	t.Run("own rights", func(t *testing.T) {
		want := map[string]any{"/vms/100": map[string]any{"VM.Audit": 0.0, "VM.Config.Network": 0.0}}
		if diff := cmp.Diff(want, as("vm").must("GET", "/access/permissions")); diff != "" {
			t.Error(diff)
		}
		want = map[string]any{"/nodes/pve2": map[string]any{"Datastore.Audit": 1.0, "Mapping.Audit": 1.0, "Pool.Audit": 1.0, "SDN.Audit": 1.0, "Sys.Audit": 1.0, "VM.Audit": 1.0, "VM.GuestAgent.Audit": 1.0}}
		if diff := cmp.Diff(want, as("auditor").must("GET", "/access/permissions", "path", "/nodes/pve2")); diff != "" {
			t.Error(diff)
		}
		if got := as("nothing").must("GET", "/access/permissions"); !cmp.Equal(got, map[string]any{}) {
			t.Errorf("rights of nobody: %v", got)
		}
		tree, _ := as("pool").must("GET", "/access/permissions").(map[string]any)
		if tree["/vms/102"] == nil || tree["/pool/lab"] == nil || tree["/vms/100"] != nil {
			t.Errorf("rights by a pool: %v", tree)
		}
	})
	t.Run("tokens that could not be", func(t *testing.T) {
		for _, bad := range []pvesim.Token{
			{ID: "root", Secret: "x"},
			{ID: "a@pve!b"},
			{ID: "a@pve!b", Secret: "x", Grants: []pvesim.Grant{{Path: "vms", Role: "PVEAuditor"}}},
			{ID: "a@pve!b", Secret: "x", Grants: []pvesim.Grant{{Path: "/", Role: "Nobody"}}},
			{ID: "a@pve!b", Secret: "x", Grants: []pvesim.Grant{{Path: "/", Privileges: []string{"VM.Everything"}}}},
		} {
			if err := st.Clone().AddToken(bad); err == nil {
				t.Errorf("%+v is taken", bad)
			}
		}
	})
}
