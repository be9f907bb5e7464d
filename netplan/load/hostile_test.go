package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bomb is ten levels of lists, each nine times the one before.
func bomb() string {
	s := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		s += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return s
}

// Each of these is one clear fault, whatever else is wrong with the file.
func TestHostileFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"empty":                {"", "1: : the file is empty: `homeward init` writes one to start from"},
		"only a comment":       {"# nothing\n", "1: : the file is empty: `homeward init` writes one to start from"},
		"only a marker":        {"---\n", "1: : the file is empty: `homeward init` writes one to start from"},
		"a list":               {"\n- a\n", "2: : the file is a list, not a map: start with `name: ...`"},
		"a text":               {"hello\n", "1: : the file is text, not a map: start with `name: ...`"},
		"two documents":        {"name: edge\n---\nname: other\n", "2: : a second YAML document starts here: give one document per file"},
		"second one broken":    {"name: edge\n---\n[\n", "3: : this is not YAML: a value should stand here: look for one bracket or comma too many, or one missing"},
		"UTF-16":               {"\xff\xfen\x00", "1: : the file is UTF-16: save it as UTF-8"},
		"Latin-1":              {"name: edge\nx: \xe9\n", "2: : the file is not UTF-8 text from here on"},
		"NUL":                  {"ok: 1\nname: a\x00b\n", "2: : this is not YAML: control characters are not allowed"},
		"tab":                  {"name: edge\nnetwork:\n\tcidr: 10.0.0.0/24\n", "3: : the line is indented with a tab: YAML takes only spaces"},
		"unclosed list":        {"name: edge\nnetwork:\n  dns: [10.0.0.1\nproxmox:\n", "3: : this is not YAML: a list that opens here is not closed, or a comma is missing in it"},
		"two colons":           {"name: edge\nnetwork: cidr: 3\n", `2: : this is not YAML: a colon here is one too many: put a text that holds ": " in quotes, or look at the indentation`},
		"unknown anchor":       {"name: edge\ntalos: *v\n", `2: : this is not YAML: an alias (*) here has no anchor (&) before it: put a text that begins with "*" in quotes`},
		"bomb":                 {bomb(), "7: : the file holds over 1000000 values, aliases followed"},
		"anchor in itself":     {"a: &a [*a]\n", "1: : an alias (*) here stands inside the anchor (&) it names, so it would never end"},
		"map merged to itself": {"network: &n\n  <<: *n\n", "2: : an alias (*) here stands inside the anchor (&) it names, so it would never end"},
		"deep lists":           {"a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "1: : maps and lists nest deeper than 64 levels"},
		"deeper than parsed":   {"a: " + strings.Repeat("[", MaxBytes-10), "1: : maps and lists nest deeper than 64 levels"},
		"deep maps":            {"x:\n" + deepMap(70), "65: : maps and lists nest deeper than 64 levels"},
		"deep by aliases":      {deepAliases(70), "65: : maps and lists nest deeper than 64 levels"},
		"a million entries":    {"name: [" + strings.Repeat("1,", 1_000_000) + "]", "1: : the file has 1000000 lines and list entries: at most 150000 are read"},
		"too many ranges":      {with(t, read(t, "seed.yaml"), "203.0.113.75-203.0.113.78", "["+strings.Repeat("203.0.113.75,", 1001)+"]"), "22: proxmox.network.external.ingress_pool: the list has 1001 entries: give at most 1000"},
		"too many names":       {manyNames(), "2: machines: the section has 10001 entries: give at most 10000"},
		"too large":            {strings.Repeat("#", MaxBytes+1), "1: : the file is over 4 MiB: this is no cluster.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, mistakes(t, c.file)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// manyNames is a good file but for one name too many.
func manyNames() string {
	var b strings.Builder
	b.WriteString("name: edge\nmachines: {")
	for i := range maxEntries + 1 {
		fmt.Fprintf(&b, "m%d: {},", i)
	}
	b.WriteString("}\ntalos: {version: v1.13.9}\ncontrolplane: {count: 1}\nnetwork: {cidr: 10.0.0.0/24}\n")
	b.WriteString("proxmox: {network: {cluster: {bridge: vmbr1, kubeapi_vip: 10.0.0.9}}}\n")
	return b.String()
}

func deepMap(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

func deepAliases(levels int) string {
	s := "- &a0 {}\n"
	for i := 1; i < levels; i++ {
		s += fmt.Sprintf("- &a%d {a: *a%d}\n", i, i-1)
	}
	return s
}

func TestWhatEditorsWriteIsAccepted(t *testing.T) {
	seed := read(t, "seed.yaml")
	want := mustLoad(t, seed).Plan
	for name, file := range map[string]string{
		"byte order mark":      "\ufeff" + seed,
		"CRLF":                 strings.ReplaceAll(seed, "\n", "\r\n"),
		"document marker":      "---\n" + seed + "...\n",
		"vlan as text":         with(t, seed, "1691", `"1691"`),
		"count as text":        with(t, seed, "count: 3", "count: '3'"),
		"pool as a list":       with(t, seed, "203.0.113.75-203.0.113.78", "[203.0.113.75-203.0.113.78]"),
		"one resolver":         with(t, seed, "[10.0.0.1]", "10.0.0.1"),
		"explicit tags":        with(t, seed, "name: edge", "name: !!str edge"),
		"optional section":     seed + "argocd:\nsecurity:\nmachines:\nreturn_path:\n",
		"written-out null":     seed + "agent: {image: null}\nkubeapi_endpoint: ~\nopenstack: null\n",
		"empty list":           seed + "kubeapi_sans: []\n",
		"mark in decimal":      seed + "return_path: {mark: 8192, mask: '0x2000'}\n",
		"default written out":  seed + "return_path: {table: 251, priority: 1000}\n",
		"encrypted elsewhere":  seed + "sops: {mac: 'ENC[AES256_GCM,data:x]'}\n",
		"tools' odd keys":      seed + "x-common: &c {a: 1}\ncharts: {<<: *c, ? [1] : 2}\n",
		"control plane's NIC":  with(t, seed, "controlplane: {count: 3}", "controlplane: {count: 3, external: true}"),
		"alias of a value":     with(t, with(t, seed, "cidr: 203.0.113.0/25", "cidr: &net 203.0.113.0/25"), "name: edge", "name: edge") + "x: *net\n",
		"merge below explicit": with(t, seed, "{count: 3}\nworkers", "{<<: {count: 5, cores: 2}, count: 3}\nworkers"),
	} {
		t.Run(name, func(t *testing.T) {
			if diff := samePlan(want, mustLoad(t, file).Plan); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAliasesAndMergeKeysKeepTheirLines(t *testing.T) {
	file := with(t, read(t, "seed.yaml"), "name: edge\n", "name: edge\ncommon: &common\n  vlan: 4095\n  mtu: 9000\n")
	file = with(t, file, "      vlan: 1691\n", "      <<: *common\n")
	want := []string{"3: proxmox.network.external.vlan: 4095 is not a VLAN: give 1 to 4094, or leave it out for untagged"}
	if diff := cmp.Diff(want, mistakes(t, file)); diff != "" {
		t.Error(diff)
	}
	t.Run("earlier maps win", func(t *testing.T) {
		file := with(t, read(t, "seed.yaml"), "vlan: 1691", "<<: [{vlan: 7}, {vlan: 8}]")
		if got := mustLoad(t, file).Plan.External.VLAN; got != 7 {
			t.Errorf("vlan is %d", got)
		}
	})
	t.Run("an unknown key comes in too", func(t *testing.T) {
		file := with(t, read(t, "seed.yaml"), "vlan: 1691", "<<: {vlna: 7}")
		if got := mistakes(t, file); len(got) != 1 || !strings.Contains(got[0], "did you mean vlan?") {
			t.Errorf("got %v", got)
		}
	})
}
