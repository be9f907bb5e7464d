package load

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	file := string(Init())
	t.Run("golden", func(t *testing.T) { golden(t, "init.golden.yaml", Init()) })
	t.Run("loads without fault, warning or unused key", func(t *testing.T) {
		r := mustLoad(t, file)
		if len(r.Plan.Warnings)+len(r.Unused) > 0 {
			t.Errorf("warnings %v, unused %v", r.Plan.Warnings, r.Unused)
		}
	})
	t.Run("shows every key", func(t *testing.T) {
		for _, k := range keys {
			name := last(k.path)
			if name == "*" || k.kind >= foreign || k.path == "network.cluster" || k.path == "network.external" {
				continue
			}
			if !regexp.MustCompile(`(?m)^[ #]*` + name + `:( |$)`).MatchString(file) {
				t.Errorf("%s is not in it", k.path)
			}
		}
	})
	t.Run("every commented key can be taken in", func(t *testing.T) {
		comment := regexp.MustCompile(`(?m)^( *)#((?:  )*[a-z#-].*|(?:  )+# .*)$`)
		whole := comment.ReplaceAllString(file, "$1$2")
		if strings.Contains(whole, "#firewall") || whole == file {
			t.Fatal("nothing was taken in")
		}
		d := walk(mustParse(t, whole))
		if faults := d.faults.sorted(); len(faults)+len(d.unused) > 0 {
			t.Errorf("faults %v, unused %v", faults, d.unused)
		}
		if got := d.spec().ReturnPath.Table; got == nil || *got != 251 {
			t.Errorf("table is %v", got)
		}
	})
}

func TestSchemaGolden(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.golden.json", text)
}
