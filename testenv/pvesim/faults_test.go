package pvesim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/pvesim"
)

// faulty is a simulator whose next fault a test sets.
type faulty struct {
	*pvesim.Sim
	mu    sync.Mutex
	fault pvesim.Fault
}

func newFaulty(t testing.TB, times pvesim.Times) (*faulty, *client) {
	f := &faulty{}
	f.Sim = newSim(t, pvesim.Options{Times: times, Hook: func(pvesim.Request) pvesim.Fault {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.fault
	}})
	c := inProcess(t, f.Sim, "pve1")
	c.must("POST", sets, "name", "lab")
	return f, c
}

func (f *faulty) set(fault pvesim.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// members are those of the set as it truly is.
func (f *faulty) members() []string {
	out := []string{}
	list, _ := f.State().Set(pvesim.ClusterScope, "lab")
	for _, m := range list {
		out = append(out, m.CIDR)
	}
	return out
}

func TestFaultsOfWrites(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  pvesim.Fault
		status string // empty for no answer
		want   []string
	}{
		{"none", pvesim.Fault{}, "200 OK", []string{"192.0.2.1"}},
		{"596 after the write", pvesim.Fault{Answer: pvesim.AnswerTimedOut}, "596 Connection timed out", []string{"192.0.2.1"}},
		{"596 without the write", pvesim.Fault{Apply: pvesim.ApplyNever, Answer: pvesim.AnswerTimedOut}, "596 Connection timed out", []string{}},
		{"595 without the write", pvesim.Fault{Apply: pvesim.ApplyNever, Answer: pvesim.AnswerNoRoute}, "595 No route to host", []string{}},
		{"reset after the write", pvesim.Fault{Answer: pvesim.AnswerDrop}, "", []string{"192.0.2.1"}},
		{"reset before the write", pvesim.Fault{Apply: pvesim.ApplyNever, Answer: pvesim.AnswerDrop}, "", []string{}},
		{"lock time-out", pvesim.Fault{Refuse: pvesim.RefuseLock}, "500 cfs-lock 'firewall-cluster' error: got lock request timeout", []string{}},
		{"no quorum", pvesim.Fault{Refuse: pvesim.RefuseNoQuorum}, "500 cfs-lock 'firewall-cluster' error: no quorum!", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, c := newFaulty(t, pvesim.Times{})
			f.set(test.fault)
			got, err := c.try("POST", sets+"/lab", "cidr", "192.0.2.1")
			if strings.HasPrefix(test.status, "59") && got.body != "" {
				t.Errorf("an answer that no API gave has a body: %s", got.body)
			}
			if (err != nil) != (test.status == "") || err != nil && !errors.Is(err, syscall.ECONNRESET) || got.status != test.status {
				t.Errorf("%q, %v, want %q", got.status, err, test.status)
			}
			if diff := cmp.Diff(test.want, f.members()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWriteThatHappensLater(t *testing.T) {
	f, c := newFaulty(t, pvesim.Times{})
	f.set(pvesim.Fault{Apply: pvesim.ApplyLater, Answer: pvesim.AnswerTimedOut})
	c.refused("596 Connection timed out", "", "POST", sets+"/lab", "cidr", "192.0.2.1", "comment", "late")
	f.set(pvesim.Fault{})
	if got := len(list(c.must("GET", sets+"/lab"))); got != 0 {
		t.Errorf("%d members before the node wakes up", got)
	}
	c.must("POST", sets+"/lab", "cidr", "192.0.2.2")
	if n := f.Settle(); n != 1 {
		t.Errorf("%d writes came late, want 1", n)
	}
	if diff := cmp.Diff([]string{"192.0.2.1", "192.0.2.2"}, f.members()); diff != "" {
		t.Error(diff)
	}
	if f.Settle() != 0 {
		t.Error("a late write comes twice")
	}
}

func TestHostileAnswers(t *testing.T) {
	f, c := newFaulty(t, pvesim.Times{})
	c.must("POST", sets+"/lab", "cidr", "192.0.2.1")
	for _, test := range []struct {
		name  string
		fault pvesim.Fault
		holds func(reply, error) bool
	}{
		{"a page", pvesim.Fault{Answer: pvesim.AnswerHTML}, func(r reply, err error) bool { return strings.HasPrefix(r.body, "<!DOCTYPE") && r.code == 200 }},
		{"half of it", pvesim.Fault{Answer: pvesim.AnswerTruncated}, func(_ reply, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"other types", pvesim.Fault{Answer: pvesim.AnswerWrongTypes}, func(r reply, err error) bool { return r.data != nil && err == nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.set(test.fault)
			if r, err := c.try("GET", sets+"/lab"); !test.holds(r, err) {
				t.Errorf("%s: %.200s, %v", r.status, r.body, err)
			}
		})
	}
	t.Run("very much", func(t *testing.T) {
		f.set(pvesim.Fault{Answer: pvesim.AnswerHuge})
		r, err := http.NewRequest("GET", c.base+"/api2/json"+sets+"/lab", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", c.auth)
		resp, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); n < 64<<20 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		f.set(pvesim.Fault{Answer: pvesim.AnswerRedirect, Location: "https://evil.invalid/"})
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		c.refused("302 Found", "", "GET", sets+"/lab")
	})
}

func TestNoQuorum(t *testing.T) {
	st := pvesim.NewState()
	st.SetQuorate(false)
	if err := st.AddGuest(pvesim.Guest{Kind: pvesim.QEMU, VMID: 100, Node: "pve1"}); err != nil {
		t.Fatal(err)
	}
	var slept time.Duration
	c := inProcess(t, newSim(t, pvesim.Options{State: st, Times: pvesim.Times{NoQuorum: 10 * time.Second}, Sleep: func(d time.Duration) { slept += d }}), "pve1")
	c.must("GET", sets)
	c.refused("500 cfs-lock 'firewall-cluster' error: no quorum!", "", "POST", sets, "name", "lab")
	c.refused("500 cfs-lock 'firewall-100' error: no quorum!", "", "PUT", vm+"/firewall/options", "enable", "1")
	c.refused("500 cfs-lock 'file-user_cfg' error: no quorum!", "", "POST", "/pools", "poolid", "x")
	c.refused("500 unable to open file '/etc/pve/nodes/pve1/qemu-server/100.conf.tmp' - Permission denied", "", "PUT", vm+"/config", "name", "x")
	if slept != 40*time.Second {
		t.Errorf("four refusals took %v", slept)
	}
	if status := list(c.must("GET", "/cluster/status")); status[0]["quorate"] != 0.0 {
		t.Errorf("status %v", status)
	}
}

func TestLaggingNode(t *testing.T) {
	s := newSim(t, pvesim.Options{})
	one, two := inProcess(t, s, "pve1"), inProcess(t, s, "pve2")
	one.must("POST", sets, "name", "lab")
	s.Lag("pve2")
	one.must("POST", sets+"/lab", "cidr", "192.0.2.1")
	if got := len(list(two.must("GET", sets+"/lab"))); got != 0 {
		t.Errorf("pve2 shows %d members already", got)
	}
	two.refused(badParams, "cidr: address '192.0.2.1' already exists", "POST", sets+"/lab", "cidr", "192.0.2.1")
	two.must("POST", sets+"/lab", "cidr", "192.0.2.2")
	if got := len(list(two.must("GET", sets+"/lab"))); got != 2 {
		t.Errorf("pve2 shows %d members after its own write, want 2", got)
	}
	one.must("POST", sets+"/lab", "cidr", "192.0.2.3")
	s.Catch("pve2")
	if got := len(list(two.must("GET", sets+"/lab"))); got != 3 {
		t.Errorf("pve2 shows %d members, want 3", got)
	}
}

func TestClientGivesUp(t *testing.T) {
	release := make(chan struct{})
	s := newSim(t, pvesim.Options{Times: pvesim.Times{Latency: time.Hour}, Sleep: func(time.Duration) { <-release }})
	c := inProcess(t, s, "pve1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", c.base+"/api2/json"+sets, strings.NewReader("name=lab"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.send(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	close(release) // the server goes on
	for len(s.State().Sets(pvesim.ClusterScope)) == 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestPaceOfWrites holds a write at the moment when it has the lock.
func TestPaceOfWrites(t *testing.T) {
	const hold, poll = 95 * time.Millisecond, time.Second
	writing, goOn := make(chan bool), make(chan bool)
	var polls atomic.Int32
	s := newSim(t, pvesim.Options{Times: pvesim.Times{Write: hold, Poll: poll, GiveUp: 10 * time.Second}, Sleep: func(d time.Duration) {
		switch d {
		case hold:
			writing <- true
			<-goOn
		case poll:
			polls.Add(1)
		}
	}})
	c := inProcess(t, s, "pve1")
	first := make(chan reply)
	go func() { first <- c.do("POST", sets, "name", "one") }()
	<-writing
	c.refused("500 cfs-lock 'firewall-cluster' error: got lock request timeout", "", "POST", sets, "name", "two")
	if polls.Load() != 10 {
		t.Errorf("asked %d times for the lock, want 10", polls.Load())
	}
	c.must("GET", sets) // a read waits for nobody
	other := make(chan reply)
	go func() { other <- c.do("POST", "/pools", "poolid", "x") }() // nor does what has another lock
	<-writing
	goOn <- true
	goOn <- true
	if one, pool := <-first, <-other; one.code != 200 || pool.code != 200 {
		t.Errorf("%s, %s", one.status, pool.status)
	}
	if got := s.State().Sets(pvesim.ClusterScope); !cmp.Equal(got, []string{"one"}) {
		t.Errorf("sets %v", got)
	}
}
