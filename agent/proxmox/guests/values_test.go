package guests

import (
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
	"homeward/agent/ledger/inventory"
)

func TestMark(t *testing.T) {
	m := mark{owner}
	for comment, want := range map[string]bool{
		m.comment("icmp"):            true,
		m.comment("icmp") + " new=x": true,
		"":                           false,
		"homeward/1":                 false,
		"homeward/2 owner=0123456789abcdef cluster=edge for=icmp":  false,
		"homeward/1 owner=0123456789abcdef cluster=edge2 for=icmp": false,
		"homeward/1 owner=ffffffffffffffff cluster=edge for=icmp":  false,
		"by hand: homeward/1 owner=0123456789abcdef cluster=edge":  false,
	} {
		if got := m.made(comment); got != want {
			t.Errorf("made(%q) = %v", comment, got)
		}
	}
	if (mark{ledger.Owner{}}).made("homeward/1 owner= cluster=") {
		t.Error("who has no id owns nothing")
	}
	if got := word("ops #1\nevil"); got != "ops--1-evil" {
		t.Errorf("word is %q", got)
	}
}

func TestPrefixes(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.75-203.0.113.78":       "203.0.113.75 203.0.113.76/31 203.0.113.78",
		"203.0.113.64/28":                 "203.0.113.64/28",
		"203.0.113.1-203.0.113.1":         "203.0.113.1",
		"0.0.0.0-255.255.255.255":         "0.0.0.0/0",
		"255.255.255.254-255.255.255.255": "255.255.255.254/31",
		"10.0.0.1-10.0.0.6":               "10.0.0.1 10.0.0.2/31 10.0.0.4/31 10.0.0.6",
	} {
		var got []string
		for _, p := range prefixes(addressRange(t, text)) {
			got = append(got, canonical(p))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestCommandsSurviveAShell lets a shell read the words back.
func TestCommandsSurviveAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no sh to read the words with")
	}
	for _, value := range []string{"plain", "2 4 100-200", "it's", "a;rm -rf b", "$(id)", "`id`", `back\slash`, "*", "", "virtio=BC:24,bridge=vmbr0", "x\"y"} {
		out, err := exec.Command(sh, "-c", "printf '[%s]' "+quoted(value)).Output()
		if err != nil || string(out) != "["+value+"]" {
			t.Errorf("%q becomes %s: %v", value, out, err)
		}
	}
}

func TestRuleReaches(t *testing.T) {
	icmp := Rule{Type: "in", Proto: "icmp"}
	api := Rule{Type: "in", Proto: "tcp", DPort: "6443", Source: "198.51.100.0/24"}
	for name, c := range map[string]struct {
		r, o Rule
		want bool
	}{
		"everything":       {Rule{Type: "in", Action: "DROP"}, api, true},
		"a group":          {Rule{Type: "group"}, icmp, true},
		"another port":     {Rule{Type: "in", Proto: "tcp", DPort: "22"}, api, false},
		"a range":          {Rule{Type: "in", Proto: "tcp", DPort: "6000:7000"}, api, true},
		"another proto":    {Rule{Type: "in", Proto: "udp"}, api, false},
		"another source":   {Rule{Type: "in", Source: "192.0.2.0/24"}, api, false},
		"an alias":         {Rule{Type: "in", Source: "dc/office"}, api, true},
		"the other way":    {Rule{Type: "out"}, api, false},
		"another NIC":      {Rule{Type: "in", Iface: "net0"}, Rule{Type: "in", Iface: "net1"}, false},
		"part of ours":     {Rule{Type: "in", Source: "198.51.100.7"}, api, true},
		"a service's name": {Rule{Type: "in", Proto: "tcp", DPort: "https"}, api, true},
	} {
		if got := c.r.reaches(c.o); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCheckOfTheSurroundings(t *testing.T) {
	p := edge(t)
	s := Surroundings{
		Datacenter: map[string]string{"enable": "0"},
		Hosts:      map[string]map[string]string{"pve1": {}, "pve2": {"enable": "0"}},
		Nodes: []inventory.Node{
			{Name: "pve1", Interfaces: []inventory.Interface{{Name: "vmbr0", Type: "bridge", VLANAware: true, VIDs: "2-4094"}, {Name: "vmbr1", Type: "bridge", MTU: 1400}}},
			{Name: "pve2", Interfaces: []inventory.Interface{{Name: "vmbr0", Type: "bridge", VIDs: "2 100-200"}}},
		},
	}
	var b strings.Builder
	for _, i := range s.Check(p, []string{"pve2", "pve1", "pve2", "pve3"}) {
		b.WriteString(text(Difference{Items: []Item{i}}))
	}
	golden(t, "surroundings.txt", b.String())
	s.Datacenter["enable"] = "1"
	s.Nodes, s.Hosts = s.Nodes[:1], nil
	s.Nodes[0].Interfaces[1].MTU = 1500
	if items := s.Check(p, []string{"pve1"}); len(items) > 0 {
		t.Errorf("nothing is wrong, but %v", items)
	}
}

func TestStepJSON(t *testing.T) {
	b := builder{a: Actual{Node: "pve1", VMID: 201, Name: "w\x1b[1m"}}
	b.step(partConfig, put("/x", values(map[string]string{"net1": "virtio"})), "do %s", "it\x07").guard("d")
	got, err := json.Marshal(b.Steps[0])
	want := `{"guest":"VM 201 \"w\\x1b[1m\" on pve1","words":"do it","method":"PUT","path":"/x","params":{"net1":"virtio"}}`
	if err != nil || !jsonEqual(t, string(got), want) {
		t.Errorf("%s: %v", got, err)
	}
}

func jsonEqual(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("no JSON: %s %s", a, b)
	}
	return cmp.Equal(x, y)
}

// FuzzLiteral: what is read as a prefix is the same when its canonical string is
// read again; an alias never is.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"203.0.113.75", "203.0.113.76/31", "203.0.113.77/31", "fe80::/10", "upstream", "", "1.2.3.4/33", "dc/office"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := literal(s)
		if !ok {
			return
		}
		again, too := literal(canonical(p))
		if !too || again != p || p != p.Masked() || !covers([]netip.Prefix{p}, p) {
			t.Errorf("%q is %s, and then %s (%v)", s, p, again, too)
		}
	})
}

// FuzzMark: only a comment with our owner's words is ours, whatever else stands
// there.
func FuzzMark(f *testing.F) {
	m := mark{owner}
	f.Add(m.comment("icmp"))
	f.Add("homeward/1 owner=0123456789abcdef cluster=edgeX")
	f.Fuzz(func(t *testing.T, comment string) {
		if m.made(comment) && !(strings.Contains(comment, "owner="+owner.ID) && strings.Contains(comment, "cluster="+owner.Cluster) && strings.Contains(comment, markWord)) {
			t.Errorf("%q is not ours", comment)
		}
		if w := word(comment); strings.ContainsAny(w, " #=\n\r\t") {
			t.Errorf("%q is no word", w)
		}
	})
}

// FuzzScalar: any JSON value is taken, none is an error or a panic.
func FuzzScalar(f *testing.F) {
	for _, s := range []string{`"1"`, "1", "true", "null", "{}", `["x"]`, "1.5e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		var v scalar
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	})
}

func TestSwitches(t *testing.T) {
	p := edge(t)
	f := worker()
	f.Config["net1"] = strings.Replace(f.Config["net1"], "firewall=1,", "", 1)
	found, err := Diff(For(p, p.Machines[1], owner), read(t, f), Surroundings{Datacenter: map[string]string{}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Switches{Datacenter: "off", Guest: "on", Private: "on", External: "off"}, found.Switches); diff != "" {
		t.Error(diff)
	}
}
