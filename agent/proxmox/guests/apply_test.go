package guests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/agent/ledger"
)

func noPause(context.Context, time.Duration) error { return nil }

// apply is Apply without pauses.
func apply(f *fake, d Desired, o Options) (Result, error) {
	r := run{api: f, at: f.at(), d: d, o: o, tries: make(map[string]int), pause: noPause}
	err := r.all(context.Background())
	return r.result, err
}

// worker is a running guest that the firewall filters already, with a set that
// lacks the pool, rules of ours that are stale and of others, and a tag that is not
// the plan's.
func worker() *fake {
	m := mark{owner}
	nics := map[string]string{
		"net0": "virtio=02:00:00:00:00:03,bridge=vmbr1,firewall=1,queues=4",
		"net1": "virtio=02:00:00:00:00:04,bridge=vmbr0,firewall=1,rate=10,tag=1690",
	}
	return &fake{
		Name: "edge-worker-01", Running: true,
		Config: nics, Current: map[string]string{"net0": nics["net0"], "net1": nics["net1"]},
		Datacenter: map[string]string{"enable": "1"},
		Options:    map[string]string{"enable": "1", "policy_in": "DROP"},
		Sets: map[string]*fakeSet{"ipfilter-net1": {Members: []fakeMember{
			{CIDR: "169.254.32.10", Comment: m.comment(forAnchor)}, {CIDR: "203.0.113.99", Comment: m.comment(forPool)}, {CIDR: "192.0.2.50", Comment: "by hand"},
		}}},
		Rules: []map[string]string{
			{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "tcp", "dport": "22", "comment": "jump host"},
			{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "tcp", "dport": "9999", "comment": m.comment("old/office")},
			{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "icmp", "comment": m.comment("icmp")},
			{"type": "in", "action": "ACCEPT", "enable": "1", "proto": "icmp", "comment": m.comment("icmp")},
		},
	}
}

// bare is a stopped guest that nobody has prepared.
func bare() *fake {
	return &fake{
		Name: "edge-worker-01", Config: map[string]string{"net0": "e1000=BC:24:11:00:00:09,bridge=vmbr9"}, Current: map[string]string{},
		Datacenter: map[string]string{"enable": "1"}, Options: map[string]string{}, Sets: map[string]*fakeSet{},
	}
}

func TestApplyMendsAndIsIdempotent(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	for name, f := range map[string]*fake{"running and filtered": worker(), "bare and stopped": bare()} {
		t.Run(name, func(t *testing.T) {
			result, err := apply(f, d, Options{})
			if err != nil || len(result.Left) > 0 {
				t.Fatalf("apply: %v, left %v", err, result.Left)
			}
			for _, cidr := range []string{"203.0.113.75", "203.0.113.76/31", "203.0.113.78", "203.0.113.79", "169.254.32.10", "203.0.113.61"} {
				if !f.has("ipfilter-net1", cidr) {
					t.Errorf("ipfilter-net1 lacks %s", cidr)
				}
			}
			if f.has("ipfilter-net1", "203.0.113.99") {
				t.Error("a member of ours that the plan has no more still stands")
			}
			if f.Options["enable"] != "1" || f.Options["policy_in"] != "DROP" {
				t.Errorf("options are %v", f.Options)
			}
			before := f.state()
			f.writes = 0
			if again, err := apply(f, d, Options{}); err != nil || f.writes != 0 || len(again.Done) != 0 {
				t.Errorf("second run: %v, %d writes: %v", err, f.writes, again.Done)
			}
			if diff := cmp.Diff(before, f.state()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApplyKeepsWhatIsForeign(t *testing.T) {
	p := edge(t)
	f := worker()
	if _, err := apply(f, For(p, p.Machines[1], owner), Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Config["net1"], "virtio=02:00:00:00:00:04,bridge=vmbr0,firewall=1,rate=10,tag=1691"; got != want {
		t.Errorf("net1 is %s, want %s", got, want)
	}
	if !f.has("ipfilter-net1", "192.0.2.50") {
		t.Error("a member that somebody made by hand is gone")
	}
	if last := f.Rules[len(f.Rules)-2]; last["comment"] != "jump host" {
		t.Errorf("somebody's rule is gone: %v", f.Rules)
	}
}

// TestApplyKilled kills the run after each of its requests, before and after it was
// made, and runs it again: the end is the same.
func TestApplyKilled(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	for name, make := range map[string]func() *fake{"worker": worker, "bare": bare} {
		whole := make()
		whole.fault = func(int, string) (error, error) { return nil, nil }
		if _, err := apply(whole, d, Options{}); err != nil {
			t.Fatal(err)
		}
		want, requests := whole.state(), whole.n
		if requests < 40 {
			t.Fatalf("%s: only %d requests: the search sees nothing", name, requests)
		}
		for k := range requests {
			for _, made := range []bool{false, true} {
				f := make()
				f.fault = func(n int, _ string) (before, after error) {
					switch {
					case n > k || n == k && !made:
						return errKilled, nil
					case n == k:
						return nil, errKilled
					}
					return nil, nil
				}
				if _, err := apply(f, d, Options{}); !errors.Is(err, errKilled) {
					t.Fatalf("%s: killed at request %d: %v", name, k, err)
				}
				f.fault = nil
				if _, err := apply(f, d, Options{}); err != nil {
					t.Fatalf("%s: rerun after request %d: %v", name, k, err)
				}
				if diff := cmp.Diff(want, f.state()); diff != "" {
					t.Fatalf("%s: killed at request %d (made: %v), then rerun (-whole +rerun):\n%s", name, k, made, diff)
				}
			}
		}
		t.Logf("%s: killed before and after each of %d requests", name, requests)
	}
}

// TestApplyUnknownOutcomes leaves the outcome of each write unknown in turn, made
// or not: the run reads back and ends as if nothing had happened.
func TestApplyUnknownOutcomes(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	whole := worker()
	if _, err := apply(whole, d, Options{}); err != nil {
		t.Fatal(err)
	}
	for k := range whole.writes {
		for _, made := range []bool{false, true} {
			f, writes := worker(), 0
			f.fault = func(_ int, method string) (before, after error) {
				if method == "GET" {
					return nil, nil
				}
				writes++
				unknown := fmt.Errorf("596: %w", ledger.ErrUnknown)
				switch {
				case writes-1 == k && made:
					return nil, unknown
				case writes-1 == k:
					return unknown, nil
				}
				return nil, nil
			}
			if _, err := apply(f, d, Options{}); err != nil {
				t.Fatalf("write %d unknown (made: %v): %v", k, made, err)
			}
			if diff := cmp.Diff(whole.state(), f.state()); diff != "" {
				t.Errorf("write %d unknown (made: %v) (-whole +this):\n%s", k, made, diff)
			}
		}
	}
}

func TestApplyStops(t *testing.T) {
	p := edge(t)
	d := For(p, p.Machines[1], owner)
	refuse := func(err error, from int) func(int, string) (error, error) {
		writes := 0
		return func(_ int, method string) (error, error) {
			if method != "GET" {
				if writes++; writes > from {
					return err, nil
				}
			}
			return nil, nil
		}
	}
	t.Run("at a refusal, with what was done and what was not", func(t *testing.T) {
		f := worker()
		f.fault = refuse(fmt.Errorf("403: %w", ledger.ErrRefused), 2)
		result, err := apply(f, d, Options{})
		if !errors.Is(err, ledger.ErrRefused) || len(result.Done) != 2 || len(result.Left) == 0 {
			t.Fatalf("done %d, left %d: %v", len(result.Done), len(result.Left), err)
		}
	})
	t.Run("when the outcome stays unknown", func(t *testing.T) {
		f := worker()
		f.fault = refuse(fmt.Errorf("596: %w", ledger.ErrUnknown), 0)
		result, err := apply(f, d, Options{})
		if !errors.Is(err, ledger.ErrUnknown) || len(result.Done) != 0 || f.writes != 0 {
			t.Fatalf("done %v: %v", result.Done, err)
		}
	})
	t.Run("when the guest is not ours any more", func(t *testing.T) {
		f := worker()
		d := d
		d.Machine.VMID = 0
		f.each = func() {
			f.Name = "db1"
			f.Config = map[string]string{"net0": "virtio=BC:24:11:00:00:77,bridge=vmbr0"}
			f.Current = f.Config
		}
		_, err := apply(f, d, Options{})
		if err == nil || !strings.Contains(err.Error(), "is not edge-worker-01") || f.writes != 1 {
			t.Fatalf("%d writes: %v", f.writes, err)
		}
	})
	t.Run("when a digest is stale once, it goes on", func(t *testing.T) {
		f := worker()
		once := true
		f.fault = func(_ int, method string) (error, error) {
			if method == "PUT" && once {
				once = false
				return fmt.Errorf("500: %w", ledger.ErrStale), nil
			}
			return nil, nil
		}
		if _, err := apply(f, d, Options{}); err != nil || once {
			t.Fatal(err)
		}
	})
}
