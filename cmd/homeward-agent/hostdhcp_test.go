//go:build linux

package main

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// dhcpServer starts a real dnsmasq on the segment.
func (s *site) dhcpServer(pool string) {
	s.t.Helper()
	path, err := dnsmasq()
	if err != nil && os.Getenv("CI") == "true" {
		s.t.Fatal(err)
	}
	if err != nil {
		s.t.Skipf("no DHCP server to ask: %v (Debian: apt-get install dnsmasq-base)", err)
	}
	server := s.join("dhcp", nil, netip.MustParseAddr("203.0.113.2"))
	var log syncBuffer
	cmd := server.Command(context.Background(), path, "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--port=0",
		"--user=root", "--group=root", "--pid-file=", "--leasefile-ro", "--interface=ext", "--bind-interfaces", "--no-ping", "--dhcp-range="+pool+",1h", "--log-dhcp")
	cmd.Stdout, cmd.Stderr = &log, &log
	s.do(cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		text := log.String()
		if s.t.Failed() {
			s.t.Logf("dnsmasq says:\n%s", text)
		}
		if strings.Contains(text, "DHCPREQUEST") {
			s.t.Error("an address was requested: only offers may be asked for")
		}
	})
	for end := time.Now().Add(patience); !strings.Contains(log.String(), "DHCP, IP range"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("dnsmasq is not up")
		}
	}
}

// dnsmasq finds the program, also where only root has it in PATH.
func dnsmasq() (string, error) {
	path, err := exec.LookPath("dnsmasq")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/dnsmasq")
	}
	return path, err
}

func TestHostDHCPCheck(t *testing.T) {
	for _, c := range []struct {
		name, pool string
		gateway    bool
		code       int
		want       []string
	}{
		{"a range with the pool in it", "203.0.113.70,203.0.113.100", true, exitFailed, []string{
			"203.0.113.2  203.0.113.75  203.0.113.75", "203.0.113.2  203.0.113.79  203.0.113.79", "WRONG: that is ingress", "WRONG: that is kubeapi",
		}},
		{"a range beside the pool", "203.0.113.80,203.0.113.100", true, exitDone, []string{"no address of the plan", "203.0.113.1 answered, so this is what is offered here"}},
		{"a server that is heard, and no gateway", "203.0.113.80,203.0.113.100", false, exitUnknown, []string{
			"no address of the plan", "There may be more servers than those, for the path is not proven",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if c.gateway {
				s.join("router", nil, segGateway)
			}
			s.dhcpServer(c.pool)
			code, out, log := s.once("--dhcp-check")
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, log)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if c.code == exitDone && strings.Contains(out, "WRONG") {
				t.Errorf("a wrong one:\n%s", out)
			}
		})
	}
}

// TestHostDHCPCheckWithoutOffers holds that silence means something only where a
// known address answers.
func TestHostDHCPCheckWithoutOffers(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s *site)
		flags []string
		code  int
		table string
		want  dhcpSummary
	}{
		{
			"the gateway answers", func(s *site) { s.join("router", nil, segGateway) }, nil, exitDone,
			"203.0.113.1 answered, and no DHCP server offered anything.\n", dhcpSummary{Proven: true, Witness: segGateway},
		},
		{
			"deaf", func(s *site) {
				s.join("router", nil, segGateway)
				s.do(s.plugs.SetDown("br0"))
			}, nil, exitUnknown,
			"No DHCP server offered anything, which proves nothing: nothing at all was heard here", dhcpSummary{Doubt: "nothing at all was heard here"},
		},
		{
			"nobody to ask", func(*site) {}, []string{"--plan="}, exitUnknown,
			"proves nothing: no address was known to ask for: name one that answers with --gateway", dhcpSummary{Doubt: "no address was known to ask for"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c.build(s)
			flags := append([]string{"--dhcp-check"}, c.flags...)
			if code, out, log := s.once(flags...); code != c.code || !strings.Contains(out, c.table) {
				t.Errorf("exit code %d, want %d with %q\n%s%s", code, c.code, c.table, out, log)
			}
			code, out, log := s.once(append(flags, "-o", "jsonl")...)
			var got dhcpSummary
			if err := json.Unmarshal([]byte(out), &got); err != nil || code != c.code {
				t.Fatalf("exit code %d, want %d, error %v\n%s%s", code, c.code, err, out, log)
			}
			if got.Kind != "summary" || got.Proven != c.want.Proven || got.Witness != c.want.Witness || !strings.HasPrefix(got.Doubt, c.want.Doubt) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
