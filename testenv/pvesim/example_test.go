package pvesim_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeward/testenv/pvesim"
)

func TestExampleState(t *testing.T) {
	st, err := pvesim.ExampleState()
	if err != nil {
		t.Fatal(err)
	}
	s := newSim(t, pvesim.Options{State: st})
	secret, _ := st.Token("homeward@pve!status")
	c := inProcess(t, s, "pve1").as("homeward@pve!status", secret)
	if got := list(c.must("GET", "/cluster/resources", "type", "vm")); len(got) != 3 {
		t.Errorf("guests %v", got)
	}
	if got := column(c.must("GET", "/cluster/sdn/ipams/pve/status"), "ip"); len(got) != 2 {
		t.Errorf("IPAM has %v", got)
	}
	c.refused("403 Permission check failed (/, Sys.Modify)", "", "POST", sets, "name", "x1")
	secret, _ = st.Token("homeward@pve!reserve")
	c.as("homeward@pve!reserve", secret).must("POST", sets, "name", "x1")
	if _, ok := st.Token("nobody@pve!status"); ok {
		t.Error("there is a token of nobody")
	}
}

// TestStateFilesByHand is what people write, and what they are told of it.
func TestStateFilesByHand(t *testing.T) {
	const least = `{"kind": "homeward proxmox simulator state 1",
		"nodes": {"a": {"name": "a", "id": 1, "online": true}},
		"tokens": {"root@pam!aa": {"id": "root@pam!aa", "secret": "s", "grants": [{"path": "/", "role": "Administrator"}]}}`
	for _, test := range []struct {
		name, text, want string
		none             bool // no state at all
	}{
		{"the least there can be", least + "}", "", false},
		{"a misspelt part", least + `, "guest": {}}`, `unknown field "guest"`, false},
		{"a slip of the pen", least + ",\n}", "line 4: invalid character '}'", false},
		{"a plan", "# the plan\nname: edge\n", "it is no state of the Proxmox simulator: it is not a JSON object", true},
		{"an empty file", "", "it is not a JSON object", true},
		{"another JSON", `{"kind": "Pod"}`, `no state of the Proxmox simulator: its kind is "Pod"`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			st, err := pvesim.LoadState(path)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				c := inProcess(t, newSim(t, pvesim.Options{State: st}), "a")
				if status := list(c.must("GET", "/cluster/status")); status[0]["quorate"] != 1.0 {
					t.Errorf("status %v", status)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if errors.Is(err, pvesim.ErrNoState) != test.none {
				t.Errorf("ErrNoState: %v, want %v: %v", !test.none, test.none, err)
			}
		})
	}
}
