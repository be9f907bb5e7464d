package load

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// FuzzBytes holds what is true of every input: no panic, one of a plan or
// faults, and faults that stand in the file and are fit for a terminal.
func FuzzBytes(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{"", "a: &a [*a]", "{{ x }}: 1", "network: {? [1] : 2, <<: 3}", "name: !!binary x", "security: {m: {port: 1, a: []}}", bomb()} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Bytes("cluster.yaml", data)
		if err == nil {
			if r.Plan == nil {
				t.Fatal("neither plan nor error")
			}
			return
		}
		checkFaults(t, err, string(data))
	})
}

func checkFaults(t *testing.T, err error, file string) {
	t.Helper()
	var faults *Faults
	if !errors.As(err, &faults) || len(faults.List) == 0 {
		t.Fatalf("no faults but %v", err)
	}
	lines := 2 + strings.Count(file, "\n") + strings.Count(file, "\r") + strings.Count(file, "\u2028") + strings.Count(file, "\u2029") + strings.Count(file, "\u0085")
	before := 0
	for _, l := range faults.List {
		if l.Line < 1 || l.Line > lines || l.Line < before {
			t.Errorf("line %d of %d after line %d", l.Line, lines, before)
		}
		before = l.Line
		if l.Message == "" || strings.ContainsFunc(l.Path+l.Message, unicode.IsControl) {
			t.Errorf("not fit to print: %q: %q", l.Path, l.Message)
		}
	}
}

// The line of a fault shows the last name of its path, or the name of a section
// it would stand in. Each round breaks a good file in a few places.
func TestLinesPointAtTheFault(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	wrong := []string{"x", "[]", "{a: b}", "true", "1.5", "", "'10.0.0.1'", "999999", "203.0.113.9", "10.0.0.0/8", "!t x"}
	broken := 0
	for _, name := range []string{"seed.yaml", "moved.yaml", "ranges.yaml"} {
		original := strings.Split(read(t, name), "\n")
		for range 400 {
			lines := append([]string{}, original...)
			for range 1 + random.IntN(4) {
				i := random.IntN(len(lines))
				key, value, ok := strings.Cut(lines[i], ": ")
				switch {
				case !ok || strings.Contains(value, "{"):
				case random.IntN(4) == 0:
					lines = append(lines[:i], lines[i+1:]...)
				case random.IntN(4) == 0:
					lines[i] = key + "s: " + value
				default:
					lines[i] = key + ": " + wrong[random.IntN(len(wrong))]
				}
			}
			file := strings.Join(lines, "\n")
			_, err := Bytes("cluster.yaml", []byte(file))
			var faults *Faults
			if !errors.As(err, &faults) {
				continue
			}
			checkFaults(t, err, file)
			for _, l := range faults.List {
				broken++
				if !shows(lines, l) {
					t.Errorf("line %d does not show %s (%s):\n%s", l.Line, l.Path, l.Message, file)
				}
			}
		}
	}
	if broken < 500 {
		t.Errorf("only %d faults looked at", broken)
	}
}

// shows says that a fault's line has a name of its path, line 1 stands for a
// section that is missing as a whole.
func shows(lines []string, l Located) bool {
	for path := l.Path; path != ""; path = parent(path) {
		if strings.Contains(lines[l.Line-1], strings.Split(last(path), "[")[0]) {
			return true
		}
	}
	return l.Line == 1 && !strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+strings.Split(l.Path, ".")[0]+":")
}
