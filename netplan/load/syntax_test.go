package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each of these stands on line 5 of a file, and is said to, whatever follows.
func TestSyntaxFaultsHaveTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"x: *hunter2":            "has no anchor",
		"x: !hunter2! y":         "a tag (!) here is not known",
		"x: !h!hunter2 y":        "a tag (!) here is not known",
		"x: !<hunter2 y":         "a tag (!) here is not known",
		"x: &":                   `an "&" here has no name`,
		"x: *":                   `a "*" here has no name`,
		"bare":                   "has no colon",
		"x: 'hunter2":            "never closed",
		`x: "hunter2`:            "never closed",
		`x: "a\qb"`:              "no escape",
		`x: "\u12"`:              "no escape",
		"x: [hunter2, 2":         "a list that opens here",
		"x: {hunter2: 1":         "a map that opens here",
		"x: ]":                   "a value should stand here",
		"x: [a,,b]":              "a value should stand here",
		"x: {a: b}}":             "does not fit",
		"x: 'a'b":                "does not fit",
		"- a":                    "does not fit",
		"x: @hunter2":            "reserves",
		"x: %hunter2":            "reserves",
		"x: hunter2: b":          "one too many",
		"x: - a":                 "begin it on a line of its own",
		"x: |9x":                 "may follow a | or >",
		"x: a\x00":               "control characters",
		"\tx: 1":                 "indented with a tab",
		"x: &hunter2 [*hunter2]": "inside the anchor",
		"...\n%YAML 1.1 hunter2": "directives",
		"x: !hunter2 [a":         "a list that opens here",
	} {
		for _, after := range []string{"", "\n", "\ny: 1\nz: 2\n", "\n\n# nothing\n\ny:\n  z: 1\n"} {
			t.Run(fmt.Sprintf("%q %q", text, after), func(t *testing.T) {
				got := mistakes(t, "name: edge\na: 1\nb:\n  c: 1\n"+text+after)
				line := "5: : "
				if strings.Contains(text, "\n") {
					line = "6: : "
				}
				if len(got) != 1 || !strings.HasPrefix(got[0], line) || !strings.Contains(got[0], want) {
					t.Errorf("got %q, want %q on line 5", got, want)
				}
				if strings.Contains(strings.Join(got, ""), "hunter2") {
					t.Errorf("the file is repeated: %q", got)
				}
			})
		}
	}
}

func TestDirectivesAndEmptyDocuments(t *testing.T) {
	seed := read(t, "seed.yaml")
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"another version":        {"%YAML 1.2\n---\n" + seed, []string{"1: : this is not YAML: the %YAML line asks for another version than 1.1: leave the line out"}},
		"the version it is":      {"%YAML 1.1\n---\n" + seed, nil},
		"an empty one behind":    {seed + "---\n", nil},
		"several, with comments": {seed + "---\n# end\n---\n...\n", nil},
		"a null behind":          {"name: edge\n--- ~\n", []string{"2: : a second YAML document starts here: give one document per file"}},
		"one behind an empty":    {"name: edge\n---\n---\nname: other\n", []string{"3: : a second YAML document starts here: give one document per file"}},
		"an empty one before":    {"---\n---\nname: edge\n", []string{"2: : a second YAML document starts here: give one document per file"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mistakes(t, c.file)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Aliases make a small file hold very many unknown keys.
func TestManyUnknownKeysAreRefusedSoon(t *testing.T) {
	var b strings.Builder
	b.WriteString("x:\n- &a {")
	for i := range 1000 {
		fmt.Fprintf(&b, "gatewa%dy: 1, ", i)
	}
	b.WriteString("}\nmachines:\n")
	for i := range 450 {
		fmt.Fprintf(&b, "  m%d: *a\n", i)
	}
	start := time.Now()
	if got := mistakes(t, b.String()); len(got) == 0 {
		t.Error("no fault")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	for _, section := range []string{"machines", "workers"} {
		t.Run("in "+section+" only the first are compared", func(t *testing.T) {
			d := walk(mustParse(t, strings.Replace(b.String(), "\nmachines", "\n"+section, 1)))
			if d.compared != maxCompared {
				t.Errorf("%d keys compared, want %d", d.compared, maxCompared)
			}
		})
	}
	t.Run("a slip in the last key is still found", func(t *testing.T) {
		d := walk(mustParse(t, b.String()[:strings.Index(b.String(), "\nmachines")]+"\nnetwork: {<<: *a, dsn: 1}\n"))
		found := false
		for _, l := range d.faults.sorted() {
			found = found || strings.Contains(l.Message, "did you mean dns?")
		}
		if !found {
			t.Error("not found")
		}
	})
}
