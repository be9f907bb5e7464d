package load

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/netplan"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, name), string(got)); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", path, diff)
	}
}

func TestInit(t *testing.T) {
	for provider, name := range map[netplan.Provider]string{netplan.Proxmox: "init.golden.yaml", netplan.OpenStack: "init-openstack.golden.yaml"} {
		t.Run(string(provider), func(t *testing.T) { checkInit(t, provider, name) })
	}
}

func checkInit(t *testing.T, provider netplan.Provider, name string) {
	file := string(Init(provider))
	t.Run("golden", func(t *testing.T) { golden(t, name, Init(provider)) })
	t.Run("loads without fault, warning or unused key", func(t *testing.T) {
		r := mustLoad(t, file)
		if len(r.Plan.Warnings)+len(r.Unused) > 0 {
			t.Errorf("warnings %v, unused %v", r.Plan.Warnings, r.Unused)
		}
		if r.Plan.Provider != provider {
			t.Errorf("the plan is for %s", r.Plan.Provider)
		}
	})
	t.Run("shows every key", func(t *testing.T) {
		d := walk(mustParse(t, wholeInit(t, file)))
		for _, k := range keys {
			name := last(k.path)
			if name == "*" || k.kind >= foreign || k.path == "network.cluster" || k.path == "network.external" {
				continue
			}
			shown := regexp.MustCompile(`(?m)^[ #]*` + name + `:( |$)`).MatchString(file)
			if only := onlyWith(k.path); only == "" || only == provider {
				if !shown {
					t.Errorf("%s is not in it", k.path)
				}
			} else if !strings.Contains(k.path, "*") && d.has(k.path) {
				t.Errorf("%s is in it, which is only for %s", k.path, only)
			}
		}
	})
	t.Run("every commented key can be taken in", func(t *testing.T) {
		d := walk(mustParse(t, wholeInit(t, file)))
		if faults := d.faults.sorted(); len(faults)+len(d.unused) > 0 {
			t.Errorf("faults %v, unused %v", faults, d.unused)
		}
		if got := d.spec().ReturnPath.Table; provider == netplan.Proxmox && (got == nil || *got != 251) {
			t.Errorf("table is %v", got)
		}
		if provider == netplan.OpenStack && !d.spec().OpenStack.IngressFloatingIP.IsValid() {
			t.Error("no ingress_floating_ip")
		}
	})
}

// wholeInit takes the "#" away before every key.
func wholeInit(t *testing.T, file string) string {
	t.Helper()
	comment := regexp.MustCompile(`(?m)^( *)#((?:  )*[a-z#-].*|(?:  )+# .*)$`)
	whole := comment.ReplaceAllString(file, "$1$2")
	if strings.Contains(whole, "#firewall") || whole == file {
		t.Fatal("nothing was taken in")
	}
	return whole
}

// onlyWith is the provider of a key or of what it stands in.
func onlyWith(path string) netplan.Provider {
	for _, k := range keys {
		if k.only != "" && within(path, k.path) {
			return k.only
		}
	}
	return ""
}

func TestSchemaGolden(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.golden.json", text)
}
