//go:build linux

package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
	"homeward/testenv/netlab/demo"
)

func TestLabDemo(t *testing.T) {
	needLab(t)
	r := newLabRun(t)
	svg := filepath.Join(t.TempDir(), "paths.svg")
	got := r.run("lab", "demo", "--without-shell", "-o", "json", "--plot", svg, "--agent", standIn(t, marksInPrerouting, marksInOutput))
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	t.Run("JSON has its names", func(t *testing.T) { wantDemoJSON(t, got.out) })
	t.Run("plot is drawn from the matrix", func(t *testing.T) {
		text, err := os.ReadFile(svg)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct{})); err != nil {
			t.Errorf("not well-formed: %v", err)
		}
		for _, want := range []string{"0 of 24 requests answered", "24 of 24 requests answered", "12 replies dropped"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the plot does not say %q", want)
			}
		}
	})
}

func wantDemoJSON(t *testing.T, text string) {
	t.Helper()
	var got struct {
		Contenders []struct {
			Name  string
			Cells []map[string]any
			Ready *int64 `json:"ready_ns"`
			// A fault is checked by its own names below.
			Faults []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, c := range got.Contenders {
		shape = append(shape, fmt.Sprintf("%s: %d cells, %d faults, ready %v", c.Name, len(c.Cells), len(c.Faults), c.Ready != nil))
	}
	want := []string{"nothing: 24 cells, 0 faults, ready false", "homeward: 24 cells, 3 faults, ready true"}
	if diff := cmp.Diff(want, shape); diff != "" {
		t.Fatalf("contenders (-want +got):\n%s", diff)
	}
	first := map[string]any{"backend": "pod here", "policy": "Cluster", "client": "behind router", "protocol": "tcp", "answered": false, "path": "private"}
	if diff := cmp.Diff(first, got.Contenders[0].Cells[0]); diff != "" {
		t.Errorf("first cell (-want +got):\n%s", diff)
	}
	fault := got.Contenders[1].Faults[0]
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range fault {
			if !yield(name) {
				return
			}
		}
	})
	if diff := cmp.Diff([]string{"fault", "load", "outage_ns", "repaired"}, names); diff != "" {
		t.Errorf("names of a fault (-want +got):\n%s", diff)
	}
}

func TestLabDemoFailsWhenAReplyIsLost(t *testing.T) {
	needLab(t)
	got := newLabRun(t).run("lab", "demo", "--without-shell", "--agent", standIn(t, marksInPrerouting))
	if got.code != 1 || !strings.Contains(got.err, "did not go home: host network here, policy Local, client behind router, udp (left by private)") {
		t.Errorf("exit %d, want 1; %s", got.code, got.err)
	}
	if !strings.Contains(got.out, "HOMEWARD") || strings.Contains(got.err, "building") {
		t.Errorf("the table is not the output:\n%s\n%s", got.out, got.err)
	}
}

func TestAllHome(t *testing.T) {
	home := netlab.Cell{Answered: true, Path: netlab.PathExternal}
	tests := map[string]struct {
		report demo.ContenderReport
		want   string
	}{
		"all home":               {demo.ContenderReport{Cells: []netlab.Cell{home}, Faults: []demo.FaultReport{{Repaired: true}}}, ""},
		"did not run":            {demo.ContenderReport{Name: "homeward", Skipped: "no program"}, "homeward did not run: no program"},
		"lost":                   {demo.ContenderReport{Cells: []netlab.Cell{home, {Path: netlab.PathNone}}}, "left by none"},
		"answered the wrong way": {demo.ContenderReport{Cells: []netlab.Cell{{Answered: true, Path: netlab.PathPrivate}}}, "left by private"},
		"not repaired":           {demo.ContenderReport{Cells: []netlab.Cell{home}, Faults: []demo.FaultReport{{Fault: "flush"}}}, "not repaired: flush"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := allHome(test.report)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestLabDemoInterrupted(t *testing.T) {
	needLab(t)
	agent := standIn(t, marksInPrerouting, marksInOutput)
	tests := map[string]struct {
		signal syscall.Signal
		group  bool
	}{
		"Ctrl-C, to the whole group": {syscall.SIGINT, true},
		"SIGINT to the tool":         {syscall.SIGINT, false},
		"SIGTERM to the tool":        {syscall.SIGTERM, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newLabRun(t)
			cmd := r.command("lab", "demo", "--without-shell", "--agent", agent)
			time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			done := make(chan result, 1)
			go func() { done <- finish(t, cmd) }()
			// Both stand-ins and a child of each are there: the load is running or near.
			waitFor(t, "the agents", func() bool { return len(r.processes()) >= 6 })
			pid := cmd.Process.Pid
			if test.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, test.signal); err != nil {
				t.Fatal(err)
			}
			if got := <-done; got.code != 1 || got.out != "" || got.err != "homeward: interrupted: nothing of the lab is left\n" {
				t.Errorf("exit %d, output %q, %q", got.code, got.out, got.err)
			}
			r.wantNothingLeft()
		})
	}
}

func TestLabDemoRefuses(t *testing.T) {
	agent := standIn(t)
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no agent beside the tool": {nil, 1, "make build"},
		"a path without an agent":  {[]string{"--agent", "no/agent"}, 2, "--agent: "},
		"an unknown format":        {[]string{"-o", "yaml", "--agent", agent}, 2, "give table or json"},
		"no directory to plot to":  {[]string{"--plot", "no/such/x.svg", "--agent", agent}, 2, "--plot: "},
		"an argument":              {[]string{"now"}, 2, "takes no argument"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := newLabRun(t).run(append([]string{"lab", "demo"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.err, test.want) || got.out != "" {
				t.Errorf("exit %d, want %d; %q, want %q", got.code, test.code, got.err, test.want)
			}
		})
	}
}

// TestProgress shows the steps on a terminal, and clears them at the end.
func TestProgress(t *testing.T) {
	master, terminal := openTerminal(t)
	p := newProgress(terminal)
	p.step("building")
	p.end()
	// So that there is something to read in any case.
	if _, err := terminal.WriteString("!"); err != nil {
		t.Fatal(err)
	}
	var got string
	for buf := make([]byte, 256); !strings.HasSuffix(got, "!"); { // a terminal gives what it has by now
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	if !strings.Contains(got, "building") || !strings.HasSuffix(got, clearLine+"!") {
		t.Errorf("on a terminal: %q", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	newProgress(w).step("building")
	w.Close()
	if got, err := io.ReadAll(r); err != nil || len(got) > 0 {
		t.Errorf("in a pipe: %q, %v", got, err)
	}
}

func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	need(t, "a terminal", err)
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	need(t, "a terminal", err)
	t.Cleanup(func() { terminal.Close() })
	return master, terminal
}
