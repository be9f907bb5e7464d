package pvesim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

const sets = "/cluster/firewall/ipset"

func TestSetMembers(t *testing.T) {
	c := inProcess(t, newSim(t, pvesim.Options{}), "pve1")
	c.must("POST", sets, "name", "hw-vmbr0-30", "comment", "a segment")
	c.refused(badParams, "name: IPSet 'hw-vmbr0-30' already exists", "POST", sets, "name", "hw-vmbr0-30")

	t.Run("adding is test-and-set on the text", func(t *testing.T) {
		c.must("POST", sets+"/hw-vmbr0-30", "cidr", "192.0.2.11", "comment", "mine")
		c.refused(badParams, "cidr: address '192.0.2.11' already exists", "POST", sets+"/hw-vmbr0-30", "cidr", "192.0.2.11")
		c.refused(badParams, "cidr: address '192.0.2.11' already exists", "POST", sets+"/hw-vmbr0-30", "cidr", "192.0.2.11/32")
		c.must("POST", sets+"/hw-vmbr0-30", "cidr", "192.0.2.16/28")
		c.must("POST", sets+"/hw-vmbr0-30", "cidr", "192.0.2.18/30")
		got := column(c.must("GET", sets+"/hw-vmbr0-30"), "cidr")
		if diff := cmp.Diff([]string{"192.0.2.11", "192.0.2.16/28", "192.0.2.16/30"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is no address", func(t *testing.T) {
		for _, cidr := range []string{"192.0.2.1-192.0.2.4", "192.0.2.256", "192.0.2.1/33", "192.0.2.01", "192.0.2.1 "} {
			c.refused(badParams, "cidr: invalid format - value does not look like a valid IP address or CIDR network", "POST", sets+"/hw-vmbr0-30", "cidr", cidr)
		}
		c.refused(badParams, "cidr: a zero prefix is not allowed in ipset entries", "POST", sets+"/hw-vmbr0-30", "cidr", "0.0.0.0/0")
		c.refused("500 no such alias 'nobody'", "", "POST", sets+"/hw-vmbr0-30", "cidr", "nobody")
	})
	t.Run("deleting wants the exact text and says nothing", func(t *testing.T) {
		c.must("DELETE", sets+"/hw-vmbr0-30/192.0.2.11/32")
		c.must("DELETE", sets+"/hw-vmbr0-30/192.0.2.11%2F32")
		c.must("DELETE", sets+"/hw-vmbr0-30/192.0.2.99")
		if got := len(list(c.must("GET", sets+"/hw-vmbr0-30"))); got != 3 {
			t.Errorf("%d members, want 3", got)
		}
		c.must("DELETE", sets+"/hw-vmbr0-30/192.0.2.16/28")
		c.must("DELETE", sets+"/hw-vmbr0-30/192.0.2.16%2F30")
		if got := column(c.must("GET", sets+"/hw-vmbr0-30"), "cidr"); !cmp.Equal(got, []string{"192.0.2.11"}) {
			t.Errorf("members %v", got)
		}
	})
	t.Run("reading one", func(t *testing.T) {
		one, _ := c.must("GET", sets+"/hw-vmbr0-30/192.0.2.11").(map[string]any)
		if one["comment"] != "mine" || len(one["digest"].(string)) != 40 {
			t.Errorf("member %v", one)
		}
		c.refused(badParams, "cidr: no such IP/Network", "GET", sets+"/hw-vmbr0-30/192.0.2.12")
	})
	t.Run("a missing set", func(t *testing.T) {
		for _, method := range []string{"GET", "DELETE"} {
			c.refused("500 no such IPSet 'hw-no'", "", method, sets+"/hw-no")
		}
		c.refused("500 no such IPSet 'hw-no'", "", "POST", sets+"/hw-no", "cidr", "192.0.2.1")
		c.refused("500 no such IPSet 'hw-no'", "", "DELETE", sets+"/hw-no/192.0.2.1")
	})
	t.Run("deleting a set", func(t *testing.T) {
		c.refused("500 IPSet 'hw-vmbr0-30' is not empty", "", "DELETE", sets+"/hw-vmbr0-30")
		c.must("DELETE", sets+"/hw-vmbr0-30", "force", "1")
		if got := list(c.must("GET", sets)); len(got) != 0 {
			t.Errorf("sets %v", got)
		}
	})
}

func TestSetDigest(t *testing.T) {
	c := inProcess(t, newSim(t, pvesim.Options{}), "pve1")
	const modified = "500 detected modified configuration - file changed by other user? Try again."
	c.must("POST", sets, "name", "one")
	c.must("POST", sets, "name", "two")
	c.must("POST", sets+"/one", "cidr", "192.0.2.1", "comment", "first")
	digest := func() string { return column(c.must("GET", sets+"/one"), "digest")[0] }

	before := digest()
	c.must("POST", sets+"/two", "cidr", "192.0.2.1")
	if digest() != before {
		t.Error("another set's change changes the digest")
	}
	c.must("PUT", sets+"/one/192.0.2.1", "comment", "second", "digest", before)
	if digest() == before {
		t.Error("a change leaves the digest as it was")
	}
	c.refused(modified, "", "PUT", sets+"/one/192.0.2.1", "comment", "third", "digest", before)
	c.refused(modified, "", "DELETE", sets+"/one/192.0.2.1", "digest", before)
	c.must("PUT", sets+"/one/192.0.2.1", "digest", digest())
	if got := list(c.must("GET", sets+"/one"))[0]; got["comment"] != nil {
		t.Errorf("PUT without a comment keeps it: %v", got)
	}
	c.must("DELETE", sets+"/one/192.0.2.1", "digest", digest())

	index := column(c.must("GET", sets), "digest")[0]
	c.must("POST", sets, "name", "uno", "rename", "one", "digest", index)
	c.refused(modified, "", "POST", sets, "name", "un", "rename", "uno", "digest", index)
	c.refused(badParams, "name: IPSet 'gone' does not exist", "POST", sets, "name", "un", "rename", "gone")
}

func TestSetNames(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := inProcess(t, s, "pve1")
	c.must("POST", sets, "name", "lab-x")
	c.must("POST", sets+"/lab-x", "cidr", "192.0.2.1")
	c.must("POST", sets, "name", "Lab-X", "comment", "vanishes")
	got := list(c.must("GET", sets))
	if len(got) != 1 || got[0]["name"] != "lab-x" || got[0]["comment"] != nil {
		t.Errorf("sets %v, want lab-x alone and as it was", got)
	}
	if members, _ := s.State().Set(pvesim.ClusterScope, "lab-x"); len(members) != 1 {
		t.Errorf("members %v", members)
	}
	c.must("POST", sets, "name", "Upper")
	c.refused("500 no such IPSet 'Upper'", "", "GET", sets+"/Upper")
	c.must("GET", sets+"/upper")
	c.refused(badParams, "name: value does not match the regex pattern", "POST", sets, "name", "1st")
	c.refused(badParams, "name: value must be at least 2 characters long", "POST", sets, "name", "a")
	c.refused(badParams, "name: value may only be 64 characters long", "POST", sets, "name", strings.Repeat("a", 65))
	c.refused(badParams, "name: value does not match the regex pattern", "POST", sets, "name", "a.b")
}

func TestComments(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	c := inProcess(t, s, "pve1")
	c.must("POST", sets, "name", "lab")
	for i, test := range []struct{ comment, want string }{
		{"plain", "plain"},
		{"with # and \"quotes\"", "with # and \"quotes\""},
		{"  spaces around  ", "spaces around"},
		{"Zürich", "Zürich"},
		{strings.Repeat("x", 4096), strings.Repeat("x", 4096)},
		{"   ", ""},
	} {
		cidr := fmt.Sprintf("192.0.2.%d", i+1)
		c.must("POST", sets+"/lab", "cidr", cidr, "comment", test.comment)
		one, _ := c.must("GET", sets+"/lab/"+cidr).(map[string]any)
		if got, _ := one["comment"].(string); got != test.want {
			t.Errorf("comment %q comes back as %q, want %q", test.comment, got, test.want)
		}
	}
	t.Run("a newline injects lines", func(t *testing.T) {
		c.must("POST", sets, "name", "victim")
		c.must("POST", sets+"/victim", "cidr", "198.51.100.1")
		c.must("POST", sets+"/lab", "cidr", "192.0.2.200", "comment", "x\n192.0.2.201 # stolen\n[IPSET another]\n203.0.113.9\n[RULES]\nIN ACCEPT")
		members, _ := s.State().Set(pvesim.ClusterScope, "lab")
		if last := members[len(members)-1]; last != (pvesim.Member{CIDR: "192.0.2.201", Comment: "stolen"}) {
			t.Errorf("last member %+v", last)
		}
		if got := s.State().Sets(pvesim.ClusterScope); !cmp.Equal(got, []string{"another", "lab", "victim"}) {
			t.Errorf("sets %v", got)
		}
		if got := list(c.must("GET", "/cluster/firewall/rules")); len(got) != 1 || got[0]["enable"] != 1.0 {
			t.Errorf("rules %v, want the injected one, enabled", got)
		}
	})
}

func BenchmarkAddAndDelete(b *testing.B) {
	s := newSim(b, pvesim.Options{WithoutLog: true})
	c := inProcess(b, s, "pve1")
	c.must("POST", sets, "name", "lab")
	start := s.State()
	for b.Loop() {
		s.SetState(start)
		c.must("POST", sets+"/lab", "cidr", "192.0.2.1", "comment", "homeward/1 owner=0123456789abcdef cluster=edge for=ingress state=pending since=2026-01-01T00:00:00Z")
		c.must("GET", sets+"/lab")
		s.State().Digest()
		c.must("DELETE", sets+"/lab/192.0.2.1")
	}
}
