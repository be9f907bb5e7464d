package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/probe"
)

// door is a TCP server that can be closed for a while.
type door struct {
	t       testing.TB
	address string
	mu      sync.Mutex
	open    net.Listener
}

func newDoor(t testing.TB) *door {
	t.Helper()
	d := &door{t: t, address: "127.0.0.1:0"}
	d.up()
	d.address = d.open.Addr().String()
	t.Cleanup(d.down)
	return d
}

func (d *door) up() {
	l, err := net.Listen("tcp4", d.address)
	if err != nil {
		d.t.Error(err)
		return
	}
	d.mu.Lock()
	d.open = l
	d.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
}

func (d *door) down() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.open.Close()
}

// closed gives an address where nobody listens.
func closed(t testing.TB) string {
	d := newDoor(t)
	d.down()
	return d.address
}

func TestProbeTable(t *testing.T) {
	d := newDoor(t)
	got := homeward(t, "probe", d.address, "--count", "5", "--interval", "10ms")
	if got.code != 0 || got.err != "" || !strings.Contains(got.out, "5 of 5") || !strings.Contains(got.out, "The probe itself: attempts began late by") {
		t.Errorf("exit %d, stderr %q:\n%s", got.code, got.err, got.out)
	}
	// A piped run draws no live view.
	if strings.ContainsRune(got.out+got.err, '\x1b') {
		t.Errorf("escapes in %q", got.out+got.err)
	}
}

func TestProbeTargetThatNeverAnswers(t *testing.T) {
	address := closed(t)
	got := homeward(t, "probe", address, newDoor(t).address, "--count", "3", "--interval", "10ms")
	if got.code != 1 || !strings.Contains(got.err, address+" never answered (3 refused)") || !strings.Contains(got.out, "0 of 3") {
		t.Errorf("exit %d, stderr %q:\n%s", got.code, got.err, got.out)
	}
}

func TestProbeBound(t *testing.T) {
	for _, c := range []struct {
		bound string
		code  int
	}{{"500ms", 1}, {"30s", 0}} {
		t.Run(c.bound, func(t *testing.T) {
			d := newDoor(t)
			time.AfterFunc(150*time.Millisecond, d.down)
			time.AfterFunc(1150*time.Millisecond, d.up)
			got := homeward(t, "probe", d.address, "--duration", "1400ms", "--interval", "20ms", "--expect-outage-below", c.bound)
			if got.code != c.code || (c.code == 1) != strings.Contains(got.err, "longer than "+c.bound) || !strings.Contains(got.out, "OUTAGE OF") {
				t.Errorf("exit %d, stderr %q:\n%s", got.code, got.err, got.out)
			}
		})
	}
}

func TestProbeStream(t *testing.T) {
	d := newDoor(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"probe", d.address, "--interval", "10ms", "-o", "jsonl"}, streams{in: strings.NewReader(""), out: writer, err: io.Discard})
		_ = writer.Close()
	}()
	// Events come while they happen: each one lets the next happen.
	next := map[probe.EventKind]func(){
		probe.EventStart:       func() { time.AfterFunc(100*time.Millisecond, d.down) },
		probe.EventOutageStart: d.up,
		probe.EventOutageEnd:   cancel,
	}
	var kinds []probe.EventKind
	var last probe.Event
	for lines := json.NewDecoder(reader); ; {
		var e probe.Event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if then := next[e.Kind]; then != nil {
			then()
		}
		kinds, last = append(kinds, e.Kind), e
	}
	want := []probe.EventKind{probe.EventStart, probe.EventOutageStart, probe.EventOutageEnd, probe.EventSummary}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if c := <-code; c != 0 {
		t.Errorf("exit %d", c)
	}
	if s := last.Summary; s.Targets[0].OutageCount != 1 || s.Targets[0].Failed == 0 {
		t.Errorf("%+v", s)
	}
}

func TestProbeJSON(t *testing.T) {
	got := homeward(t, "probe", newDoor(t).address, "--count", "3", "--interval", "10ms", "-o", "json")
	var s probe.Summary
	if err := json.Unmarshal([]byte(got.out), &s); err != nil || got.code != 0 || len(s.Targets) != 1 || s.Targets[0].Answered != 3 {
		t.Errorf("exit %d, %v:\n%s", got.code, err, got.out)
	}
}

// Every field of the contract is in the help.
func TestProbeFieldsAreDocumented(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(probeLong) {
				t.Errorf("%s.%s is not in the help", typ, name)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[probe.Event]())
	if len(seen) < 8 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestProbePlot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "drill.svg")
	if err := os.WriteFile(path, []byte("an earlier one"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := homeward(t, "probe", newDoor(t).address, "--count", "5", "--interval", "10ms", "--plot", path)
	text, err := os.ReadFile(path)
	if err != nil || got.code != 0 || !bytes.Contains(text, []byte("</svg>")) {
		t.Errorf("exit %d, %v: %s", got.code, err, text)
	}
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestProbeMistakes(t *testing.T) {
	good := closed(t)
	many := make([]string, 0, 10_001)
	many = append(many, "probe")
	for range 10_000 {
		many = append(many, good)
	}
	for _, c := range []struct {
		name string
		args []string
		text []string
	}{
		{"no target", []string{"probe"}, []string{"no target"}},
		{"10,000 targets", many, []string{"10000 targets are more", "2000"}},
		{"all at once", []string{"probe", "a:0", "b", "-o", "xml"}, []string{`"0" is no port`, `"b" has no port`, "table, json or jsonl"}},
		{"no interval", []string{"probe", good, "--interval", "0s"}, []string{"interval 0s"}},
		{"negative duration", []string{"probe", good, "--duration", "-3s"}, []string{"--duration -3s"}},
		{"zero duration", []string{"probe", good, "--duration", "0s"}, []string{"--duration 0s"}},
		{"zero count", []string{"probe", good, "--count", "0"}, []string{"--count 0"}},
		{"zero bound", []string{"probe", good, "--expect-outage-below", "0s"}, []string{"--expect-outage-below 0s"}},
		{"a bound that cannot be seen", []string{"probe", good, "--expect-outage-below", "150ms"}, []string{"give --interval 75ms or less"}},
		{"two modes", []string{"probe", good, "--tls", "--udp"}, []string{"--tls and --udp exclude"}},
		{"a path for nothing", []string{"probe", good, "--path", "/x"}, []string{"--path needs --http"}},
		{"plot into nowhere", []string{"probe", good, "--plot", filepath.Join(t.TempDir(), "no", "x.svg")}, []string{"--plot"}},
		{"plot over a directory", []string{"probe", good, "--plot", t.TempDir()}, []string{"no plain file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := homeward(t, c.args...)
			if got.code != 2 || got.out != "" {
				t.Errorf("exit %d, stdout %q", got.code, got.out)
			}
			for _, text := range c.text {
				if !strings.Contains(got.err, text) {
					t.Errorf("stderr %q, want %q in it", got.err, text)
				}
			}
		})
	}
}

func TestInterruptedProbePrintsItsSummary(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"probe", newDoor(t).address, "--interval", "10ms"}, streams{in: strings.NewReader(""), out: &out, err: &errs})
	if code != 0 || !strings.Contains(out.String(), "OUTAGES") {
		t.Errorf("exit %d, stderr %q:\n%s", code, &errs, &out)
	}
}

func TestProbeWithoutFilesIsUnknown(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" "$@"`, self, "probe", closed(t), "--count", "1")
	cmd.Env = append(os.Environ(), asMain+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != int(exitUnknown) || !strings.Contains(string(out), "too few open files") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestProbeThatCannotWriteIsNoSuccess(t *testing.T) {
	for _, format := range []string{"table", "json", "jsonl"} {
		var stderr bytes.Buffer
		code := run(t.Context(), []string{"probe", newDoor(t).address, "--count", "2", "--interval", "10ms", "-o", format}, streams{in: strings.NewReader(""), out: fullWriter{}, err: &stderr})
		if code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: exit %d, %s", format, code, &stderr)
		}
	}
}
