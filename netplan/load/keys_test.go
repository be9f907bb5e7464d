package load

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Each key of the table must change what netplan is asked, or it is dead.
func TestEveryKeyReachesTheSpec(t *testing.T) {
	samples := map[kind]string{
		text: "some", boolean: "true", verify: "false", number: "7", mark: "0x1000", mask: "0x1000", addr: "192.0.2.1", cidr: "192.0.2.0/24",
		mac: "bc:24:11:00:00:09", addrs: "192.0.2.1", ranges: "192.0.2.1", sources: "192.0.2.1", texts: "some",
	}
	for _, k := range keys {
		sample, ok := samples[k.kind]
		if !ok {
			continue
		}
		if k.kind == boolean && last(k.path) == "external" {
			sample = "false"
		}
		for _, path := range []string{k.path, k.also} {
			if path == "" {
				continue
			}
			t.Run(path, func(t *testing.T) {
				names := strings.Split(strings.ReplaceAll(path, "*", "some"), ".")
				wrap := func(s string) string {
					return strings.Join(names[:len(names)-1], ": {") + s + strings.Repeat("}", max(len(names)-2, 0))
				}
				file, without := wrap(": {"+names[len(names)-1]+": "+sample+"}"), wrap(": {}")
				if len(names) == 1 {
					file, without = names[0]+": "+sample, "x: 1"
				}
				a, b := walk(mustParse(t, file)), walk(mustParse(t, without))
				if faults := a.faults.sorted(); len(faults) > 0 {
					t.Fatal(faults)
				}
				if specText(t, a) == specText(t, b) {
					t.Errorf("%s changes nothing", file)
				}
			})
		}
	}
}

func specText(t *testing.T, d *document) string {
	t.Helper()
	text, err := json.Marshal(d.spec())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range keys {
		for _, path := range []string{k.path, k.also} {
			if path != "" && seen[path] {
				t.Errorf("%s stands twice", path)
			}
			seen[path] = true
		}
		if k.doc == "" {
			t.Errorf("%s has no explanation", k.path)
		}
		if k.kind < foreign && k.kind != section && k.example == "" && k.def == "" && last(k.path) != "*" {
			t.Errorf("%s has neither example nor default", k.path)
		}
	}
	for _, k := range keys {
		for _, path := range slices.Concat(k.blames, []string{parent(k.path), parent(k.also)}) {
			if path = strings.TrimSuffix(path, ".*"); path != "" && !seen[path] {
				t.Errorf("%s names %s, which is no key", k.path, path)
			}
		}
	}
}
