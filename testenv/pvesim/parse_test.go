package pvesim

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemaIsWhole holds the table and the code together.
func TestSchemaIsWhole(t *testing.T) {
	s, err := loadSchema(handlers())
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var walk func(p *property)
	walk = func(p *property) {
		if p.Format != "" {
			used[p.Format] = true
		}
		for _, k := range p.Keys {
			walk(k)
		}
		if p.Items != nil {
			walk(p.Items)
		}
	}
	for _, m := range s.methods {
		for _, p := range m.params {
			walk(p)
		}
		if m.check == nil && m.User == "" {
			t.Errorf("%s is for nobody", m.name())
		}
		params := map[string]string{}
		if got := s.find(m.Method, strings.NewReplacer("{", "", "}", "").Replace(m.Path), params); got != m {
			t.Errorf("the path of %s does not lead to it", m.name())
		}
	}
	for format := range used {
		if formats[format] == nil && !slices.Contains(unverified, format) {
			t.Errorf("format %s is neither checked nor known not to be", format)
		}
	}
	for _, format := range unverified {
		if !used[format] {
			t.Errorf("format %s is not used", format)
		}
	}
	if bytes := strings.Count(string(schemaText), "description"); bytes > 9 {
		t.Errorf("the table says description %d times: it holds no text for people", bytes)
	}
}

func TestMethodsWithoutHandlers(t *testing.T) {
	h := handlers()
	delete(h, "GET /version")
	if _, err := loadSchema(h); err == nil || !strings.Contains(err.Error(), "GET /version has no handler") {
		t.Errorf("error %v", err)
	}
	h = handlers()
	h["GET /nowhere"] = getVersion
	if _, err := loadSchema(h); err == nil {
		t.Error("a handler without a method is taken")
	}
}

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format    string
		good, bad []string
	}{
		{"IPorCIDR", []string{"192.0.2.1", "192.0.2.1/24", "2001:db8::/32"}, []string{"", "a", "192.0.2.1/", "192.0.2.1/+4", "192.0.2.1/33", "fe80::1%eth0", "192.0.2.1-192.0.2.2"}},
		{"IPorCIDRorAlias", []string{"office", "dc/office", "guest/office", "192.0.2.1"}, []string{"dc/", "1office", "a b", "x"}},
		{"mac-addr", []string{"02:00:00:00:00:01", "BC:24:11:AA:bb:cC"}, []string{"01:00:00:00:00:01", "02:00:00:00:00", "02-00-00-00-00-01"}},
		{"pve-node", []string{"pve1", "a-b"}, []string{"", "-a", "a.b", "a/b"}},
		{"pve-vmid-list", []string{"100,101", "100 101", ""}, []string{"99", "100,x"}},
		{"pve-poolid", []string{"a", "a/b/c", "192.0.2.1"}, []string{"", "a//b", "/a", "a/b/c/d", "a b"}},
		{"pve-fw-addr-spec", []string{"192.0.2.1", "192.0.2.0/24,198.51.100.1", "192.0.2.1-192.0.2.9", "+lab", "+dc/lab", "office"}, []string{"192.0.2.1-x", "+192.0.2.300", "a.b"}},
		{"pve-fw-dport-spec", []string{"80", "80,443", "50000:50010", "https"}, []string{"", "80,", "70000", "a b"}},
		{"pve-qm-ipconfig", []string{"ip=dhcp", "ip=192.0.2.1/24,gw=192.0.2.254", "ip6=auto"}, []string{"ip=192.0.2.1", "gw=x", "address=1"}},
		{"pve-sdn-subnet-id", []string{"192.0.2.0/24", "lan-192.0.2.0-24"}, []string{"192.0.2.1/24", "x", "lan-x-24"}},
		{"dns-name", []string{"a", "a.example.org"}, []string{"", "-a", "a..b", "a_b"}},
	} {
		for _, v := range test.good {
			if fault := verifyFormat(test.format, v); fault != "" {
				t.Errorf("%s: %q: %s", test.format, v, fault)
			}
		}
		for _, v := range test.bad {
			if verifyFormat(test.format, v) == "" {
				t.Errorf("%s: %q is taken", test.format, v)
			}
		}
	}
}

func TestPropertyStrings(t *testing.T) {
	s, err := loadSchema(handlers())
	if err != nil {
		t.Fatal(err)
	}
	p := s.find("PUT", "/nodes/a/qemu/100/config", map[string]string{}).property("net31")
	for text, want := range map[string]string{
		"virtio=BC:24:11:00:00:01,tag=30,bridge=vmbr0":                     "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30",
		"model=virtio,macaddr=BC:24:11:00:00:01":                           "virtio=BC:24:11:00:00:01",
		"virtio,bridge=vmbr0":                                              "virtio,bridge=vmbr0",
		"e1000=BC:24:11:00:00:01,firewall=yes,link_down=0,trunks=1;5-7":    "e1000=BC:24:11:00:00:01,firewall=1,link_down=0,trunks=1;5-7",
		" virtio=BC:24:11:00:00:01 , bridge=vmbr0 ,queues=4,rate=12.5,,  ": "virtio=BC:24:11:00:00:01,bridge=vmbr0,queues=4,rate=12.5",
	} {
		values, faults := p.parseKeys(text)
		if faults != nil {
			t.Errorf("%q: %v", text, faults)
		}
		if diff := cmp.Diff(want, p.printKeys(values)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for _, text := range []string{"", "bridge=vmbr0", "virtio=x", "vmware=BC:24:11:00:00:01", "virtio,tag=0", "virtio,mtu=x"} {
		if _, faults := p.parseKeys(text); faults == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// FuzzFirewall wants that a file once read and written stays the same from then on.
func FuzzFirewall(f *testing.F) {
	f.Add("[OPTIONS]\n\nenable: 1\n\n[ALIASES]\n\nOffice 198.51.100.0/24 # ours\n\n[IPSET Lab] # a # b\n\n!192.0.2.1/32 # x\noffice\n192.0.2.1\n")
	f.Add("[RULES]\n\n|IN ACCEPT -i net0 -source +lab -p tcp -dport 80 # c\nGROUP web -i net1\nIN SSH(DROP)\n[group web]\nOUT DROP -log info\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, env := range []environment{clusterEnv, hostEnv, guestEnv} {
			once := parseFirewall(text, env).render()
			twice := parseFirewall(once, env).render()
			if thrice := parseFirewall(twice, env).render(); twice != thrice {
				t.Errorf("%s: %q becomes %q", env, twice, thrice)
			}
		}
	})
}

// FuzzParams wants that no parameters make the simulator fall.
func FuzzParams(f *testing.F) {
	f.Add("/nodes/pve1/qemu/100/config", "net0=virtio,bridge=vmbr0&delete=net1", false)
	f.Add("/cluster/firewall/rules", `{"type":"in","action":"ACCEPT","source":"+a","dport":["1"]}`, true)
	s, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Change(func(st *State) error { return st.AddGuest(Guest{Kind: QEMU, VMID: 100, Node: "pve1", Running: true}) }); err != nil {
		f.Fatal(err)
	}
	token, _ := s.state.tokens.get(allTokenID)
	f.Fuzz(func(t *testing.T, path, body string, isJSON bool) {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			c := &call{sim: s, node: "pve1", token: token, params: map[string]string{}, lists: map[string][]string{}}
			if c.method = s.schema.find(method, path, c.params); c.method == nil {
				continue
			}
			read := readForm
			if isJSON {
				read = func(text string, c *call) error { return readJSON([]byte(text), c) }
			}
			if read(body, c) == nil {
				s.perform(c, Fault{})
			}
		}
	})
}
