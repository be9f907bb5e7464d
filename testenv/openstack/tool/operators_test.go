//go:build linux

package tool

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/openstack"
	"homeward/testenv/openstack/faults"
)

// clone is a second operator's directory, with what version control keeps and the
// secrets.
func (s *site) clone(files ...string) *site {
	s.t.Helper()
	other := *s
	other.dir = s.t.TempDir()
	for _, name := range append(files, "cluster.yaml", "secrets.yaml") {
		other.write(name, s.read(name))
	}
	return &other
}

// together runs the same command as several operators at once, and gives the exit codes
// in the order of the operators.
func together(operators []*site, args ...string) []int {
	codes := make([]int, len(operators))
	var running sync.WaitGroup
	for i, o := range operators {
		running.Go(func() { codes[i], _, _ = o.run(nil, args...) })
	}
	running.Wait()
	return codes
}

// Two operators begin one cluster at once, each as the first: at most one has it. Then
// both have its id, and reserve at once again, a change too: both are done, with one
// cluster.
func TestTwoOperators(t *testing.T) {
	a := newSite(t)
	b := a.clone()
	before := a.has()
	both := []*site{a, b}
	codes := together(both, "reserve")
	switch slices.Sort(codes); {
	case slices.Equal(codes, []int{exitDone, exitTaken}):
	case slices.Equal(codes, []int{exitTaken, exitTaken}):
		t.Log("both gave way")
	default:
		t.Fatalf("as two first ones: %v", codes)
	}
	winner := -1
	for i, o := range both {
		if code, _, _ := o.run(nil, "reserve"); code == exitDone {
			winner = i
		}
	}
	if winner < 0 {
		t.Fatal("afterwards none of them can reserve")
	}
	first, second := both[winner], both[1-winner]
	if _, out, _ := second.run(nil, "status"); !strings.Contains(out, "same name with another id ("+first.id()+")") {
		t.Errorf("the other is not told whose the cluster is: %s", out)
	}
	second.write("homeward.id", first.id()+"\n")
	first.plan(2)
	second.plan(2)
	if codes := together(both, "reserve"); !slices.Equal(codes, []int{exitDone, exitDone}) {
		t.Fatalf("as two of one cluster: %v", codes)
	}
	if diff := cmp.Diff(first.allocation(), second.allocation()); diff != "" {
		t.Errorf("they allocated (-one +other):\n%s", diff)
	}
	first.wants(exitDone, "status")
	want := map[openstack.Resource]int{openstack.Networks: 1, openstack.Subnets: 1, openstack.Routers: 1, openstack.Groups: 1, openstack.Ports: 3 + 2 + 1, openstack.FloatingIPs: 2}
	for kind, n := range first.has() {
		if kind != openstack.GroupRules && n != want[kind] {
			t.Errorf("%d of %s, want %d", n, kind, want[kind])
		}
	}
	codes = together(both, "release")
	for _, code := range codes {
		if code != exitDone {
			t.Errorf("both released: %v", codes)
		}
	}
	if diff := cmp.Diff(before, a.has()); diff != "" {
		t.Errorf("after the release (-before +after):\n%s", diff)
	}
}

// id is the last line of homeward.id; the others are for those who find it.
func (s *site) id() string {
	s.t.Helper()
	lines := strings.Split(strings.TrimSpace(s.read("homeward.id")), "\n")
	return lines[len(lines)-1]
}

// What goes wrong has its exit code and its words, and a rerun ends it.
func TestExitCodes(t *testing.T) {
	s := newSite(t)
	before := s.has()
	proxy, err := faults.Start(s.cloud.Identity(), s.cloud.Network())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	}()
	s.url = proxy.Identity()
	s.plan(1)
	network := func(method, path string, times int) faults.Match {
		return faults.Match{Service: faults.Network, Method: method, Path: path, Times: times}
	}
	for _, c := range []struct {
		name  string
		match faults.Match
		fault faults.Fault
		code  int
		says  []string
	}{
		{"lists are away", network("GET", "/v2.0/networks", faults.Always), faults.Balancer(503), exitUnknown, []string{"GET /networks", "503"}},
		{"a web page", network("GET", "/v2.0/networks", faults.Always), faults.Answer(200, "text/html", "<html>log in</html>"), exitUnknown, []string{"web page", "openstack.url"}},
		{"not allowed", network(faults.Write, "", faults.Always), faults.Refuse(403, "PolicyNotAuthorized", "rule:create_network is disallowed by policy"), exitFailed, []string{"403 PolicyNotAuthorized", "role member"}},
		{"a quota", network("POST", "/v2.0/routers", faults.Always), faults.Refuse(409, "OverQuota", "Quota exceeded for resources: ['router']."), exitFailed, []string{"routers", "openstack quota set"}},
		{"the subnet is full", network("POST", "/v2.0/ports", faults.Always), faults.Refuse(409, "IpAddressGenerationFailure", "No more IP addresses available on network n."), exitFailed, []string{"network.cidr has no address left"}},
		{"no floating IP is left", network("POST", "/v2.0/floatingips", faults.Always), faults.Refuse(409, "IpAddressGenerationFailure", "No more IP addresses available on network n."), exitFailed, []string{"the external network has no address left"}},
		{"the token is taken by nobody", network("", "", faults.Always), faults.Unauthorized(), exitFailed, []string{"credential"}},
		{"Keystone is away", faults.Match{Service: faults.Identity, Times: faults.Always}, faults.Balancer(503), exitUnknown, []string{"/auth/tokens", "503"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := proxy.Add(c.match, c.fault)
			defer proxy.Clear()
			code, out, text := s.run(nil, "reserve")
			text += out
			if code != c.code || rule.Met() == 0 {
				t.Errorf("exit %d, want %d (%d requests met it): %s", code, c.code, rule.Met(), text)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q: %s", want, text)
				}
			}
		})
	}
	t.Run("a wrong credential", func(t *testing.T) {
		right := s.read("secrets.yaml")
		s.write("secrets.yaml", strings.Replace(right, s.project.Credential.Secret, "wrong-"+s.project.Credential.Secret[6:], 1))
		if code, out, text := s.run(nil, "reserve"); code != exitFailed || !strings.Contains(out+text, "does not take the credential") {
			t.Errorf("exit %d: %s%s", code, out, text)
		}
		s.write("secrets.yaml", strings.Replace(right, s.project.Credential.ID, strings.Repeat("f", 32), 1))
		if code, out, text := s.run(nil, "reserve"); code != exitFailed || !strings.Contains(out+text, "look at the id of the credential") {
			t.Errorf("another id: exit %d: %s%s", code, out, text)
		}
		s.write("secrets.yaml", right)
	})
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			s.plan(2 + i) // there is something to make
			stop := make(chan syscall.Signal, 1)
			rule := proxy.Add(network(faults.Write, "", 1), faults.Lose(func() { stop <- signal }))
			defer proxy.Clear()
			code, out, text := s.run(stop, "reserve")
			text += out
			if rule.Met() != 1 {
				t.Errorf("%d requests met it", rule.Met())
			}
			if signal == syscall.SIGKILL {
				if code != -1 {
					t.Errorf("exit %d: %s", code, text)
				}
				return // it cannot say anything
			}
			if code != exitUnknown || !strings.Contains(text, "unknown") && !strings.Contains(text, "run it again") {
				t.Errorf("exit %d: %s", code, text)
			}
		})
	}
	s.wants(exitDone, "reserve")
	s.wants(exitDone, "status")
	s.wants(exitDone, "release")
	if after := s.has(); !maps.Equal(before, after) {
		t.Errorf("after the release there are %v, before %v", after, before)
	}
}

// signalled sends a process what comes over a channel, as long as it runs.
func signalled(p *os.Process, stop <-chan syscall.Signal) (end func()) {
	done := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case sig := <-stop:
			_ = p.Signal(sig) // it may have ended
		case <-done:
		case <-time.After(time.Minute):
		}
	})
	return func() { close(done); waiting.Wait() }
}
