package pvesim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

func TestRules(t *testing.T) {
	s, c := guestSim(t)
	const modified = "500 detected modified configuration - file changed by other user? Try again."
	for _, base := range []string{"/cluster/firewall/rules", "/nodes/pve1/firewall/rules", vm + "/firewall/rules", "/nodes/pve1/lxc/200/firewall/rules"} {
		t.Run(base, func(t *testing.T) {
			c.must("POST", base, "type", "in", "action", "ACCEPT", "comment", "first", "pos", "7", "digest", "0")
			c.must("POST", base, "type", "in", "action", "DROP", "comment", "second", "enable", "1", "source", "192.0.2.0/24", "proto", "tcp", "dport", "6443,50000:50010")
			got := list(c.must("GET", base))
			want := []map[string]any{
				{"pos": 0.0, "type": "in", "action": "DROP", "comment": "second", "enable": 1.0, "source": "192.0.2.0/24", "proto": "tcp", "dport": "6443,50000:50010", "ipversion": 4.0, "digest": got[0]["digest"]},
				{"pos": 1.0, "type": "in", "action": "ACCEPT", "comment": "first", "enable": 0.0, "digest": got[0]["digest"]},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			old := got[0]["digest"].(string)
			c.must("PUT", base+"/1", "enable", "1", "digest", old)
			c.refused(modified, "", "PUT", base+"/1", "enable", "0", "digest", old)
			c.refused(modified, "", "DELETE", base+"/1", "digest", old)
			c.must("PUT", base+"/0", "delete", "dport,source")
			one, _ := c.must("GET", base+"/0").(map[string]any)
			if one["dport"] != nil || one["source"] != nil || one["proto"] != "tcp" {
				t.Errorf("rule %v", one)
			}
			c.must("PUT", base+"/0", "moveto", "2")
			if got := column(c.must("GET", base), "comment"); !cmp.Equal(got, []string{"first", "second"}) {
				t.Errorf("after the move: %v", got)
			}
			c.must("DELETE", base+"/0")
			if got := column(c.must("GET", base), "comment"); !cmp.Equal(got, []string{"second"}) {
				t.Errorf("after the deletion: %v", got)
			}
			c.refused("500 no rule at position 1", "", "DELETE", base+"/1")
			c.refused(badParams, "proto: missing property - required by 'dport'", "POST", base, "type", "in", "action", "ACCEPT", "dport", "22")
			c.refused(badParams, "action: unknown action 'LET'", "POST", base, "type", "in", "action", "LET")
			c.refused(badParams, "source: no such ipset 'gone'", "POST", base, "type", "in", "action", "ACCEPT", "source", "+gone")
			c.refused(badParams, "type: property is missing and it is not optional", "POST", base, "action", "ACCEPT")
		})
	}
	t.Run("the file", func(t *testing.T) {
		c.must("POST", vm+"/firewall/rules", "type", "in", "action", "ACCEPT", "iface", "net1", "enable", "1", "comment", "homeward")
		want := "[RULES]\n\nIN ACCEPT -i net1 # homeward\nIN DROP -p tcp # second\n\n"
		if diff := cmp.Diff(want, s.State().Firewall(pvesim.GuestScope(100))); diff != "" {
			t.Error(diff)
		}
		c.refused(badParams, "iface: value does not match the regex pattern 'net\\d+'", "POST", vm+"/firewall/rules", "type", "in", "action", "ACCEPT", "iface", "eth0")
	})
	t.Run("groups", func(t *testing.T) {
		c.must("POST", "/cluster/firewall/groups", "group", "web", "comment", "for all")
		c.must("POST", "/cluster/firewall/groups/web", "type", "in", "action", "ACCEPT", "enable", "1")
		c.refused("500 Security group 'web' is not empty", "", "DELETE", "/cluster/firewall/groups/web")
		c.must("POST", vm+"/firewall/rules", "type", "group", "action", "web", "enable", "1")
		c.refused(badParams, "action: security group 'db' does not exist", "POST", vm+"/firewall/rules", "type", "group", "action", "db")
		c.must("DELETE", "/cluster/firewall/groups/web/0")
		c.must("DELETE", "/cluster/firewall/groups/web")
	})
}

func TestAliases(t *testing.T) {
	_, c := guestSim(t)
	base := "/cluster/firewall/aliases"
	c.must("POST", base, "name", "Office", "cidr", "198.51.100.0/24", "comment", "ours")
	c.refused(badParams, "name: alias 'office' already exists", "POST", base, "name", "office", "cidr", "192.0.2.1")
	got := list(c.must("GET", base))
	if len(got) != 1 || got[0]["name"] != "Office" || got[0]["cidr"] != "198.51.100.0/24" || got[0]["ipversion"] != 4.0 {
		t.Errorf("aliases %v", got)
	}
	c.must("POST", sets, "name", "lab")
	c.must("POST", sets+"/lab", "cidr", "office")
	c.must("PUT", base+"/office", "cidr", "198.51.100.0/25", "rename", "desk")
	c.refused(badParams, "name: no such alias", "GET", base+"/office")
	refs := column(c.must("GET", vm+"/firewall/refs"), "ref")
	if diff := cmp.Diff([]string{"dc/desk", "+dc/lab"}, refs); diff != "" {
		t.Error(diff)
	}
	c.must("DELETE", base+"/desk")
}

func TestOptions(t *testing.T) {
	s, c := guestSim(t)
	const modified = "500 detected modified configuration - file changed by other user? Try again."
	options := vm + "/firewall/options"
	c.must("PUT", options, "enable", "1", "ipfilter", "true", "policy_in", "DROP")
	got, _ := c.must("GET", options).(map[string]any)
	if got["enable"] != 1.0 || got["ipfilter"] != 1.0 || got["policy_in"] != "DROP" || got["macfilter"] != nil {
		t.Errorf("options %v", got)
	}
	c.must("PUT", options, "delete", "ipfilter", "digest", got["digest"].(string))
	c.refused(modified, "", "PUT", options, "enable", "0", "digest", got["digest"].(string))
	c.refused(badParams, "delete: no such option 'colour'", "PUT", options, "delete", "colour")
	c.refused(badParams, "enable: type check ('boolean') failed - got 'perhaps'", "PUT", options, "enable", "perhaps")
	c.must("PUT", "/cluster/firewall/options", "enable", "1")
	c.must("PUT", "/nodes/pve1/firewall/options", "nftables", "1")
	if got := s.State().Firewall(pvesim.NodeScope("pve1")); got != "[OPTIONS]\n\nnftables: 1\n\n" {
		t.Errorf("the node's file is %q", got)
	}
	if got := s.State().Firewall(pvesim.GuestScope(100)); got != "[OPTIONS]\n\nenable: 1\npolicy_in: DROP\n\n" {
		t.Errorf("the guest's file is %q", got)
	}
}
