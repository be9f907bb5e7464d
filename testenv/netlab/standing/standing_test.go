//go:build linux

package standing_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
	"homeward/testenv/netlab/standing"
)

func TestMain(m *testing.M) { netlab.Main(m) }

// hold holds a lab of one host and gives its socket and a channel with the error
// that Serve ends with.
func hold(t *testing.T) (socket string, ended chan error) {
	t.Helper()
	netlab.Require(t)
	h, err := netlab.NewHost("node1")
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(t.TempDir(), "lab")
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ended <- standing.Serve(ctx, socket, map[string]*netlab.Host{"node1": h})
	}()
	t.Cleanup(func() {
		cancel()
		<-gone
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	for standing.Down(t.Context(), socket, false) != nil {
		select {
		case err := <-ended:
			t.Fatal("holder ended:", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return socket, ended
}

// execute runs a program in the lab and gives its output, both kinds.
func execute(t *testing.T, ctx context.Context, socket, host, input string, args ...string) (string, int, error) {
	t.Helper()
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	if _, err := inW.WriteString(input); err != nil {
		t.Fatal(err)
	}
	if err := inW.Close(); err != nil {
		t.Fatal(err)
	}
	code, err := standing.Exec(ctx, socket, host, args, inR, outW, outW)
	_ = outW.Close()
	out, readErr := io.ReadAll(outR)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(out), code, err
}

func pipe(t *testing.T) (*os.File, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

func TestExec(t *testing.T) {
	socket, _ := hold(t)
	type outcome struct {
		Out  string
		Code int
	}
	tests := map[string]struct {
		input string
		args  []string
		want  outcome
	}{
		// Links are directories; the bonding driver has a file there.
		"runs inside the host": {args: []string{"sh", "-c", "cd /sys/class/net && echo */"}, want: outcome{Out: "lo/\n"}},
		"passes the input":     {input: "x y", args: []string{"cat"}, want: outcome{Out: "x y"}},
		"passes the exit code": {args: []string{"sh", "-c", "echo no >&2; exit 9"}, want: outcome{"no\n", 9}},
		"ended by a signal":    {args: []string{"sh", "-c", "kill -TERM $$"}, want: outcome{Code: 143}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out, code, err := execute(t, t.Context(), socket, "node1", test.input, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, outcome{out, code}); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExecFails(t *testing.T) {
	socket, _ := hold(t)
	tests := map[string]struct {
		socket, host string
		args         []string
		want         string
	}{
		"unknown host":    {socket, "node9", []string{"true"}, `no host "node9"`},
		"unknown program": {socket, "node1", []string{"no-such-program"}, "no-such-program"},
		"no program":      {socket, "node1", nil, "no program named"},
		"no lab":          {socket + "x", "node1", []string{"true"}, "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := execute(t, t.Context(), test.socket, test.host, "", test.args...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestExecKillsWhenTheClientLeaves(t *testing.T) {
	socket, _ := hold(t)
	inR, _ := pipe(t)
	outR, outW := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := standing.Exec(ctx, socket, "node1", []string{"sh", "-c", "echo here; exec sleep 60"}, inR, outW, outW)
		done <- err
	}()
	if _, err := outR.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled program counts as run")
	}
	_ = outW.Close()
	// The output ends only when the program is dead.
	gone := make(chan struct{})
	go func() { _, _ = io.ReadAll(outR); close(gone) }()
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the program lives on")
	}
}

func TestDown(t *testing.T) {
	socket, ended := hold(t)
	if err := standing.Serve(t.Context(), socket, nil); err == nil || !strings.Contains(err.Error(), "another lab") {
		t.Errorf("second holder of the same socket: %v", err)
	}
	if err := standing.Down(t.Context(), socket, true); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("holder ended with %v", err)
	}
	if err := standing.Down(t.Context(), socket, false); err == nil {
		t.Error("the lab still answers")
	}
}
