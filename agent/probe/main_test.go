//go:build linux

package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"homeward/testenv/netlab"
)

// envChild makes the test binary be a probe of its own, in the network where it
// was started: its value is a job.
const envChild = "HOMEWARD_TEST_PROBE_JOB"

// job is what a child probes, until it is interrupted.
type job struct {
	Targets           []string
	Mode              Mode
	Interval, Timeout time.Duration
	// Files, if not zero, is how many open files it may have once it has begun.
	Files uint64
}

func TestMain(m *testing.M) {
	text := os.Getenv(envChild)
	if text == "" {
		netlab.Main(m)
	}
	if err := child(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child writes the events and the summary to standard output.
func child(text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
	defer stop()
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	endpoints, err := ParseEndpoints(j.Targets)
	if err != nil {
		return err
	}
	s := Settings{Mode: j.Mode, Interval: j.Interval, Timeout: j.Timeout, Path: "/"}
	if s.Targets, err = Resolve(ctx, net.DefaultResolver.LookupNetIP, endpoints); err != nil {
		return err
	}
	p, err := New(s)
	if err != nil {
		return err
	}
	if j.Files != 0 {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: j.Files, Max: j.Files}); err != nil {
			return err
		}
	}
	go p.Run(ctx)
	out := json.NewEncoder(os.Stdout)
	for e := range p.Events() {
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	summary := p.Summary()
	return out.Encode(Event{Kind: EventSummary, Summary: &summary})
}

// running is a child.
type running struct {
	t      testing.TB
	cmd    *netlab.Cmd
	events *bufio.Scanner
}

// start starts a child in a host and waits until it has begun.
func start(t testing.TB, h *netlab.Host, j job) *running {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	// A child from which nothing comes any more is killed, and that is told.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r := &running{t: t, cmd: h.Command(ctx, "/proc/self/exe")}
	r.cmd.Env = append(os.Environ(), envChild+"="+string(text))
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.events = bufio.NewScanner(out)
	r.events.Buffer(nil, 64<<20)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.wait(EventStart)
	return r
}

// wait reads until an event of a kind comes.
func (r *running) wait(kind EventKind) Event {
	r.t.Helper()
	for r.events.Scan() {
		var e Event
		if err := json.Unmarshal(r.events.Bytes(), &e); err != nil {
			r.t.Fatalf("%v: %s", err, r.events.Text())
		}
		if e.Kind == kind {
			return e
		}
	}
	r.t.Fatalf("the child ended without %s: %v", kind, r.events.Err())
	return Event{}
}

// signal sends a signal to the child.
func (r *running) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// stop ends the child and gives what it has measured.
func (r *running) stop() *Summary {
	r.t.Helper()
	r.signal(os.Interrupt)
	s := r.wait(EventSummary).Summary
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatal(err)
	}
	return s
}
